// Where functions are to be cut: as text, of a mesh, and wrong.
#include "core/sharding/shard_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// (f32[6,4], s32[5]) -> (f32[6,4])
Signature Sample() {
  return {{Shape::Of(DType::kF32, {6, 4}), Shape::Of(DType::kS32, {5})},
          {Shape::Of(DType::kF32, {6, 4})}};
}

absl::Status Checked(absl::string_view text) {
  const auto spec = ParseShardSpec(text);
  if (!spec.ok()) return spec.status();
  return CheckShardSpec(*spec, Sample());
}

TEST(ShardSpec, TextIsReadAndWritten) {
  for (const char* text :
       {"", "1.4=1+1", "0.0/2 2.0*", "0.-1=3+0+1 1.0. r0.1/3",
        "0.0/2 split", "refuse"}) {
    ASSERT_OK_AND_ASSIGN(const ShardSpec spec, ParseShardSpec(text));
    EXPECT_EQ(ToString(spec), text);
  }
  ASSERT_OK_AND_ASSIGN(const ShardSpec spec,
                       ParseShardSpec(" 1.0=2+3\tr0.1* "));
  EXPECT_THAT(spec.parameters,
              ElementsAre(AxisCut{.value = 1,
                                  .axis = 0,
                                  .kind = AxisCut::Kind::kSizes,
                                  .parts = 1,
                                  .sizes = {2, 3}}));
  EXPECT_THAT(spec.results,
              ElementsAre(AxisCut{.value = 0,
                                  .axis = 1,
                                  .kind = AxisCut::Kind::kEveryIndex,
                                  .parts = 1,
                                  .sizes = {}}));
}

TEST(ShardSpec, WordsThatAreNoCutsAreNamed) {
  for (const char* word :
       {"x", "1", "1.", ".2/2", "1.2", "1.2/", "1.2/x", "1.2=", "1.2=1+",
        "1.2=1++1", "1.2*3", "1.2.x", "-1.2*", "1.2/99999999999999999999",
        "99999999999.1*"}) {
    EXPECT_THAT(ParseShardSpec(word),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         std::string("\"") + word + "\" is no cut"))
        << word;
  }
}

TEST(ShardSpec, WhatDoesNotFitTheSignatureIsNamed) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"2.0/2", "axis 0 of argument 2: there are 2 arguments"},
      {"r1.0/2", "axis 0 of result 1: there are 1 results"},
      {"0.2/2", "axis 2 of argument 0: it is f32[6,4]"},
      {"0.-3*", "axis -3 of argument 0"},
      {"0.0/2 0.-2*", "axis -2 of argument 0 is cut twice"},
      {"0.0/0", "cut into 0 parts"},
      {"0.0/-4", "cut into -4 parts"},
      {"0.0=3+4", "sizes 3+4 do not lie within 6"},
      {"0.0=3+2", "sizes 3+2 add up to 5, the axis has 6"},
      {"0.0=7+-1", "sizes 7+-1 do not lie within 6"},
      {"0.0=9223372036854775807+9223372036854775807", "do not lie within 6"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Checked(c.text),
                StatusIs(absl::StatusCode::kInvalidArgument, c.message))
        << c.text;
  }
  EXPECT_OK(Checked("0.0=0+6+0 0.1/100 1.0*"));
}

TEST(ShardSpec, MorePartsThanTasksAreRefused) {
  const Signature large = {{Shape::Of(DType::kF32, {1 << 20})}, {}};
  ASSERT_OK_AND_ASSIGN(const ShardSpec parts, ParseShardSpec("0.0/1000000"));
  EXPECT_THAT(CheckShardSpec(parts, large),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "1000000 parts are more than 4096 tasks"));
  // Every index is merged instead.
  ASSERT_OK_AND_ASSIGN(const ShardSpec every, ParseShardSpec("0.0*"));
  EXPECT_OK(CheckShardSpec(every, large));
}

TEST(ShardSpec, NoPartsAreAsManyAsThereArePlaces) {
  ASSERT_OK_AND_ASSIGN(const ShardSpec spec,
                       ParseShardSpec("0.0/0 0.1/2 1.0=0+2 r0.1/0"));
  EXPECT_EQ(ToString(ForPlaces(spec, 3)), "0.0/3 0.1/2 1.0=0+2 r0.1/3");
}

TEST(ShardSpec, CutsAreBoundariesInside) {
  const auto at = [](const char* text, int64_t size) {
    return BoundariesOf(ParseShardSpec(text)->parameters[0], size);
  };
  EXPECT_THAT(at("0.0/3", 7), ElementsAre(3, 5));
  EXPECT_THAT(at("0.0/9", 3), ElementsAre(1, 2));
  EXPECT_THAT(at("0.0/4", 0), IsEmpty());
  EXPECT_THAT(at("0.0=2+0+3", 5), ElementsAre(2));
  EXPECT_THAT(at("0.0*", 4), ElementsAre(1, 2, 3));
  EXPECT_THAT(at("0.0.", 4), IsEmpty());
}

TEST(ShardSpec, AMeshNamesTheAxesThatItCuts) {
  const MeshAxis kMesh[] = {{"x", 2}, {"y", 3}};
  ASSERT_OK_AND_ASSIGN(
      const ShardSpec spec,
      FromMesh(kMesh, {{{.axis = 0, .mesh_axes = {"x"}}},
                       {{.axis = 1, .mesh_axes = {"x", "y"}}}}));
  EXPECT_EQ(ToString(spec), "0.0/2 1.1/6");
  EXPECT_EQ(spec.unnamed, ShardSpec::Unnamed::kWhole);
  EXPECT_THAT(FromMesh(kMesh, {{{.axis = 0, .mesh_axes = {"z"}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "argument 0: the mesh has no axis \"z\""));
  EXPECT_THAT(FromMesh(kMesh, {{{.axis = 0, .mesh_axes = {"x"}},
                                {.axis = 1, .mesh_axes = {"x"}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "argument 0: mesh axis \"x\" cuts it twice"));
}

}  // namespace
}  // namespace hawser
