// Random graphs over the whole registry give the same on every target: in
// strict numerics the bits of the CPU's rows, where one NaN is as good as
// another; in fast numerics, of what kernels/reference makes of each
// instruction's own operands, what the op's row promises.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/threads/all_of.h"
#include "core/base/values/compare.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/reference/evaluator.h"
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

// Whether the op table promises bits of complex numbers.
bool IsExactOfComplex(const Instruction& i) {
  return i.op == &kAdd || i.op == &kSubtract || i.op == &kNegate ||
         i.op->Is(kDataMovement);
}

// Complex numbers count against their magnitude, and may be off by 4 at least.
Tolerance ToleranceOf(const Literal& value, int ulp) {
  const double units = ulp;
  switch (value.shape().dtype()) {
    case DType::kC64:
      return {.rtol =
                  std::max(units, 4.0) * std::numeric_limits<float>::epsilon()};
    case DType::kC128:
      return {.rtol = std::max(units, 4.0) *
                      std::numeric_limits<double>::epsilon()};
    default:
      return {.ulp = units};
  }
}

// Whether the sums of magnitudes that a product's results count against are
// numbers; where they overflow, so may any part of a complex one.
bool MagnitudesFit(const Module& module, const Instruction& i,
                   std::vector<Literal> operands) {
  if (i.op != &kDotGeneral || !IsComplex(operands[0].shape().dtype())) {
    return true;
  }
  const auto visit = [&](auto of_part) {
    using Complex = std::complex<decltype(of_part)>;
    for (Literal& operand : operands) {
      std::vector<Complex> sizes;
      for (const Complex& z : operand.data<Complex>()) {
        sizes.emplace_back(std::abs(z.real()) + std::abs(z.imag()));
      }
      operand = Literal::Of<Complex>(sizes, operand.shape().dims());
    }
    reference::Evaluator reference;
    const auto sums =
        EvaluateInstruction(reference, module, i, operands, i.attributes);
    return absl::c_all_of(sums[0].template data<Complex>(), [](Complex sum) {
      return std::isfinite(sum.real());
    });
  };
  return operands[0].shape().dtype() == DType::kC64 ? visit(float{})
                                                    : visit(double{});
}

bool HasInfinity(const Literal& literal) {
  const auto visit = [&](auto of_part) {
    using Complex = std::complex<decltype(of_part)>;
    return absl::c_any_of(literal.data<Complex>(), [](Complex z) {
      return std::isinf(z.real()) || std::isinf(z.imag());
    });
  };
  switch (literal.shape().dtype()) {
    case DType::kC64:
      return visit(float{});
    case DType::kC128:
      return visit(double{});
    default:
      return false;
  }
}

// Whether the parts of a reduction's results that are not numbers depend on
// its order, which is free in fast numerics: those of products of infinite
// complex numbers do.
bool DependsOnOrder(const Module& module, const Instruction& i,
                    const std::vector<Literal>& operands) {
  if (i.op != &kReduce) return false;
  const auto multiplies = [&](int called) {
    return absl::c_any_of(
        module.computation(called).instructions(),
        [](const Instruction& of) { return of.op == &kMultiply; });
  };
  return absl::c_any_of(i.called, multiplies) &&
         absl::c_any_of(operands, HasInfinity);
}

class RandomModulesTest : public ::testing::TestWithParam<TargetRow> {
 protected:
  static void ExpectBitsOfRows() {
    constexpr auto numerics = runtime::Numerics::kStrict;
    cpu::CpuEvaluator rows({.numerics = numerics});
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Module module = RandomModule(seed);
      Random random(seed);
      const auto arguments = RandomArguments(module.signature(), random);
      const auto want = rows.Evaluate(
          module, static_cast<int>(module.computations().size()) - 1, arguments,
          CancelToken());
      ASSERT_OK(want) << "seed " << seed;
      const auto got = RunOn(SharedTarget(GetParam()).runtime(), module,
                             arguments, numerics);
      ASSERT_EQ(AsText(got), AsText(want))
          << "seed " << seed << "\n" << Print(module);
    }
  }
};

TEST_P(RandomModulesTest, StrictNumerics) { ExpectBitsOfRows(); }

TEST_P(RandomModulesTest, FastNumerics) {
  reference::Evaluator reference;
  int64_t bits = 0, near = 0, too_large = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
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
      const auto want =
          EvaluateInstruction(reference, module, i, operands, i.attributes);
      ASSERT_EQ(want.size(), static_cast<size_t>(i.num_results));
      if (!MagnitudesFit(module, i, operands) ||
          DependsOnOrder(module, i, operands)) {
        ++too_large;
        continue;
      }
      const int ulp = UlpOf(module, i);
      for (int r = 0; r < i.num_results; ++r) {
        const Literal& value = (*got)[i.first_result + r];
        const DType dtype = value.shape().dtype();
        const bool inexact = (ulp > 0 && !IsInteger(dtype) && !IsBool(dtype)) ||
                             (IsComplex(dtype) && !IsExactOfComplex(i));
        ++(inexact ? near : bits);
        const bool same =
            inexact
                ? CompareLiterals(value, want[r], ToleranceOf(value, ulp)).ok()
                : AsText(value) == AsText(want[r]);
        EXPECT_TRUE(same)
            << AsText(value) << "\n instead of \n" << AsText(want[r]) << "\n"
            << "seed " << seed << ", %" << i.first_result + r << " ("
            << i.op->name << ")\n"
            << Print(module);
      }
    }
  }
  std::cout << bits << " values by their bits, " << near << " by ulp, "
            << too_large << " results of numbers too large\n";
  EXPECT_GT(near, 0);
  EXPECT_GT(bits, near);
}

INSTANTIATE_TEST_SUITE_P(
    All, RandomModulesTest,
    ::testing::ValuesIn(TargetsThat(&TargetRow::is_exact)), TargetName);

}  // namespace
}  // namespace hawser
