#include "core/ops/elementwise/elementwise.h"

#include <string>
#include <vector>

#include "core/ops/registry.h"
#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

using absl::StrCat;

std::vector<const OpDef*> Family() {
  std::vector<const OpDef*> family;
  for (const OpDef* op : AllOps()) {
    if (op->infer == InferElementwise) family.push_back(op);
  }
  return family;
}

// Operands of one shape for `op`.
std::string Operands(const OpDef& op, absl::string_view shape) {
  std::string out;
  for (int i = 0; i < op.arity.min; ++i) absl::StrAppend(&out, " ", shape);
  return out;
}

TEST(ElementwiseInfer, TakesExactlyTheRowsDTypes_C1) {
  EXPECT_GE(Family().size(), 43u);
  for (const OpDef* op : Family()) {
    for (DType d : AllDTypes()) {
      const auto result =
          Infer(*op, Operands(*op, StrCat(DTypeName(d), "[2]")));
      if (op->dtypes.Has(d)) {
        EXPECT_OK(result) << op->name;
      } else {
        EXPECT_THAT(result, Breaks(*op, 1)) << DTypeName(d);
      }
    }
  }
}

TEST(ElementwiseInfer, RejectsMixedDTypes_C2) {
  for (const OpDef* op : Family()) {
    if (op->arity.min < 2) continue;
    for (DType d : AllDTypes()) {
      if (!op->dtypes.Has(d)) continue;
      const absl::string_view other = d == DType::kF32 ? "s32[2]" : "f32[2]";
      EXPECT_THAT(Infer(*op, StrCat(DTypeName(d), "[2] ", other)),
                  Breaks(*op, 2));
    }
  }
}

// No implicit broadcasting, of scalars neither: the SDK does that.
TEST(ElementwiseInfer, RejectsDifferentSizes_C3) {
  EXPECT_THAT(Infer(kAdd, "f32[2] f32[3]"), Breaks(kAdd, 3));
  EXPECT_THAT(Infer(kAdd, "f32[2] f32[1]"), Breaks(kAdd, 3));
  EXPECT_THAT(Infer(kAdd, "f32[2] f32[]"), Breaks(kAdd, 3));
  EXPECT_THAT(Infer(kAdd, "f32[2] f32[2,1]"), Breaks(kAdd, 3));
  EXPECT_THAT(Infer(kAnd, "bool[0] bool[1]"), Breaks(kAnd, 3));
}

TEST(ElementwiseInfer, RejectsAResultLargerThanAShape_C3) {
  const int64_t most = (int64_t{1} << 59) - 1;
  const std::string operand = StrCat("f64[", most, "]");
  EXPECT_THAT(Infer(kComplex, StrCat(operand, " ", operand)),
              Breaks(kComplex, 3));
}

TEST(ElementwiseInfer, KeepsShape) {
  const std::string rank16 =
      StrCat("f32[", absl::StrJoin(Dims(16, 2), ","), "]");
  for (absl::string_view shape :
       {absl::string_view("f32[]"), absl::string_view("f32[0]"),
        absl::string_view("f32[3,0,2]"), absl::string_view(rank16)}) {
    EXPECT_THAT(Infer(kExponential, shape), Gives(shape));
    EXPECT_THAT(Infer(kAtan2, StrCat(shape, " ", shape)), Gives(shape));
  }
}

TEST(ElementwiseInfer, ResultDTypes) {
  EXPECT_THAT(Infer(kAbs, "c64[2]"), Gives("f32[2]"));
  EXPECT_THAT(Infer(kAbs, "c128[2]"), Gives("f64[2]"));
  EXPECT_THAT(Infer(kAbs, "s8[2]"), Gives("s8[2]"));
  EXPECT_THAT(Infer(kReal, "bf16[2]"), Gives("bf16[2]"));
  EXPECT_THAT(Infer(kImag, "c128[2]"), Gives("f64[2]"));
  EXPECT_THAT(Infer(kComplex, "f32[2] f32[2]"), Gives("c64[2]"));
  EXPECT_THAT(Infer(kComplex, "f64[2] f64[2]"), Gives("c128[2]"));
  EXPECT_THAT(Infer(kIsFinite, "f16[2]"), Gives("bool[2]"));
  EXPECT_THAT(Infer(kNegate, "u8[2]"), Gives("u8[2]"));
}

