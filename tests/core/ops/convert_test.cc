#include "core/ops/elementwise/convert.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes To(DType dtype) { return {{"dtype", dtype}}; }

TEST(ConvertInfer, RejectsUnsupportedDTypes_C1) {
  for (DType d : {DType::kInvalid, DType::kU2, DType::kF8E5M2,
                  static_cast<DType>(30)}) {
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

TEST(BitcastConvertInfer, RejectsBool_C1) {
  EXPECT_THAT(Infer(kBitcastConvert, "bool[2]", To(DType::kU8)),
              Breaks(kBitcastConvert, 1));
  EXPECT_THAT(Infer(kBitcastConvert, "u8[2]", To(DType::kBool)),
              Breaks(kBitcastConvert, 1));
}

TEST(BitcastConvertInfer, RejectsOtherWidths_C2) {
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2]", To(DType::kS64)),
              Breaks(kBitcastConvert, 2));
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2]", To(DType::kU16)),
              Breaks(kBitcastConvert, 2));
}

TEST(BitcastConvertInfer, RejectsBetweenRealAndComplex_C3) {
  EXPECT_THAT(Infer(kBitcastConvert, "c64[2]", To(DType::kF64)),
              Breaks(kBitcastConvert, 3));
  EXPECT_THAT(Infer(kBitcastConvert, "u64[2]", To(DType::kC64)),
              Breaks(kBitcastConvert, 3));
}

TEST(BitcastConvertInfer, KeepsSizes) {
  EXPECT_THAT(Infer(kBitcastConvert, "f32[2,3]", To(DType::kU32)),
              Gives("u32[2,3]"));
  EXPECT_THAT(Infer(kBitcastConvert, "bf16[]", To(DType::kF16)),
              Gives("f16[]"));
  EXPECT_THAT(Infer(kBitcastConvert, "c64[1]", To(DType::kC64)),
              Gives("c64[1]"));
  EXPECT_EQ(AxesOf(kBitcastConvert, "f32[2]", To(DType::kS32)), "p0 -> p0");
}

}  // namespace
}  // namespace hawser
