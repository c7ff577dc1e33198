// Runs that repeat, captured as device graphs.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// Two products and what goes with them: more than one launch.
constexpr char kStepsText[] = R"(module "steps"
computation @0 "main" (%0: f32[2,2], %1: f32[2,2]) {
  %2: f32[2,2] = dot_general(%0, %1) lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]
  %3: f32[2,2] = tanh(%2)
  %4: f32[2,2] = dot_general(%3, %1) lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]
  return %4
}
)";

class GraphsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(steps_, rig_.Compile(kStepsText));
    ASSERT_OK_AND_ASSIGN(const Values want,
                         Reference(Parse(kStepsText), {x_, y_}));
    want_ = want[0];
  }
  void ExpectRight(const BufferPtr& result) {
    const auto value = Fetch({result});
    ASSERT_OK(value);
    EXPECT_THAT((*value)[0], LiteralNear(want_, Tolerance{.ulp = 64}));
  }
  BufferPtr Execute(const BufferPtr& x, const BufferPtr& y) {
    auto results = steps_->Execute({{x, y}}, {});
    EXPECT_OK(results);
    return (*results)[0];
  }

  Rig rig_;
  const Literal x_ = F32({1, 2, 3, 4}, {2, 2}), y_ = F32({1, -1, 0, 1}, {2, 2});
  Literal want_;
  ExecutablePtr steps_;
};

TEST_F(GraphsTest, AreLaunchedFromTheThirdRunOn) {
  const BufferPtr x = rig_.Put(x_), y = rig_.Put(y_);
  for (int run = 0; run < 10; ++run) {
    ExpectRight(Execute(x, y));
    const GraphCache::Counts counts = steps_->graph_counts();
    EXPECT_EQ(counts.queued, std::min(run + 1, 2));
    EXPECT_EQ(counts.launched, std::max(run - 1, 0));
  }
}

TEST_F(GraphsTest, ServeOtherAddressesAfterAnUpdate) {
  const BufferPtr x = rig_.Put(x_), y = rig_.Put(y_);
  // Results that are kept have addresses of their own.
  std::vector<BufferPtr> results;
  for (int run = 0; run < 12; ++run) results.push_back(Execute(x, y));
  for (const BufferPtr& result : results) ExpectRight(result);
  const GraphCache::Counts counts = steps_->graph_counts();
  EXPECT_EQ(counts.queued, 2);
  EXPECT_EQ(counts.launched, 10);
  EXPECT_EQ(counts.captured, 10);
  EXPECT_EQ(counts.instantiated, 4);
  EXPECT_EQ(counts.updated, 6);
}

TEST_F(GraphsTest, GiveUpWhereNothingRepeats) {
  const BufferPtr x = rig_.Put(x_), y = rig_.Put(y_);
  std::vector<BufferPtr> results;
  for (int run = 0; run < 100; ++run) results.push_back(Execute(x, y));
  const GraphCache::Counts counts = steps_->graph_counts();
  EXPECT_GT(counts.queued, 30);
  EXPECT_EQ(counts.queued + counts.launched, 100);
  ExpectRight(results.back());
}

TEST_F(GraphsTest, DieWhileTheyRun) {
  const BufferPtr x = rig_.Put(x_), y = rig_.Put(y_);
  BufferPtr last;
  for (int run = 0; run < 6; ++run) last = Execute(x, y);
  steps_.reset();
  ExpectRight(last);
  EXPECT_OK(rig_.client().Ping({}));
}

TEST_F(GraphsTest, CanBeTurnedOff) {
  Rig rig({.client = {.graphs = false}});
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr steps, rig.Compile(kStepsText));
  for (int run = 0; run < 5; ++run) ASSERT_OK(RunOn(steps, {x_, y_}));
  EXPECT_EQ(steps->graph_counts().launched, 0);
}

// A loop that gives its state away: the same few addresses over and over.
TEST(Graphs, ServeALoopThatDonates) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr steps, rig.Compile(R"(module "m"
computation @0 "sum" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: f32[2,2], %1: f32[3,3]) {
  %2: f32[3,3] = dot_general(%1, %1) lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]
  %3: f32[] = constant() value=f32[] {0}
  %4: f32[] = reduce(%2, %3) dimensions=[0,1] @0
  %5: f32[2,2] = broadcast_in_dim(%4) broadcast_dimensions=[] dims=[2,2]
  %6: f32[2,2] = add(%0, %5)
  return %6
}
)"));
  const BufferPtr y = rig.Put(F32({1, 0, 0, 0, 1, 0, 0, 0, 0}, {3, 3}));
  BufferPtr x = rig.Put(F32({1, 1, 1, 1}, {2, 2}));
  for (int run = 0; run < 20; ++run) {
    std::vector<Argument> arguments = {std::move(x), y};
    x = (*steps->Execute(arguments, {.donated = {0}}))[0];
    ASSERT_OK(Fetch({x}));
  }
  EXPECT_EQ((*Fetch({x}))[0].data<float>()[3], 41);
  const GraphCache::Counts counts = steps->graph_counts();
  EXPECT_EQ(counts.launched, 18);
  EXPECT_EQ(counts.captured, 1);
}

}  // namespace
}  // namespace hawser::gpu
