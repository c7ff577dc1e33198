#include "core/ops/linalg/fft.h"

#include <string>

#include "core/ops/registry.h"
#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Fft(std::string type, Dims lengths) {
  return {{"fft_length", std::move(lengths)}, {"fft_type", std::move(type)}};
}

TEST(FftInfer, GivesTheShapesOfBothSides) {
  EXPECT_THAT(Infer(kFft, "c64[2,3]", Fft("FFT", {3})), Gives("c64[2,3]"));
  EXPECT_THAT(Infer(kFft, "c128[5,2,3,4]", Fft("IFFT", {2, 3, 4})),
              Gives("c128[5,2,3,4]"));
  EXPECT_THAT(Infer(kFft, "f32[2,8]", Fft("RFFT", {8})), Gives("c64[2,5]"));
  EXPECT_THAT(Infer(kFft, "f64[7,9]", Fft("RFFT", {7, 9})), Gives("c128[7,5]"));
  EXPECT_THAT(Infer(kFft, "c64[2,5]", Fft("IRFFT", {8})), Gives("f32[2,8]"));
  EXPECT_THAT(Infer(kFft, "c128[2,5]", Fft("IRFFT", {9})), Gives("f64[2,9]"));
  EXPECT_THAT(Infer(kFft, "f32[1]", Fft("RFFT", {1})), Gives("c64[1]"));
}

TEST(FftInfer, TakesAxesWithoutElements) {
  EXPECT_THAT(Infer(kFft, "f32[2,0]", Fft("RFFT", {0})), Gives("c64[2,0]"));
  EXPECT_THAT(Infer(kFft, "c64[2,0]", Fft("IRFFT", {0})), Gives("f32[2,0]"));
  EXPECT_THAT(Infer(kFft, "c128[14,15,0,17]", Fft("IRFFT", {33})),
              Gives("f64[14,15,0,33]"));
}

TEST(FftInfer, RejectsDTypes_C1) {
  EXPECT_THAT(Infer(kFft, "f16[2]", Fft("RFFT", {2})), Breaks(kFft, 1));
  EXPECT_THAT(Infer(kFft, "s32[2]", Fft("RFFT", {2})), Breaks(kFft, 1));
  EXPECT_THAT(Infer(kFft, "bool[2]", Fft("FFT", {2})), Breaks(kFft, 1));
}

TEST(FftInfer, RejectsTypesThatAreNoneOrOfOtherNumbers_C2) {
  for (const char* bad : {"", "fft", "RFFT ", "DCT"}) {
    EXPECT_THAT(Infer(kFft, "c64[2]", Fft(bad, {2})), Breaks(kFft, 2)) << bad;
  }
  EXPECT_THAT(Infer(kFft, "f32[2]", Fft("FFT", {2})), Breaks(kFft, 2));
  EXPECT_THAT(Infer(kFft, "f64[2]", Fft("IFFT", {2})), Breaks(kFft, 2));
  EXPECT_THAT(Infer(kFft, "f32[2]", Fft("IRFFT", {2})), Breaks(kFft, 2));
  EXPECT_THAT(Infer(kFft, "c64[2]", Fft("RFFT", {2})), Breaks(kFft, 2));
}

TEST(FftInfer, RejectsNumbersOfAxes_C3) {
  EXPECT_THAT(Infer(kFft, "c64[2]", Fft("FFT", {})), Breaks(kFft, 3));
  EXPECT_THAT(Infer(kFft, "c64[2]", Fft("FFT", {2, 2})), Breaks(kFft, 3));
  EXPECT_THAT(Infer(kFft, "c64[]", Fft("FFT", {1})), Breaks(kFft, 3));
  EXPECT_THAT(Infer(kFft, "c64[2,2,2,2]", Fft("FFT", {2, 2, 2, 2})),
              Breaks(kFft, 3));
}

TEST(FftInfer, RejectsOtherLengthsThanTheOperands_C4) {
  EXPECT_THAT(Infer(kFft, "c64[2,3]", Fft("FFT", {2})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "c64[2,3]", Fft("IFFT", {3, 3})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "f32[2,3]", Fft("RFFT", {2})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "c64[2,3]", Fft("IRFFT", {3})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "c64[2,3]", Fft("IRFFT", {6})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "c64[2,1]", Fft("IRFFT", {0})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "c64[2,0]", Fft("IRFFT", {-1})), Breaks(kFft, 4));
  EXPECT_THAT(Infer(kFft, "c64[1,0]", Fft("IRFFT", {-1, 0})), Breaks(kFft, 4));
}

// The middle element makes the result one number larger.
TEST(FftInfer, RejectsResultThatIsNoShape_C5) {
  constexpr int64_t kMost = (int64_t{1} << 60) - 2;
  EXPECT_THAT(
      Infer(kFft, absl::StrCat("f32[", kMost, "]"), Fft("RFFT", {kMost})),
      Breaks(kFft, 5));
  EXPECT_THAT(Infer(kFft, absl::StrCat("f32[", kMost / 2, "]"),
                    Fft("RFFT", {kMost / 2})),
              Gives(absl::StrCat("c64[", kMost / 4 + 1, "]")));
}

TEST(FftAxes, OthersThanTheLastAreParallel) {
  EXPECT_EQ(AxesOf(kFft, "c64[2,3,4]", Fft("FFT", {4})),
            "p0,p1,o2 -> p0,p1,o3");
  EXPECT_EQ(AxesOf(kFft, "f32[2,3,4]", Fft("RFFT", {3, 4})),
            "p0,o1,o2 -> p0,o3,o4");
}

TEST(FftType, HasFourNames) {
  EXPECT_EQ(FftTypeOf("FFT"), FftType::kFft);
  EXPECT_EQ(FftTypeOf("IRFFT"), FftType::kIrfft);
  EXPECT_EQ(FftTypeOf("IRFFTS"), std::nullopt);
}

}  // namespace
}  // namespace hawser
