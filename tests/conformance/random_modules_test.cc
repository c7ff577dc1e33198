// Random graphs over the whole registry give on every target the bits that the
// reference evaluator gives, where one NaN is as good as another.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/all_of.h"
#include "core/ir/text/printer.h"
#include "kernels/cpu/evaluator.h"
#include "tests/conformance/target.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sanitized.h"

namespace hawser {
namespace {

constexpr uint64_t kSeeds = kSanitized ? 30 : 250;

// All elements as text, which tells -0 from 0 but no NaN from another.
std::string AsText(const absl::StatusOr<std::vector<Literal>>& values) {
  if (!values.ok()) return values.status().ToString();
  std::string text;
  for (const Literal& l : *values) {
    absl::StrAppend(&text, l.ToString(l.shape().num_elements()), "\n");
  }
  return text;
}

absl::StatusOr<std::vector<Literal>> RunOn(
    runtime::Client& client, const Module& module,
    const std::vector<Literal>& arguments, runtime::Numerics numerics) {
  HAWSER_ASSIGN_OR_RETURN(
      const auto executable,
      client.Compile(std::make_shared<const Module>(module),
                     {.numerics = numerics}, {}));
  const std::vector<runtime::Argument> given(arguments.begin(),
                                             arguments.end());
  HAWSER_ASSIGN_OR_RETURN(const auto results, executable->Execute(given, {}));
  std::vector<Future<Literal>> futures;
  for (const auto& result : results) futures.push_back(result->Fetch({}));
  return AllOf(std::move(futures)).Await();
}

class RandomModulesTest : public ::testing::TestWithParam<TargetRow> {
 protected:
  static void ExpectReferenceValues(runtime::Numerics numerics) {
    cpu::CpuEvaluator reference({.numerics = numerics});
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Module module = RandomModule(seed);
      Random random(seed);
      const auto arguments = RandomArguments(module.signature(), random);
      const auto want = reference.Evaluate(
          module, static_cast<int>(module.computations().size()) - 1,
          arguments, CancelToken());
      ASSERT_OK(want) << "seed " << seed;
      const auto got = RunOn(SharedTarget(GetParam()).runtime(), module,
                             arguments, numerics);
      ASSERT_EQ(AsText(got), AsText(want))
          << "seed " << seed << "\n" << Print(module);
    }
  }
};

TEST_P(RandomModulesTest, FastNumerics) {
  ExpectReferenceValues(runtime::Numerics::kFast);
}
TEST_P(RandomModulesTest, StrictNumerics) {
  ExpectReferenceValues(runtime::Numerics::kStrict);
}

INSTANTIATE_TEST_SUITE_P(
    All, RandomModulesTest,
    ::testing::ValuesIn(TargetsThat(&TargetRow::is_exact)), TargetName);

}  // namespace
}  // namespace hawser
