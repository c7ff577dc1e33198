// A planned module computes what the module did, bit for bit, and is ordinary
// IR: it verifies, prints, parses and plans again.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/contraction/control.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/plan/fusion/dot_layout.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sample_modules.h"

namespace hawser::plan {
namespace {

Target EverythingTarget() {
  Target target = GpuTarget();
  target.name = "everything";
  target.epilogues = EpilogueSupport::kAny;
  target.max_row_bytes = int64_t{1} << 40;
  return target;
}
// Limits that are always in the way.
Target NarrowTarget() {
  Target target = CpuTarget();
  target.name = "narrow";
  target.max_buffers = 4;
  target.max_instructions = 5;
  target.max_points = 12;
  target.max_predicates = 1;
  target.max_concatenated = 2;
  target.max_row_bytes = 16;
  target.epilogues = EpilogueSupport::kNone;
  return target;
}
std::vector<Target> AllTestTargets() {
  return {GpuTarget(), CpuTarget(), EverythingTarget(), NarrowTarget()};
}

absl::StatusOr<std::vector<Literal>> Evaluate(
    const Module& module, const std::vector<Literal>& arguments) {
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  return evaluator.Evaluate(module,
                            static_cast<int>(module.computations().size()) - 1,
                            arguments, CancelToken());
}

void ExpectSameBits(const Module& module, const Module& fused,
                    const std::vector<Literal>& arguments) {
  const auto want = Evaluate(module, arguments);
  const auto got = Evaluate(fused, arguments);
  ASSERT_EQ(got.status().code(), want.status().code()) << got.status();
  if (!want.ok()) return;
  ASSERT_EQ(got->size(), want->size());
  for (size_t k = 0; k < want->size(); ++k) {
    ASSERT_EQ((*got)[k].shape(), (*want)[k].shape());
    ASSERT_EQ((*got)[k].bytes(), (*want)[k].bytes()) << "result " << k;
  }
}

// Steps that the planner made but cannot describe.
int NumOpaqueFusions(const Plan& plan) {
  int count = 0;
  for (const ComputationPlan& c : plan.computations) {
    for (const Region& r : c.regions) {
      const OpDef* op = plan.module.computation(r.computation)
                            .instructions()[r.instruction]
                            .op;
      count += op == &kFusion && r.kind == RegionKind::kHost;
    }
  }
  return count;
}

int NumFusions(const Module& module) {
  int count = 0;
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) count += i.op == &kFusion;
  }
  return count;
}

void CheckModule(const Module& module, const Target& target,
                 const std::vector<Literal>& arguments) {
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, target));
  ASSERT_OK(Verify(plan.module));
  EXPECT_EQ(plan.module.signature(), module.signature());
  if (NumFusions(module) == 0) {
    EXPECT_EQ(NumOpaqueFusions(plan), 0);
  }
  const std::string text = Print(plan.module);
  ASSERT_OK_AND_ASSIGN(const Module parsed, ParseModule(text, FindOp));
  EXPECT_EQ(Print(parsed), text);
  ASSERT_OK_AND_ASSIGN(const Plan again, PlanFused(parsed, target));
  EXPECT_EQ(Explain(again, target), Explain(plan, target));
  // Of products that are read in another layout the bits may differ: see
  // dot_layout_test.cc.
  ASSERT_OK_AND_ASSIGN(const Module laid_out, LayOutProducts(module, target));
  ExpectSameBits(laid_out, parsed, arguments);
}

TEST(FusedValues, OfSampleModules) {
  for (const NamedModule& sample : SampleModules()) {
    for (const Target& target : AllTestTargets()) {
      SCOPED_TRACE(absl::StrCat(sample.name, " for ", target.name));
      Random random(1);
      CheckModule(sample.module, target,
                  RandomArguments(sample.module.signature(), random));
    }
  }
}

TEST(FusedValues, OfRandomModules) {
  // Every other module without fusions of another's making.
  std::vector<const OpDef*> ours;
  for (const OpDef* op : AllOps()) {
    if (op != &kFusion) ours.push_back(op);
  }
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomModuleOptions options{.instructions =
                                    8 + static_cast<int>(seed % 40)};
    if (seed % 2 == 0) options.ops = ours;
    const Module module = RandomModule(seed, options);
    Random random(seed);
    const auto arguments = RandomArguments(module.signature(), random);
    for (const Target& target : AllTestTargets()) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " for ", target.name, "\n",
                                Print(module)));
      CheckModule(module, target, arguments);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hawser::plan
