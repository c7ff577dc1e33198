#include "core/ops/elementwise/convert.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes To(DType dtype) { return {{"dtype", dtype}}; }

TEST(ConvertInfer, RejectsUnsupportedDTypes_C1) {
  for (DType d :
       {DType::kInvalid, DType::kU2, DType::kF8E5M2, static_cast<DType>(30)}) {
    EXPECT_THAT(Infer(kConvert, "f32[2]", To(d)), Breaks(kConvert, 1));
  }
}

TEST(ConvertInfer, RejectsAResultLargerThanAShape_C1) {
  EXPECT_THAT(Infer(kConvert, absl::StrCat("u8[", int64_t{1} << 60, "]"),
                    To(DType::kF64)),
              Breaks(kConvert, 1));
}

TEST(ConvertInfer, EveryPairOfDTypes) {
  for (DType from : AllDTypes()) {
    for (DType to : AllDTypes()) {
      EXPECT_THAT(
          Infer(kConvert, absl::StrCat(DTypeName(from), "[2,0]"), To(to)),
          Gives(absl::StrCat(DTypeName(to), "[2,0]")));
    }
  }
  EXPECT_EQ(AxesOf(kConvert, "f32[2,3]", To(DType::kS8)), "p0,p1 -> p0,p1");
}

TEST(BitcastConvertInfer, RejectsUnsupportedDTypes_C1) {
  EXPECT_THAT(Infer(kBitcastConvert, "u8[2]", To(DType::kU2)),
              Breaks(kBitcastConvert, 1));
}

TEST(BitcastConvertInfer, RejectsAResultLargerThanAShape_C1) {
  EXPECT_THAT(Infer(kBitcastConvert, "f64[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                    To(DType::kU8)),
              Breaks(kBitcastConvert, 1));
}

TEST(BitcastConvertInfer, RejectsBetweenRealAndComplex_C2) {
  EXPECT_THAT(Infer(kBitcastConvert, "c64[2]", To(DType::kF64)),
              Breaks(kBitcastConvert, 2));
  EXPECT_THAT(Infer(kBitcastConvert, "u64[2]", To(DType::kC64)),
              Breaks(kBitcastConvert, 2));
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2,2]", To(DType::kC64)),
              Breaks(kBitcastConvert, 2));
}

TEST(BitcastConvertInfer, RejectsALastAxisOfAnotherSize_C3) {
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2,3]", To(DType::kS64)),
              Breaks(kBitcastConvert, 3));
  EXPECT_THAT(Infer(kBitcastConvert, "f32[]", To(DType::kS64)),
              Breaks(kBitcastConvert, 3));
  EXPECT_THAT(Infer(kBitcastConvert, "bool[7]", To(DType::kU8)),
              Breaks(kBitcastConvert, 3));
}

TEST(BitcastConvertInfer, KeepsSizesOfEqualWidths) {
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2,3]", To(DType::kU32)),
              Gives("u32[2,3]"));
  EXPECT_THAT(Infer(kBitcastConvert, "bf16[]", To(DType::kF16)),
              Gives("f16[]"));
  EXPECT_THAT(Infer(kBitcastConvert, "c64[1]", To(DType::kC64)),
              Gives("c64[1]"));
  EXPECT_THAT(Infer(kBitcastConvert, "bool[3]", To(DType::kBool)),
              Gives("bool[3]"));
  EXPECT_EQ(AxesOf(kBitcastConvert, "f32[2]", To(DType::kS32)), "p0 -> p0");
}

TEST(BitcastConvertInfer, NarrowerElementsHaveAnAxis) {
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2,3]", To(DType::kU8)),
              Gives("u8[2,3,4]"));
  EXPECT_THAT(Infer(kBitcastConvert, "c128[]", To(DType::kC64)),
              Gives("c64[2]"));
  EXPECT_THAT(Infer(kBitcastConvert, "u16[0]", To(DType::kBool)),
              Gives("bool[0,16]"));
  EXPECT_EQ(AxesOf(kBitcastConvert, "f64[2,3]", To(DType::kF16)),
            "p0,p1 -> p0,p1,o2");
}

TEST(BitcastConvertInfer, WiderOnesAreMadeOfTheLastAxis) {
  EXPECT_THAT(Infer(kBitcastConvert, "u8[2,3,4]", To(DType::kF32)),
              Gives("f32[2,3]"));
  EXPECT_THAT(Infer(kBitcastConvert, "bool[64]", To(DType::kF64)),
              Gives("f64[]"));
  EXPECT_EQ(AxesOf(kBitcastConvert, "f16[3,4]", To(DType::kU64)),
            "p0,o1 -> p0");
}

}  // namespace
}  // namespace hawser
