#include "core/ops/windows/unfold.h"

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Windows(Dims axes, Dims sizes, Dims strides, Dims dilations) {
  return {{"dimensions", axes},
          {"window_dimensions", sizes},
          {"window_strides", strides},
          {"window_dilations", dilations}};
}

TEST(UnfoldInfer, RejectsWhatIsNoAxis_C1) {
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({1}, {2}, {1}, {1})),
              Breaks(kUnfold, 1));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({-1}, {2}, {1}, {1})),
              Breaks(kUnfold, 1));
  EXPECT_THAT(Infer(kUnfold, "f32[]", Windows({0}, {1}, {1}, {1})),
              Breaks(kUnfold, 1));
}

TEST(UnfoldInfer, RejectsAnAxisTwice_C2) {
  EXPECT_THAT(
      Infer(kUnfold, "f32[4,4]", Windows({1, 1}, {2, 2}, {1, 1}, {1, 1})),
      Breaks(kUnfold, 2));
}

TEST(UnfoldInfer, RejectsWrongNumberOfEntries_C3) {
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {}, {1}, {1})),
              Breaks(kUnfold, 3));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {2}, {1, 1}, {1})),
              Breaks(kUnfold, 3));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({}, {}, {}, {1})),
              Breaks(kUnfold, 3));
}

TEST(UnfoldInfer, RejectsWhatIsBelowOne_C4) {
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {0}, {1}, {1})),
              Breaks(kUnfold, 4));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {2}, {-1}, {1})),
              Breaks(kUnfold, 4));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {2}, {1}, {0})),
              Breaks(kUnfold, 4));
}

TEST(UnfoldInfer, RejectsResultsThatAreNoShapes_C5) {
  EXPECT_THAT(Infer(kUnfold, "f32[1,1,1,1,1,1,1,1,1]",
                    Windows({0, 1, 2, 3, 4, 5, 6, 7}, Dims(8, 1), Dims(8, 1),
                            Dims(8, 1))),
              Breaks(kUnfold, 5));
  EXPECT_THAT(Infer(kUnfold, "u8[2000000000,2000000000]",
                    Windows({0, 1}, {1000000000, 1000000000}, {1, 1}, {1, 1})),
              Breaks(kUnfold, 5));
}

TEST(UnfoldInfer, CountsWindowsThatFit) {
  EXPECT_THAT(Infer(kUnfold, "f32[10]", Windows({0}, {3}, {1}, {1})),
              Gives("f32[8,3]"));
  EXPECT_THAT(Infer(kUnfold, "f32[10]", Windows({0}, {3}, {2}, {4})),
              Gives("f32[1,3]"));
  EXPECT_THAT(Infer(kUnfold, "f32[10]", Windows({0}, {4}, {1}, {4})),
              Gives("f32[0,4]"));
  EXPECT_THAT(Infer(kUnfold, "f32[0]", Windows({0}, {1}, {1}, {1})),
              Gives("f32[0,1]"));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {5}, {1}, {INT64_MAX})),
              Gives("f32[0,5]"));
  EXPECT_THAT(Infer(kUnfold, "f32[4]", Windows({0}, {1}, {INT64_MAX}, {7})),
              Gives("f32[1,1]"));
  EXPECT_THAT(
      Infer(kUnfold, "f32[5,6]", Windows({1, 0}, {2, 3}, {2, 1}, {1, 2})),
      Gives("f32[1,3,2,3]"));
}

TEST(UnfoldAxes, WindowsShareElements) {
  EXPECT_EQ(AxesOf(kUnfold, "f32[4,5,6]", Windows({1}, {2}, {1}, {1})),
            "p0,w1,p2 -> p0,o3,p2,o4");
  EXPECT_EQ(AxesOf(kUnfold, "f32[4]", Windows({0}, {1}, {1}, {1})),
            "p0 -> p0,o1");
}

}  // namespace
}  // namespace hawser
