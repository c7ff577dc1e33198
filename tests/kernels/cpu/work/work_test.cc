// Every kernel looks at the cancel token after at most 5 ms of estimated work,
// and the estimate of an instruction is what its kernel then does.
#include <atomic>
#include <limits>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/program.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/kernels/cpu/work/large_uses.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kManySteps = int64_t{1} << 23;
// 5 ms.
constexpr double kMostBetweenLooks = 5e6;

// Sums what is told; cancels at the first look after `cancel_after` steps.
class Looks : public WorkObserver {
 public:
  explicit Looks(double cancel_after = -1) : cancel_after_(cancel_after) {}
  void Worked(double steps) override {
    total_ += steps;
    most_ = std::max(most_, steps);
    if (cancel_after_ >= 0 && total_ > cancel_after_) token_.Cancel();
  }
  double total() const { return total_; }
  double most() const { return most_; }
  const CancelToken& token() const { return token_; }

 private:
  const double cancel_after_;
  const CancelToken token_ = CancelToken::WithFlag();
  double total_ = 0;
  double most_ = 0;
};

absl::Status RunLarge(const LargeUse& use, Looks* looks, double* cost) {
  const int entry = static_cast<int>(use.module.computations().size()) - 1;
  HAWSER_ASSIGN_OR_RETURN(const CpuProgram program,
                          CpuProgram::Make(use.module, entry));
  *cost = program.cost();
  const auto allocator = HostAllocator::Make(0);
  return program
      .Run(ZerosFor(use), {.allocator = allocator.get(),
                           .cancel = looks->token(),
                           .observer = looks})
      .status();
}

TEST(WorkTest, EveryOpLooksAtItsTokenOften) {
  for (const OpDef* op : AllOps()) {
    if (TakesNoWork(*op)) continue;
    const auto uses = LargeUsesOf(*op, kManySteps);
    EXPECT_FALSE(uses.empty()) << op->name << " needs a row in LargeTable";
    for (const LargeUse& use : uses) {
      SCOPED_TRACE(absl::StrCat(op->name, ", ", use.what));
      Looks looks;
      double cost = 0;
      ASSERT_OK(RunLarge(use, &looks, &cost));
      EXPECT_LE(looks.most(), kMostBetweenLooks);
      EXPECT_GT(looks.total(), kMostBetweenLooks) << "too small to tell";
      if (cost == std::numeric_limits<double>::infinity()) continue;
      EXPECT_GE(looks.total(), cost / 4) << "work that nothing looks during";
      EXPECT_LE(looks.total(), cost * 4) << "an estimate that is too low";
    }
  }
}

TEST(WorkTest, ACancelEndsEveryOpAtItsNextLook) {
  for (const OpDef* op : AllOps()) {
    if (TakesNoWork(*op)) continue;
    for (const LargeUse& use : LargeUsesOf(*op, kManySteps)) {
      SCOPED_TRACE(absl::StrCat(op->name, ", ", use.what));
      constexpr double kStart = 1000;
      Looks looks(kStart);
      double cost = 0;
      EXPECT_THAT(RunLarge(use, &looks, &cost),
                  StatusIs(absl::StatusCode::kCancelled, "cancelled"));
      EXPECT_LE(looks.total(), kStart + kMostBetweenLooks);
    }
  }
}

TEST(WorkTest, WhatMovesNothingCostsNothing) {
  for (const OpDef* op : AllOps()) {
    if (!TakesNoWork(*op)) continue;
    const CpuKernel& kernel = *FindCpuKernel(*op);
    EXPECT_EQ(kernel.cost, &NoCost) << op->name;
  }
}

// 104,000 elements of a remainder were "520 us", and took 115 ms and more.
TEST(WorkTest, ExpensiveElementsAreEstimatedAsSuch) {
  auto cost = [](const OpDef& op, DType dtype) {
    const Shape x = Shape::Of(dtype, {1000});
    const Module module = OpModule(op, {x, x});
    const auto program = CpuProgram::Make(module, 0);
    HAWSER_CHECK(program.ok());
    return program->cost();
  };
  EXPECT_GT(cost(kRemainder, DType::kF64), 3 * cost(kAdd, DType::kF64));
  EXPECT_GT(cost(kPower, DType::kC128), 30 * cost(kAdd, DType::kF64));
}

}  // namespace
}  // namespace hawser::cpu
