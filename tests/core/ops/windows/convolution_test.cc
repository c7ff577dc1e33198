#include "core/ops/windows/convolution.h"

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes By(Dims strides = {1}, Dims low = {0}, Dims high = {0},
              Dims spread = {1}, Dims dilations = {1}, int64_t groups = 1) {
  return {{"window_strides", strides}, {"padding_low", low},
          {"padding_high", high},      {"lhs_dilation", spread},
          {"rhs_dilation", dilations}, {"feature_group_count", groups}};
}

TEST(ConvolutionInfer, RejectsBool_C1) {
  EXPECT_THAT(Infer(kConvolution, "bool[2,8,3] bool[3,3,4]", By()),
              Breaks(kConvolution, 1));
}

TEST(ConvolutionInfer, RejectsOtherRanks_C2) {
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[3,3,3,4]", By()),
              Breaks(kConvolution, 2));
  EXPECT_THAT(Infer(kConvolution, "f32[2,3] f32[3,4]", By({}, {}, {}, {}, {})),
              Breaks(kConvolution, 2));
}

TEST(ConvolutionInfer, RejectsTwoDTypes_C3) {
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f64[3,3,4]", By()),
              Breaks(kConvolution, 3));
}

TEST(ConvolutionInfer, RejectsListsOfAnotherLength_C4) {
  const char* const shapes = "f32[2,8,3] f32[3,3,4]";
  EXPECT_THAT(Infer(kConvolution, shapes, By({1, 1})), Breaks(kConvolution, 4));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {})),
              Breaks(kConvolution, 4));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0, 0})),
              Breaks(kConvolution, 4));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0}, {})),
              Breaks(kConvolution, 4));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0}, {1}, {1, 1})),
              Breaks(kConvolution, 4));
}

TEST(ConvolutionInfer, RejectsWhatIsBelowOne_C5) {
  const char* const shapes = "f32[2,8,3] f32[3,3,4]";
  EXPECT_THAT(Infer(kConvolution, shapes, By({0})), Breaks(kConvolution, 5));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0}, {-1})),
              Breaks(kConvolution, 5));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0}, {1}, {0})),
              Breaks(kConvolution, 5));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0}, {1}, {1}, 0)),
              Breaks(kConvolution, 5));
}

TEST(ConvolutionInfer, RejectsGroupsThatDoNotDivide_C6) {
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[3,1,4]",
                    By({1}, {0}, {0}, {1}, {1}, 3)),
              Breaks(kConvolution, 6));
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[3,1,4]",
                    By({1}, {0}, {0}, {1}, {1}, 2)),
              Breaks(kConvolution, 6));
}

TEST(ConvolutionInfer, RejectsOtherFeatures_C7) {
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[3,2,4]", By()),
              Breaks(kConvolution, 7));
}

TEST(ConvolutionInfer, RejectsWhatIsNoShape_C8) {
  const char* const shapes = "f32[2,8,3] f32[3,3,4]";
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {-9}, {0})),
              Breaks(kConvolution, 8));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {INT64_MAX}, {1})),
              Breaks(kConvolution, 8));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {0}, {0}, {INT64_MAX})),
              Breaks(kConvolution, 8));
  EXPECT_THAT(Infer(kConvolution, shapes, By({1}, {int64_t{1} << 61}, {0})),
              Breaks(kConvolution, 8));
}

TEST(ConvolutionInfer, CountsPlacesWhereTheKernelFits) {
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[3,3,4]", By()),
              Gives("f32[2,6,4]"));
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[3,3,4]", By({2}, {1}, {1})),
              Gives("f32[2,4,4]"));
  EXPECT_THAT(
      Infer(kConvolution, "f32[2,8,3] f32[3,3,4]", By({1}, {0}, {0}, {2}, {3})),
      Gives("f32[2,9,4]"));
  EXPECT_THAT(Infer(kConvolution, "f32[2,8,3] f32[9,3,4]", By()),
              Gives("f32[2,0,4]"));
  EXPECT_THAT(Infer(kConvolution, "f32[0,8,4] f32[3,2,6]",
                    By({1}, {0}, {0}, {1}, {1}, 2)),
              Gives("f32[0,6,6]"));
  EXPECT_THAT(Infer(kConvolution, "s8[1,5,6,1] s8[2,3,1,1]",
                    By({1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1})),
              Gives("s8[1,4,4,1]"));
}

TEST(ConvolutionAxes, FeaturesAreContractedAndPlacesShared) {
  EXPECT_EQ(AxesOf(kConvolution, "f32[2,8,3] f32[3,3,4]", By()),
            "p0,w1,c2 o4,c2,p3 -> p0,o5,p3");
  EXPECT_EQ(AxesOf(kConvolution, "f32[2,8,4] f32[3,2,6]",
                   By({1}, {0}, {0}, {1}, {1}, 2)),
            "p0,w1,o2 o3,o4,o5 -> p0,o6,o7");
}

}  // namespace
}  // namespace hawser
