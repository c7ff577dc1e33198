// Blocks are counted to the last one that a launch has; beyond, the kernel is
// refused in words.
#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/gpu/emit/text/launch.h"
#include "kernels/gpu/program/program.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using ::testing::HasSubstr;
constexpr int64_t kMost = (int64_t{1} << 31) - 1;

TEST(Grid, EndsWhereALaunchDoes) {
  ASSERT_OK_AND_ASSIGN(const Extent3 most, GridOf(kMost, 65535));
  EXPECT_EQ(most.x, kMost);
  EXPECT_EQ(most.y, 65535u);
  for (const auto& [x, y] :
       std::vector<std::pair<int64_t, int64_t>>{{kMost + 1, 1},
                                                {int64_t{1} << 32, 1},
                                                {(int64_t{1} << 32) + 1, 1},
                                                {1, 65536},
                                                {-1, 1},
                                                {1, -1}}) {
    EXPECT_TRUE(absl::IsResourceExhausted(GridOf(x, y).status()))
        << x << " " << y;
  }
}

// A module over a value whose size decides about the blocks.
struct Sample {
  const char* name;
  int64_t most;  // the largest size that there are blocks for
  std::vector<ValueId> (*make)(ComputationBuilder& b, int sum, int64_t size);
  const char* instruction;  // that is named
};

std::vector<ValueId> Rows(ComputationBuilder& b, int sum, int64_t size) {
  // More than 256 vectors: a block each.
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {size, 2048}));
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  return {b.Add(kReduce, {x, zero}, {{"dimensions", Dims{1}}}, {sum})};
}
std::vector<ValueId> Columns(ComputationBuilder& b, int sum, int64_t size) {
  // 32 columns a block, one by one.
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {3, size * 32 - 1}));
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  return {b.Add(kReduce, {x, zero}, {{"dimensions", Dims{0}}}, {sum})};
}
std::vector<ValueId> Tiles(ComputationBuilder& b, int sum, int64_t size) {
  const ValueId x = b.Parameter(Shape::Of(DType::kU8, {size, 32, 33}));
  return {b.Add(kTranspose, {x}, {{"permutation", Dims{0, 2, 1}}})};
}
std::vector<ValueId> Products(ComputationBuilder& b, int sum, int64_t size) {
  const ValueId x = b.Parameter(Shape::Of(DType::kS32, {size, 2, 3}));
  const ValueId y = b.Parameter(Shape::Of(DType::kS32, {size, 3, 2}));
  return {b.Add(kDotGeneral, {x, y},
                {{"lhs_batching_dimensions", Dims{0}},
                 {"lhs_contracting_dimensions", Dims{2}},
                 {"rhs_batching_dimensions", Dims{0}},
                 {"rhs_contracting_dimensions", Dims{1}}})};
}
std::vector<ValueId> Windows(ComputationBuilder& b, int sum, int64_t size) {
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {1, size * 256}));
  const ValueId at = b.Parameter(Shape::Of(DType::kS32, {2, 1}));
  const ValueId y = b.Parameter(Shape::Of(DType::kF32, {2, size * 256}));
  return {b.Add(kScatter, {x, at, y},
                {{"index_vector_dim", int64_t{1}},
                 {"inserted_window_dims", Dims{0}},
                 {"scatter_dims_to_operand_dims", Dims{0}},
                 {"update_window_dims", Dims{1}}},
                {sum})};
}

absl::StatusOr<Program> ProgramOf(const Sample& sample, int64_t size) {
  Module module(sample.name);
  ComputationBuilder fold(&module, "sum");
  const Shape scalar = Shape::Scalar(DType::kF32);
  const ValueId p = fold.Parameter(scalar), q = fold.Parameter(scalar);
  HAWSER_ASSIGN_OR_RETURN(const int sum, fold.Finish({fold.Add(kAdd, {p, q})}));
  ComputationBuilder b(&module, "main");
  const auto results = sample.make(b, sum, size);
  HAWSER_RETURN_IF_ERROR(b.Finish(results));
  plan::Target target = plan::GpuTarget();
  target.unrolled_folds = 0;  // reductions stay, however little they fold
  HAWSER_ASSIGN_OR_RETURN(const plan::Plan plan,
                          plan::MakePlan(module, target));
  return MakeProgram(plan, {.multiprocessors = 132});
}

TEST(Grid, OfEveryKernelThatGrowsWithItsSizes) {
  const Sample samples[] = {
      {"rows", kMost, Rows, "reduce"},
      {"columns", kMost, Columns, "reduce"},
      {"tiles", kMost / 2, Tiles, "transpose"},
      {"products", kMost, Products, "dot_general"},
      {"windows", kMost, Windows, "scatter"},
  };
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.name);
    ASSERT_OK_AND_ASSIGN(const Program fits, ProgramOf(sample, sample.most));
    ASSERT_FALSE(fits.kernels.empty());
    EXPECT_GE(fits.kernels.back().shape.grid.x, kMost - 1);
    // One more, and what would wrap to a block or two.
    for (const int64_t size :
         {sample.most + 1, int64_t{1} << 32, (int64_t{1} << 32) + 1}) {
      const absl::Status refused = ProgramOf(sample, size).status();
      EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
      EXPECT_THAT(std::string(refused.message()),
                  HasSubstr(sample.instruction));
      EXPECT_THAT(std::string(refused.message()), HasSubstr("blocks"));
    }
  }
}

// A loop runs over what its blocks do not take at once.
TEST(Grid, OfALoopNeverGrowsBeyondTheDevice) {
  const Sample loop = {"loop", 0,
                       [](ComputationBuilder& b, int sum, int64_t size) {
                         const ValueId x =
                             b.Parameter(Shape::Of(DType::kF32, {size}));
                         return std::vector<ValueId>{b.Add(kNegate, {x})};
                       },
                       ""};
  for (const int64_t size : {int64_t{1}, int64_t{1} << 33, int64_t{1} << 50}) {
    ASSERT_OK_AND_ASSIGN(const Program program, ProgramOf(loop, size));
    ASSERT_EQ(program.kernels.size(), 1u);
    EXPECT_LE(program.kernels[0].shape.grid.x, 132u * 32);
    EXPECT_GE(program.kernels[0].shape.grid.x, 1u);
  }
}

}  // namespace
}  // namespace hawser::gpu
