// Random graphs over the whole registry give on every target what the reference
// evaluator gives: in strict numerics its bits, where one NaN is as good as
// another; in fast numerics what each instruction's row promises of its own
// operands.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/all_of.h"
#include "core/base/values/compare.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "kernels/cpu/evaluator.h"
#include "tests/conformance/target.h"
#include "tests/kernels/one_instruction.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sanitized.h"

namespace hawser {
namespace {

constexpr uint64_t kSeeds = kSanitized ? 30 : 250;

// All elements as text, which tells -0 from 0 but no NaN from another.
std::string AsText(const Literal& value) {
  return value.ToString(value.shape().num_elements());
}
std::string AsText(const absl::StatusOr<std::vector<Literal>>& values) {
  if (!values.ok()) return values.status().ToString();
  std::string text;
  for (const Literal& l : *values) absl::StrAppend(&text, AsText(l), "\n");
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

// The module, which gives every value of its entry.
Module GivingAllValues(const Module& module) {
  Module all(module.name());
  for (size_t c = 0; c + 1 < module.computations().size(); ++c) {
    all.Add(module.computation(static_cast<int>(c)));
  }
  Computation entry = module.entry();
  std::vector<ValueId> values;
  for (ValueId v = 0; v < entry.num_values(); ++v) values.push_back(v);
  EXPECT_OK(entry.SetResults(values));
  all.Add(std::move(entry));
  return all;
}

// Of what an instruction's float results may be off: its row's, or that of the
// least exact row in what it calls.
int UlpOf(const Module& module, const Instruction& instruction) {
  int ulp = instruction.op->ulp;
  for (const int called : instruction.called) {
    for (const Instruction& i : module.computation(called).instructions()) {
      ulp = std::max(ulp, UlpOf(module, i));
    }
  }
  return ulp;
}

class RandomModulesTest : public ::testing::TestWithParam<TargetRow> {
 protected:
  static void ExpectReferenceBits() {
    constexpr auto numerics = runtime::Numerics::kStrict;
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

TEST_P(RandomModulesTest, StrictNumerics) { ExpectReferenceBits(); }

TEST_P(RandomModulesTest, FastNumerics) {
  int64_t bits = 0, near = 0;
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    const Module module = GivingAllValues(RandomModule(seed));
    Random random(seed);
    const auto got = RunOn(SharedTarget(GetParam()).runtime(), module,
                           RandomArguments(module.signature(), random),
                           runtime::Numerics::kFast);
    ASSERT_OK(got) << "seed " << seed;
    for (const Instruction& i : module.entry().instructions()) {
      if (i.op == &kParameter) continue;
      std::vector<Literal> operands;
      for (const ValueId v : i.operands) operands.push_back((*got)[v]);
      const auto want = EvaluateInstruction(module, i, operands);
      ASSERT_EQ(want.size(), static_cast<size_t>(i.num_results));
      const int ulp = UlpOf(module, i);
      for (int r = 0; r < i.num_results; ++r) {
        const Literal& value = (*got)[i.first_result + r];
        const bool inexact = ulp > 0 && !IsInteger(value.shape().dtype()) &&
                             value.shape().dtype() != DType::kBool;
        ++(inexact ? near : bits);
        const bool same =
            inexact
                ? CompareLiterals(value, want[r],
                                  {.ulp = static_cast<double>(ulp)})
                      .ok()
                : AsText(value) == AsText(want[r]);
        EXPECT_TRUE(same)
            << AsText(value) << "\n instead of \n" << AsText(want[r]) << "\n"
            << "seed " << seed << ", %" << i.first_result + r << " ("
            << i.op->name << ")\n"
            << Print(module);
      }
    }
  }
  std::cout << bits << " values by their bits, " << near << " by ulp\n";
  EXPECT_GT(near, 0);
  EXPECT_GT(bits, near);
}

INSTANTIATE_TEST_SUITE_P(
    All, RandomModulesTest,
    ::testing::ValuesIn(TargetsThat(&TargetRow::is_exact)), TargetName);

}  // namespace
}  // namespace hawser
