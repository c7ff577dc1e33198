#include "core/ops/elementwise/compare.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Direction(absl::string_view direction) {
  return {{"direction", std::string(direction)}};
}

// Every supported dtype compares, so only a row narrower than these could
// refuse one; the rule itself is what is tested.
TEST(CompareInfer, RejectsDTypesOutsideTheRow_C1) {
  OpDef narrow = kCompare;
  narrow.dtypes = kInts;
  EXPECT_THAT(Infer(narrow, "f32[2] f32[2]", Direction("EQ")),
              Breaks(narrow, 1));
  for (DType d : AllDTypes()) {
    const std::string shape = absl::StrCat(DTypeName(d), "[2]");
    EXPECT_THAT(
        Infer(kCompare, absl::StrCat(shape, " ", shape), Direction("EQ")),
        Gives("bool[2]"));
  }
}

TEST(CompareInfer, RejectsMixedDTypes_C2) {
  EXPECT_THAT(Infer(kCompare, "f32[2] f64[2]", Direction("LT")),
              Breaks(kCompare, 2));
}

TEST(CompareInfer, RejectsDifferentSizes_C3) {
  EXPECT_THAT(Infer(kCompare, "f32[2] f32[]", Direction("LT")),
              Breaks(kCompare, 3));
}

TEST(CompareInfer, RejectsUnknownDirection_C4) {
  for (absl::string_view bad : {"", "eq", "EQUAL", "LTX", "L"}) {
    EXPECT_THAT(Infer(kCompare, "f32[2] f32[2]", Direction(bad)),
                Breaks(kCompare, 4))
        << bad;
  }
}

TEST(CompareInfer, RejectsOrderOfComplex_C5) {
  for (absl::string_view direction : {"GE", "GT", "LE", "LT"}) {
    EXPECT_THAT(Infer(kCompare, "c64[2] c64[2]", Direction(direction)),
                Breaks(kCompare, 5));
  }
  EXPECT_THAT(Infer(kCompare, "c64[2] c64[2]", Direction("NE")),
              Gives("bool[2]"));
}

TEST(CompareInfer, GivesBool) {
  for (absl::string_view direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
    EXPECT_THAT(Infer(kCompare, "f32[2,0] f32[2,0]", Direction(direction)),
                Gives("bool[2,0]"));
  }
  EXPECT_EQ(AxesOf(kCompare, "f32[2,3] f32[2,3]", Direction("EQ")),
            "p0,p1 p0,p1 -> p0,p1");
}

TEST(SelectInfer, RejectsPredicateThatIsNotBool_C1) {
  EXPECT_THAT(Infer(kSelect, "u8[2] f32[2] f32[2]"), Breaks(kSelect, 1));
}

TEST(SelectInfer, RejectsDifferentCases_C2) {
  EXPECT_THAT(Infer(kSelect, "bool[2] f32[2] f64[2]"), Breaks(kSelect, 2));
  EXPECT_THAT(Infer(kSelect, "bool[2] f32[2] f32[]"), Breaks(kSelect, 2));
}

TEST(CompareDirection, HasANameThatIsParsed) {
  using enum CompareDirection;
  for (const CompareDirection d : {kEq, kNe, kGe, kGt, kLe, kLt}) {
    const absl::string_view name = CompareDirectionName(d);
    EXPECT_EQ(ParseCompareDirection(name), d);
    EXPECT_EQ(CompareDirectionOf(Direction(name)), d);
    EXPECT_EQ(Mirrored(Mirrored(d)), d);
  }
  EXPECT_EQ(CompareDirectionName(kLt), "LT");
  for (const char* other : {"", "lt", "LT ", "TOTALORDER"}) {
    EXPECT_EQ(ParseCompareDirection(other), std::nullopt) << other;
  }
  EXPECT_EQ(Mirrored(kLt), kGt);
  EXPECT_EQ(Mirrored(kGe), kLe);
  EXPECT_EQ(Mirrored(kEq), kEq);
  EXPECT_EQ(Mirrored(kNe), kNe);
}

TEST(SelectInfer, RejectsPredicateOfOtherSizes_C3) {
  EXPECT_THAT(Infer(kSelect, "bool[3] f32[2] f32[2]"), Breaks(kSelect, 3));
  EXPECT_THAT(Infer(kSelect, "bool[1] f32[2] f32[2]"), Breaks(kSelect, 3));
  EXPECT_THAT(Infer(kSelect, "bool[2] f32[] f32[]"), Breaks(kSelect, 3));
}

TEST(SelectInfer, TakesScalarOrWholePredicate) {
  EXPECT_THAT(Infer(kSelect, "bool[] c64[2,3] c64[2,3]"), Gives("c64[2,3]"));
  EXPECT_THAT(Infer(kSelect, "bool[0] s8[0] s8[0]"), Gives("s8[0]"));
  EXPECT_EQ(AxesOf(kSelect, "bool[] f32[2] f32[2]"), "- p0 p0 -> p0");
  EXPECT_EQ(AxesOf(kSelect, "bool[2] f32[2] f32[2]"), "p0 p0 p0 -> p0");
}

}  // namespace
}  // namespace hawser