TEST(ElementwiseAxes, EveryAxisIsParallel) {
  for (const OpDef* op : Family()) {
    DType dtype = DType::kF32;
    if (!op->dtypes.Has(dtype)) dtype = DType::kS32;
    const std::string shape = StrCat(DTypeName(dtype), "[3,0,5]");
    EXPECT_EQ(AxesOf(*op, Operands(*op, shape)),
              op->arity.min == 1 ? "p0,p1,p2 -> p0,p1,p2"
                                 : "p0,p1,p2 p0,p1,p2 -> p0,p1,p2")
        << op->name;
  }
  EXPECT_EQ(AxesOf(kAdd, "f32[] f32[]"), "- - -> -");
}

TEST(ElementwiseRow, FieldsOfTheFamily) {
  for (const OpDef* op : Family()) {
    EXPECT_TRUE(op->Is(kElementwise)) << op->name;
    if (op->Is(kCommutative)) {
      EXPECT_EQ(op->arity.min, 2) << op->name;
    }
  }
  for (const OpDef* op : {&kSubtract, &kDivide, &kPower, &kAtan2, &kComplex}) {
    EXPECT_FALSE(op->Is(kCommutative)) << op->name;
  }
}

Attributes Bits(int64_t exponent, int64_t mantissa) {
  return {{"exponent_bits", exponent}, {"mantissa_bits", mantissa}};
}

TEST(ReducePrecisionInfer, TakesFloats_C1) {
  EXPECT_THAT(Infer(kReducePrecision, "bf16[2,3]", Bits(1, 0)),
              Gives("bf16[2,3]"));
  EXPECT_THAT(Infer(kReducePrecision, "s32[2]", Bits(5, 10)),
              Breaks(kReducePrecision, 1));
  EXPECT_THAT(Infer(kReducePrecision, "c64[2]", Bits(5, 10)),
              Breaks(kReducePrecision, 1));
}

TEST(ReducePrecisionInfer, RejectsNoExponent_C4) {
  EXPECT_THAT(Infer(kReducePrecision, "f32[2]", Bits(0, 10)),
              Breaks(kReducePrecision, 4));
}

TEST(ReducePrecisionInfer, RejectsANegativeFraction_C5) {
  EXPECT_THAT(Infer(kReducePrecision, "f32[2]", Bits(5, -1)),
              Breaks(kReducePrecision, 5));
}

// More bits than a dtype has say the same as all of them.
TEST(ReducePrecision, CountsTheBitsThatAreThere) {
  const FloatBits half = PrecisionOf(Bits(40, 3), DType::kF16);
  EXPECT_EQ(half.exponent, 5);
  EXPECT_EQ(half.mantissa, 3);
  const FloatBits single = PrecisionOf(Bits(5, int64_t{1} << 40), DType::kF32);
  EXPECT_EQ(single.exponent, 5);
  EXPECT_EQ(single.mantissa, 23);
}

TEST(ClampInfer, RejectsComplex_C1) {
  EXPECT_THAT(Infer(kClamp, "c64[] c64[2] c64[]"), Breaks(kClamp, 1));
}

TEST(ClampInfer, RejectsMixedDTypes_C2) {
  EXPECT_THAT(Infer(kClamp, "s32[] f32[2] f32[]"), Breaks(kClamp, 2));
  EXPECT_THAT(Infer(kClamp, "f32[] f32[2] f64[]"), Breaks(kClamp, 2));
}

TEST(ClampInfer, RejectsBoundsOfOtherSizes_C3) {
  EXPECT_THAT(Infer(kClamp, "f32[1] f32[2] f32[]"), Breaks(kClamp, 3));
  EXPECT_THAT(Infer(kClamp, "f32[] f32[2] f32[3]"), Breaks(kClamp, 3));
}

TEST(ClampInfer, TakesScalarsAndWholeBounds) {
  EXPECT_THAT(Infer(kClamp, "f32[] f32[2,3] f32[]"), Gives("f32[2,3]"));
  EXPECT_THAT(Infer(kClamp, "u8[2] u8[2] u8[]"), Gives("u8[2]"));
  EXPECT_THAT(Infer(kClamp, "f32[] f32[] f32[]"), Gives("f32[]"));
  EXPECT_EQ(AxesOf(kClamp, "f32[] f32[2,3] f32[2,3]"),
            "- p0,p1 p0,p1 -> p0,p1");
}

}  // namespace
}  // namespace hawser
