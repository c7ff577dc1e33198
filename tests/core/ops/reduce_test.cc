#include "core/ops/contraction/reduce.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/registry.h"
#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Over(Dims dimensions) { return {{"dimensions", dimensions}}; }
constexpr absl::string_view kFloatFold = "f32[] f32[] -> f32[]";
// A value and its index: (value, index, value, index) -> (value, index).
constexpr absl::string_view kPairFold =
    "f32[] s32[] f32[] s32[] -> f32[] s32[]";

// What a computation is whose two results are made of running values 0 and 1
// and elements 2 and 3.
template <typename Body>
std::vector<const OpDef*> MonoidsOf(Body body) {
  Module module;
  ComputationBuilder b(&module, "body");
  std::vector<ValueId> p;
  for (int k = 0; k < 4; ++k)
    p.push_back(b.Parameter(Shape::Scalar(DType::kF32)));
  const absl::StatusOr<int> body_number = b.Finish(body(b, p));
  EXPECT_OK(body_number);
  const Computation& computation = module.computation(*body_number);
  return {MonoidOf(computation, 0), MonoidOf(computation, 1)};
}
using Ids = std::vector<ValueId>;

TEST(MonoidOf, IsAnOpOfRunningValueAndElementInEitherOrder) {
  EXPECT_THAT(
      MonoidsOf([](ComputationBuilder& b, const Ids& p) {
        return Ids{b.Add(kAdd, {p[0], p[2]}), b.Add(kMaximum, {p[3], p[1]})};
      }),
      testing::ElementsAre(&kAdd, &kMaximum));
}

TEST(MonoidOf, IsNoOtherOpAndNoOtherOperands) {
  EXPECT_THAT(MonoidsOf([](ComputationBuilder& b, const Ids& p) {
                return Ids{b.Add(kSubtract, {p[0], p[2]}), p[3]};
              }),
              testing::ElementsAre(nullptr, nullptr));
  EXPECT_THAT(
      MonoidsOf([](ComputationBuilder& b, const Ids& p) {
        return Ids{b.Add(kAdd, {p[0], p[0]}), b.Add(kAdd, {p[1], p[2]})};
      }),
      testing::ElementsAre(nullptr, nullptr));
  EXPECT_THAT(MonoidsOf([](ComputationBuilder& b, const Ids& p) {
                const ValueId square = b.Add(kMultiply, {p[2], p[2]});
                return Ids{b.Add(kAdd, {p[0], square}), p[1]};
              }),
              testing::ElementsAre(nullptr, nullptr));
}

TEST(NeutralOf, IsEachMonoidsOwn) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto is = [](const OpDef& op, auto want) {
    const Literal expected = Literal::Scalar(want);
    EXPECT_THAT(NeutralOf(op, expected.shape().dtype()),
                LiteralEquals(expected))
        << op.name;
  };
  is(kAdd, std::complex<float>(0));
  is(kMultiply, Half(1));
  is(kMaximum, -kInf);
  is(kMaximum, int8_t{-128});
  is(kMaximum, false);
  is(kMinimum, double{kInf});
  is(kMinimum, std::numeric_limits<uint64_t>::max());
  is(kMinimum, true);
  is(kAnd, int16_t{-1});
  is(kAnd, uint8_t{255});
  is(kAnd, true);
  is(kOr, false);
}

TEST(ReduceInfer, RemovesAxes) {
  EXPECT_THAT(Infer(kReduce, "f32[2,3,4] f32[]", Over({2, 0}), {kFloatFold}),
              Gives("f32[3]"));
  EXPECT_THAT(Infer(kReduce, "f32[2] f32[]", Over({}), {kFloatFold}),
              Gives("f32[2]"));
  EXPECT_THAT(Infer(kReduce, "f32[0,3] f32[]", Over({0}), {kFloatFold}),
              Gives("f32[3]"));
  EXPECT_THAT(Infer(kReduce, "f32[] f32[]", Over({}), {kFloatFold}),
              Gives("f32[]"));
  EXPECT_THAT(
      Infer(kReduce, "f32[2,3] s32[2,3] f32[] s32[]", Over({1}), {kPairFold}),
      Gives("f32[2] s32[2]"));
}

TEST(ReduceInfer, RejectsOddOperands_C1) {
  EXPECT_THAT(Infer(kReduce, "f32[2] f32[2] f32[]", Over({0}), {kFloatFold}),
              Breaks(kReduce, 1));
}

TEST(ReduceInfer, RejectsInputsOfOtherSizes_C2) {
  EXPECT_THAT(
      Infer(kReduce, "f32[2] s32[3] f32[] s32[]", Over({0}), {kPairFold}),
      Breaks(kReduce, 2));
}

TEST(ReduceInfer, RejectsInitialValuesThatDoNotFit_C3) {
  EXPECT_THAT(Infer(kReduce, "f32[2] f32[1]", Over({0}), {kFloatFold}),
              Breaks(kReduce, 3));
  EXPECT_THAT(Infer(kReduce, "f32[2] f64[]", Over({0}), {kFloatFold}),
              Breaks(kReduce, 3));
  EXPECT_THAT(
      Infer(kReduce, "f32[2] s32[2] s32[] f32[]", Over({0}), {kPairFold}),
      Breaks(kReduce, 3));
}

TEST(ReduceInfer, RejectsDimensionThatIsNoAxis_C4) {
  EXPECT_THAT(Infer(kReduce, "f32[2] f32[]", Over({1}), {kFloatFold}),
              Breaks(kReduce, 4));
  EXPECT_THAT(Infer(kReduce, "f32[2] f32[]", Over({-1}), {kFloatFold}),
              Breaks(kReduce, 4));
}

