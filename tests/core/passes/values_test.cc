// Each pass, and all of them, keep every value of random modules: the same
// bits, where one NaN is as good as another.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/passes/canonicalize.h"
#include "core/passes/cse.h"
#include "core/passes/dce.h"
#include "core/passes/fold.h"
#include "core/passes/optimize.h"
#include "tests/core/passes/build_module.h"
#include "tests/core/passes/module_values.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

constexpr uint64_t kSeeds = 300;

ConstantEvaluator Evaluator() {
  return [](const Module& module, int n) { return Run(module, n, {}); };
}

using Pass = std::function<absl::StatusOr<Module>(Module, bool*)>;

// Returns how many modules the pass changed.
int ExpectKeepsValues(const Pass& pass) {
  int changes = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = RandomModule(seed);
    Random random(seed);
    const auto arguments = RandomArguments(module.signature(), random);
    bool changed = false;
    const auto out = pass(module, &changed);
    EXPECT_OK(out) << "seed " << seed;
    if (!out.ok()) return changes;
    EXPECT_OK(Verify(*out)) << "seed " << seed;
    EXPECT_EQ(changed, Print(*out) != Print(module)) << "seed " << seed;
    EXPECT_EQ(Values(*out, arguments), Values(module, arguments))
        << "seed " << seed << "\n" << Print(module) << Print(*out);
    if (testing::Test::HasFailure()) return changes;
    changes += changed ? 1 : 0;
  }
  return changes;
}

TEST(PassesKeepValues, Canonicalize) {
  EXPECT_GT(ExpectKeepsValues(Canonicalize), 10);
}
TEST(PassesKeepValues, EliminateCommonSubexpressions) {
  EXPECT_GT(ExpectKeepsValues(EliminateCommonSubexpressions), 10);
}
TEST(PassesKeepValues, EliminateDeadCode) {
  // The generator makes a result of what is not used, so only computations
  // that are the same or unused go.
  ExpectKeepsValues([](Module module, bool* changed) {
    return EliminateDeadCode(std::move(module), changed);
  });
}
TEST(PassesKeepValues, FoldConstants) {
  const auto fold = [](Module module, bool* changed) {
    return FoldConstants(std::move(module), Evaluator(), changed);
  };
  EXPECT_GT(ExpectKeepsValues(fold), 10);
}

TEST(PassesKeepValues, Optimize) {
  const auto optimize =
      [](Module module, bool* changed) -> absl::StatusOr<Module> {
    const std::string before = Print(module);
    OptimizeOptions options;
    options.evaluate = Evaluator();
    options.verify = true;
    HAWSER_ASSIGN_OR_RETURN(Module once, Optimize(std::move(module), options));
    HAWSER_ASSIGN_OR_RETURN(const Module twice, Optimize(once, options));
    EXPECT_EQ(Print(once), Print(twice));
    *changed = Print(once) != before;
    return once;
  };
  EXPECT_GT(ExpectKeepsValues(optimize), 10);
}

}  // namespace
}  // namespace hawser
