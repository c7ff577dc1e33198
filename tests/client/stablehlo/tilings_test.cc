// How values lie on partitions. Expected places are those that jax 0.10.2 gives
// (NamedSharding.devices_indices_map), for the texts that it writes.
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/stablehlo/tilings/mesh.h"
#include "client/stablehlo/tilings/tiling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

// "0.0 0.1": the places of the partitions' tiles.
std::string PlacesOf(const absl::StatusOr<Tiling>& tiling) {
  if (!tiling.ok()) return tiling.status().ToString();
  return absl::StrJoin(tiling->at, " ",
                       [](std::string* out, const Dims& place) {
                         absl::StrAppend(out, absl::StrJoin(place, "."));
                       });
}

struct Row {
  const char* mesh;
  const char* sharding;  // Shardy's text
  const char* xla;       // XLA's
  int rank;
  const char* places;
};
constexpr Row kRows[] = {
    {R"(<["x"=2, "y"=4]>)", R"(#sdy.sharding<@mesh, [{"x"}, {"y"}]>)",
     "{devices=[2,4]<=[8]}", 2, "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3"},
    {R"(<["x"=2, "y"=4]>)", R"(#sdy.sharding<@mesh, [{"y", "x"}, {}]>)",
     "{devices=[8,1]<=[2,4]T(1,0)}", 2, "0.0 2.0 4.0 6.0 1.0 3.0 5.0 7.0"},
    {R"(<["x"=2, "y"=2, "z"=2]>)",
     R"(#sdy.sharding<@mesh, [{"z"}, {}, {"x"}]>)",
     "{devices=[2,1,2,2]<=[4,2]T(1,0) last_tile_dim_replicate}", 3,
     "0.0.0 1.0.0 0.0.0 1.0.0 0.0.1 1.0.1 0.0.1 1.0.1"},
    {R"(<["x"=2, "y"=4]>)", R"(#sdy.sharding<@mesh, [{"y"}]>)",
     "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", 1,
     "0 1 2 3 0 1 2 3"},
    {R"(<["x"=8]>)", R"(#sdy.sharding<@mesh, [{}, {}]>)", "{replicated}", 2,
     "0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0"},
    {"<[]>", R"(#sdy.sharding<@mesh, [{?}]>)", "{replicated}", 1,
     "0 0 0 0 0 0 0 0"},
};

TEST(Tilings, ShardysTextSaysWhatJaxDoes) {
  for (const Row& row : kRows) {
    const auto mesh = ParseMesh(row.mesh);
    ASSERT_OK(mesh);
    EXPECT_EQ(PlacesOf(ParseMeshSharding(row.sharding, {{"mesh", *mesh}},
                                         row.rank, 8)),
              row.places)
        << row.sharding;
  }
}

TEST(Tilings, XlasTextSaysTheSameAndIsReadBack) {
  for (const Row& row : kRows) {
    const auto tiling = ParseTiling(row.xla, row.rank, 8);
    EXPECT_EQ(PlacesOf(tiling), row.places) << row.xla;
    ASSERT_OK(tiling);
    const auto again = ParseTiling(ToString(*tiling), row.rank, 8);
    ASSERT_OK(again);
    EXPECT_EQ(*again, *tiling) << ToString(*tiling);
  }
}

// Shardy's own words, without jax: parts of axes, a mesh in place, devices in
// another order, priorities.
TEST(Tilings, ShardyHasPartsOfAxes) {
  const auto places = [](const char* text, int partitions) {
    return PlacesOf(ParseMeshSharding(text, {}, 1, partitions));
  };
  EXPECT_EQ(places(R"(#sdy.sharding<mesh<["x"=4]>, [{"x":(1)2}]>)", 4),
            "0 0 1 1");
  EXPECT_EQ(places(R"(#sdy.sharding<mesh<["x"=4]>, [{"x":(2)2, ?}p1]>)", 4),
            "0 1 0 1");
  EXPECT_EQ(places(R"(#sdy.sharding<mesh<["x"=2], device_ids=[1, 0]>, )"
                   R"([{"x"}], replicated={}>)",
                   2),
            "1 0");
}

TEST(Tilings, WrongTextIsAnError) {
  const Meshes meshes = {{"mesh", *ParseMesh(R"(<["x"=2, "y"=2]>)")}};
  for (const char* text :
       {"", "#sdy.sharding<", "#sdy.sharding<@other, [{}]>",
        R"(#sdy.sharding<@mesh, [{"z"}]>)", R"(#sdy.sharding<@mesh, [{"x"})",
        R"(#sdy.sharding<@mesh, [{"x"}, {}]>)",
        R"(#sdy.sharding<@mesh, [{"x", "y", "x"}]>)",
        R"(#sdy.sharding<@mesh, [{"x":(3)2}]>)",
        R"(#sdy.sharding<@mesh, [{"x":(0)2}]>)",
        R"(#sdy.sharding<mesh<["x"=3]>, [{"x"}]>)",
        R"(#sdy.sharding<mesh<["x"=0]>, [{"x"}]>)",
        R"(#sdy.sharding<mesh<["x"=4294967296]>, [{"x"}]>)",
        R"(#sdy.sharding<mesh<["x"=4], device_ids=[0, 1, 2, 9]>, [{"x"}]>)"}) {
    EXPECT_THAT(ParseMeshSharding(text, meshes, 1, 4),
                StatusIs(absl::StatusCode::kInvalidArgument, ""))
        << text;
  }
  for (const char* text :
       {"", "{devices=[4]}", "{devices=[4]0,1,2}", "{devices=[4]0,1,2,9}",
        "{devices=[3]<=[3]}", "{devices=[2,2]<=[4]}", "{devices=[4]<=[2]}",
        "{devices=[4]<=[2,2]T(0,0)}", "{devices=[4]<=[2,2]T(0)}",
        "{devices=[4]<=[2,2]T(0,7)}", "{devices=[99999999999]<=[4]}"}) {
    EXPECT_THAT(ParseTiling(text, 1, 4),
                StatusIs(absl::StatusCode::kInvalidArgument, ""))
        << text;
  }
  EXPECT_THAT(ParseTiling("{maximal device=1}", 1, 4),
              StatusIs(absl::StatusCode::kUnimplemented, "maximal"));
  EXPECT_THAT(ParseTiling("{devices=[2,2]<=[4] last_tile_dims={manual}}", 1, 4),
              StatusIs(absl::StatusCode::kUnimplemented, "manual"));
}

TEST(Tilings, PartsAreEqual) {
  const auto tiling = ParseTiling("{devices=[2,1]<=[2]}", 2, 2);
  ASSERT_OK(tiling);
  EXPECT_EQ(*TileShape(*tiling, Shape::Of(DType::kF32, {4, 3})),
            Shape::Of(DType::kF32, {2, 3}));
  EXPECT_THAT(TileShape(*tiling, Shape::Of(DType::kF32, {5, 3})),
              StatusIs(absl::StatusCode::kUnimplemented, "f32[5,3]"));
}

}  // namespace
}  // namespace hawser::stablehlo
