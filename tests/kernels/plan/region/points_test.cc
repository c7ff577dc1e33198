// What the points, maps and accesses of a region say is what the region
// computes: random modules run by them, against the reference.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/region/node_table.h"
#include "tests/kernels/plan/region/run_region.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::plan {
namespace {

// Integers, so that the order of a sum changes nothing.
std::vector<const OpDef*> OpsWithPoints() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : AllOps()) {
    const NodeClass node = NodeOf(*op).node;
    const bool changes_dtype = op->FindAttribute("dtype") != nullptr;
    if ((node == NodeClass::kLoop || node == NodeClass::kReduce) &&
        (!changes_dtype || node == NodeClass::kReduce)) {
      ops.push_back(op);
    }
  }
  return ops;
}

// Movement and reductions drawn more often than all the arithmetic.
std::vector<const OpDef*> OpsThatMove() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : OpsWithPoints()) {
    if (!op->Is(kElementwise)) ops.push_back(op);
  }
  ops.push_back(FindOp("add"));
  ops.push_back(FindOp("select"));
  return ops;
}

void CheckPoints(uint64_t seed, const std::vector<const OpDef*>& ops,
                 const Target& target) {
  const Module module =
      RandomModule(seed, {.instructions = 4 + static_cast<int>(seed % 30),
                          .max_elements = 128,
                          .dtypes = kInts | kBoolOnly,
                          .ops = ops});
  SCOPED_TRACE(
      absl::StrCat("seed ", seed, " for ", target.name, "\n", Print(module)));
  Random random(seed);
  const auto arguments = RandomArguments(module.signature(), random);
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, target));
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  ASSERT_OK_AND_ASSIGN(
      const auto want,
      evaluator.Evaluate(module,
                         static_cast<int>(module.computations().size()) - 1,
                         arguments, CancelToken()));
  for (const bool merged : {false, true}) {
    SCOPED_TRACE(absl::StrCat(merged ? "merged" : "as they are", "\n",
                              Explain(plan, target), Print(plan.module)));
    const auto got = RunByRegions(plan, arguments, merged);
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < want.size(); ++k) {
      ASSERT_EQ(got[k].bytes(), want[k].bytes()) << "result " << k;
    }
  }
}

TEST(Points, SayWhatRandomModulesCompute) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CheckPoints(seed, OpsWithPoints(), GpuTarget());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Points, SayWhereRandomModulesMoveElements) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    for (const Target& target : {GpuTarget(), CpuTarget()}) {
      CheckPoints(seed, OpsThatMove(), target);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hawser::plan