TEST(ReduceInfer, RejectsDimensionTwice_C5) {
  EXPECT_THAT(Infer(kReduce, "f32[2,3] f32[]", Over({0, 0}), {kFloatFold}),
              Breaks(kReduce, 5));
}

TEST(ReduceInfer, RejectsComputationThatTakesSomethingElse_C6) {
  for (absl::string_view bad :
       {"f32[] -> f32[]", "f32[] f32[] f32[] -> f32[]", "f64[] f64[] -> f64[]",
        "f32[1] f32[1] -> f32[1]", "->"}) {
    EXPECT_THAT(Infer(kReduce, "f32[2] f32[]", Over({0}), {bad}),
                Breaks(kReduce, 6))
        << bad;
  }
  // Values and indices must not be sorted by input.
  EXPECT_THAT(Infer(kReduce, "f32[2] s32[2] f32[] s32[]", Over({0}),
                    {"f32[] f32[] s32[] s32[] -> f32[] s32[]"}),
              Breaks(kReduce, 6));
}

TEST(ReduceInfer, RejectsComputationThatGivesSomethingElse_C7) {
  for (absl::string_view bad :
       {"f32[] f32[] -> bool[]", "f32[] f32[] ->", "f32[] f32[] -> f32[] f32[]",
        "f32[] f32[] -> f32[1]"}) {
    EXPECT_THAT(Infer(kReduce, "f32[2] f32[]", Over({0}), {bad}),
                Breaks(kReduce, 7))
        << bad;
  }
}

TEST(ReduceAxes, ReducedAxesAreContracted) {
  EXPECT_EQ(AxesOf(kReduce, "f32[2,3,4] f32[]", Over({1}), {kFloatFold}),
            "p0,c1,p2 - -> p0,p2");
  EXPECT_EQ(
      AxesOf(kReduce, "f32[2,3] s32[2,3] f32[] s32[]", Over({0}), {kPairFold}),
      "c0,p1 c0,p1 - - -> p1 p1");
  EXPECT_EQ(AxesOf(kReduce, "f32[2] f32[]", Over({0}), {kFloatFold}),
            "c0 - -> -");
}

Attributes Search(int64_t dimension) { return {{"dimension", dimension}}; }
Attributes Search(int64_t dimension, DType dtype) {
  return {{"dimension", dimension}, {"dtype", dtype}};
}

TEST(ArgMaxInfer, RemovesTheAxis) {
  for (const OpDef* op : {&kArgMax, &kArgMin}) {
    EXPECT_THAT(Infer(*op, "f32[2,3]", Search(0)), Gives("s32[3]"));
    EXPECT_THAT(Infer(*op, "bool[2,3]", Search(1, DType::kU64)),
                Gives("u64[2]"));
    EXPECT_THAT(Infer(*op, "bf16[0,3]", Search(1)), Gives("s32[0]"));
    Attributes high = Search(0);
    high.Set("tie", std::string("high"));
    EXPECT_THAT(Infer(*op, "u8[4]", high), Gives("s32[]"));
  }
}

TEST(ArgMaxInfer, RejectsComplex_C1) {
  EXPECT_THAT(Infer(kArgMax, "c64[2]", Search(0)), Breaks(kArgMax, 1));
  EXPECT_THAT(Infer(kArgMin, "c64[2]", Search(0)), Breaks(kArgMin, 1));
}

TEST(ArgMaxInfer, RejectsDimensionThatIsNoAxis_C2) {
  EXPECT_THAT(Infer(kArgMax, "f32[2]", Search(1)), Breaks(kArgMax, 2));
  EXPECT_THAT(Infer(kArgMax, "f32[2]", Search(-1)), Breaks(kArgMax, 2));
  EXPECT_THAT(Infer(kArgMax, "f32[]", Search(0)), Breaks(kArgMax, 2));
}

TEST(ArgMaxInfer, RejectsAnEmptyAxis_C3) {
  EXPECT_THAT(Infer(kArgMax, "f32[0]", Search(0)), Breaks(kArgMax, 3));
  EXPECT_THAT(Infer(kArgMax, "f32[2,0]", Search(1)), Breaks(kArgMax, 3));
}

TEST(ArgMaxInfer, RejectsDTypesThatAreNoIndices_C4) {
  for (DType d : {DType::kF32, DType::kU8, DType::kBool, DType::kS4}) {
    EXPECT_THAT(Infer(kArgMax, "f32[2]", Search(0, d)), Breaks(kArgMax, 4))
        << DTypeName(d);
  }
}

TEST(ArgMaxInfer, RejectsUnknownTie_C5) {
  for (absl::string_view bad : {"", "first", "LOW"}) {
    Attributes attributes = Search(0);
    attributes.Set("tie", std::string(bad));
    EXPECT_THAT(Infer(kArgMax, "f32[2]", attributes), Breaks(kArgMax, 5))
        << bad;
  }
}

TEST(ArgMaxInfer, RejectsIndicesThatDoNotFit_C6) {
  const int64_t count = int64_t{1} << 31;
  EXPECT_THAT(Infer(kArgMax, absl::StrCat("f32[", count, "]"), Search(0)),
              Gives("s32[]"));
  const std::string more = absl::StrCat("f32[", count + 1, "]");
  EXPECT_THAT(Infer(kArgMax, more, Search(0)), Breaks(kArgMax, 6));
  EXPECT_THAT(Infer(kArgMax, more, Search(0, DType::kU32)), Gives("u32[]"));
}

TEST(ArgMaxAxes, SearchedAxisIsContracted) {
  EXPECT_EQ(AxesOf(kArgMax, "f32[2,3,4]", Search(1)), "p0,c1,p2 -> p0,p2");
  EXPECT_EQ(AxesOf(kArgMin, "f32[2]", Search(0)), "c0 -> -");
}

}  // namespace
}  // namespace hawser
