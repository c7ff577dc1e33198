// Random graphs over the whole registry give the same on every target: in
// strict numerics the bits of the CPU's rows, where one NaN is as good as
// another; in fast numerics, of what tests/reference makes of each
// instruction's own operands, what the op's row promises.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/threads/all_of.h"
#include "core/base/values/compare.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/windows/convolution.h"
#include "kernels/cpu/evaluator.h"
#include "tests/conformance/target.h"
#include "tests/conformance/transform_sizes.h"
#include "tests/kernels/one_instruction.h"
#include "tests/reference/evaluator.h"
#include "tests/reference/rows/linalg/properties.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sanitized.h"

namespace hawser {
namespace {

constexpr uint64_t kSeeds = kSanitized ? 30 : 250;

// Of those that are compared with the reference: HAWSER_RANDOM_GRAPHS says how
// many, for the slow test.
uint64_t ReferenceSeeds() {
  const char* const given = std::getenv("HAWSER_RANDOM_GRAPHS");
  uint64_t seeds = kSanitized ? kSeeds : 400;
  if (given != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(given, &seeds)) << given;
  }
  return seeds;
}

// All elements as text, which tells -0 from 0 but no NaN from another.
std::string AsText(const Literal& value) {
  return value.ToString(value.shape().num_elements());
}
std::string AsText(const std::vector<Literal>& values) {
  std::string text;
  for (const Literal& l : values) absl::StrAppend(&text, AsText(l), "\n");
  return text;
}
std::string AsText(const absl::StatusOr<std::vector<Literal>>& values) {
  return values.ok() ? AsText(*values) : values.status().ToString();
}

absl::StatusOr<std::vector<Literal>> RunOn(
    runtime::Client& client, const Module& module,
    const std::vector<Literal>& arguments, runtime::Numerics numerics) {
  HAWSER_ASSIGN_OR_RETURN(const auto executable,
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

// Complex numbers count against their magnitude, and may be off by 4 at least;
// one of which a part is infinite, by its parts.
Tolerance ToleranceOf(const Literal& value, int ulp) {
  const double units = ulp, of_complex = std::max(units, 4.0);
  switch (value.shape().dtype()) {
    case DType::kC64:
      return {.rtol = of_complex * std::numeric_limits<float>::epsilon(),
              .ulp = of_complex};
    case DType::kC128:
      return {.rtol = of_complex * std::numeric_limits<double>::epsilon(),
              .ulp = of_complex};
    default:
      return {.ulp = units};
  }
}

// |re| + |im| of each element, as complex numbers; 0 of what is not finite,
// where that is not to count.
template <typename Complex>
Literal SizesOf(const Literal& value, bool infinite) {
  std::vector<Complex> sizes;
  for (const Complex& z : value.data<Complex>()) {
    const bool finite = std::isfinite(z.real()) && std::isfinite(z.imag());
    const auto size = std::abs(z.real()) + std::abs(z.imag());
    sizes.emplace_back(infinite || finite ? size : 0);
  }
  return Literal::Of<Complex>(sizes, value.shape().dims());
}

// Whether the digits of a power's exponent suffice: core/ops/README.md.
template <typename Complex>
bool KeepsItsAngle(const Literal& base, const Literal& exponent) {
  const double most = sizeof(Complex) == 8 ? 0x1p30 : 0x1p13;
  for (int64_t k = 0; k < base.shape().num_elements(); ++k) {
    const std::complex<double> x(base.data<Complex>()[k]);
    const std::complex<double> y(exponent.data<Complex>()[k]);
    // What is 0 or infinite has no digits to lose.
    const double sizes = std::abs(x) + std::abs(y);
    if (x == 0.0 || !std::isfinite(sizes)) continue;
    if (!(std::abs(y) * std::abs(std::log(x)) <= most)) return false;
  }
  return true;
}

bool Multiplies(const Module& module, const Instruction& i) {
  if (i.op == &kMultiply) return true;
  return (i.op == &kReduce || i.op == &kScan || i.op == &kScatter) &&
         absl::c_any_of(
             module.computation(i.called[0]).instructions(),
             [](const Instruction& c) { return c.op == &kMultiply; });
}

// Whether no two elements of a matrix are further apart than LAPACK's balancing
// leaves vectors right: it scales rows and columns, and errors of the vectors
// with them (the geev of any LAPACK does).
bool IsEvenlyScaled(const Literal& x) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  VisitDType(x.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool> && !kIsHalf<T>) {
      for (const T& element : x.data<T>()) {
        const double size = std::abs(std::complex<double>(element));
        if (size == 0) continue;
        least = std::min(least, size);
        most = std::max(most, size);
      }
    }
  });
  return !(most > least * 1e30);
}

// Whether the sums and products of magnitudes that a complex result counts
// against are numbers; where they overflow, so may any part of it.
bool MagnitudesFit(const Module& module, const Instruction& i,
                   std::vector<Literal> operands) {
  if (i.op == &kEig) return IsEvenlyScaled(operands[0]);
  const auto first = absl::c_find_if(
      operands, [](const Literal& x) { return IsComplex(x.shape().dtype()); });
  if (first == operands.end()) return true;
  const DType dtype = first->shape().dtype();
  const auto visit = [&](auto of_part) {
    using Complex = std::complex<decltype(of_part)>;
    if (i.op == &kPower) {
      return KeepsItsAngle<Complex>(operands[0], operands[1]);
    }
    if (i.op != &kDotGeneral && i.op != &kConvolution &&
        !Multiplies(module, i)) {
      return true;
    }
    // In a product of several the order is free, and with it the parts of an
    // infinite one.
    for (Literal& operand : operands) {
      if (operand.shape().dtype() != dtype) continue;
      operand = SizesOf<Complex>(operand, i.op != &kMultiply);
    }
    reference::Evaluator reference;
    const auto sums =
        EvaluateInstruction(reference, module, i, operands, i.attributes);
    return absl::c_all_of(sums, [&](const Literal& sum) {
      return sum.shape().dtype() != dtype ||
             absl::c_all_of(sum.template data<Complex>(), [](Complex of) {
               return std::isfinite(of.real());
             });
    });
  };
  return dtype == DType::kC64 ? visit(float{}) : visit(double{});
}

bool IsFloating(const Literal& x) {
  return IsFloat(x.shape().dtype()) || IsComplex(x.shape().dtype());
}

Literal SizesOf(const Literal& x) {
  return VisitDType(x.shape().dtype(), [&](auto tag) -> Literal {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) return SizesOf<T>(x, /*infinite=*/true);
    std::vector<T> sizes;
    if constexpr (kIsFloat<T>) {
      for (const T v : x.data<T>()) {
        sizes.push_back(T(std::abs(static_cast<double>(v))));
      }
      return Literal::Of<T>(sizes, x.shape().dims());
    }
    return x;
  });
}

// Of an instruction that sums: what comes of its operands' sizes, which the
// digits of its results count against. Empty: it is none.
std::vector<Literal> SumsOfSizes(const Module& module, const Instruction& i,
                                 const Literal& result,
                                 std::vector<Literal> operands) {
  if (i.op == &kFft) return {TransformSizes(i, operands[0], result.shape())};
  const bool sums =
      i.op == &kDotGeneral || i.op == &kConvolution ||
      (i.op == &kReduce &&
       absl::c_any_of(module.computation(i.called[0]).instructions(),
                      [](const Instruction& c) { return c.op == &kAdd; }));
  if (!sums || !absl::c_any_of(operands, IsFloating)) return {};
  for (Literal& operand : operands) operand = SizesOf(operand);
  reference::Evaluator reference;
  return EvaluateInstruction(reference, module, i, operands, i.attributes);
}

// fn(part) of each element's real part, and of the imaginary one.
template <typename Fn>
void ForParts(const Literal& x, Fn fn) {
  VisitDType(x.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < x.shape().num_elements(); ++k) {
      if constexpr (kIsComplex<T>) {
        fn(static_cast<double>(x.data<T>()[k].real()));
        fn(static_cast<double>(x.data<T>()[k].imag()));
      } else if constexpr (kIsFloat<T>) {
        fn(static_cast<double>(x.data<T>()[k]));
      }
    }
  });
}

// Whether no order of the sums overflows.
bool AreFinite(const std::vector<Literal>& sums) {
  bool finite = true;
  for (const Literal& sum : sums) {
    ForParts(sum, [&](double x) { finite = finite && std::isfinite(x); });
  }
  return finite;
}

// Of the last digit of 1, and of any number.
double UnitOf(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF16:
      return 0x1p-10;
    case DType::kF32:
    case DType::kC64:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

double UnitAt(double number, DType dtype) {
  return number == 0 ? 0 : std::ldexp(UnitOf(dtype), std::ilogb(number));
}

std::vector<double> PartsOf(const Literal& x) {
  std::vector<double> parts;
  ForParts(x, [&](double part) { parts.push_back(part); });
  return parts;
}

// Whether results differ by so many last digits of the sizes at most, of which
// both parts of a complex one are the first.
bool AreNear(const Literal& got, const Literal& want, const Literal& sizes,
             double units) {
  const auto a = PartsOf(got), b = PartsOf(want), size = PartsOf(sizes);
  const bool complex = IsComplex(got.shape().dtype());
  for (size_t k = 0; k < a.size(); ++k) {
    const double of = size[complex ? k / 2 * 2 : k];
    const bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]));
    const double allowed = units * UnitAt(of, got.shape().dtype());
    if (!same && !(std::abs(a[k] - b[k]) <= allowed)) return false;
  }
  return true;
}

// Whether a result that differs is as near as the op table promises of sums, or
// one of sums that overflow in one order and not in another.
bool DiffersAsSumsMay(const Module& module, const Instruction& i,
                      const std::vector<Literal>& operands, int result,
                      const Literal& got, const Literal& want, int ulp) {
  const auto sums = SumsOfSizes(module, i, want, operands);
  return !sums.empty() &&
         (!AreFinite(sums) || AreNear(got, want, sums[result], ulp));
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
      ASSERT_EQ(AsText(got), AsText(want)) << "seed " << seed << "\n"
                                           << Print(module);
    }
  }
};

TEST_P(RandomModulesTest, StrictNumerics) { ExpectBitsOfRows(); }

TEST_P(RandomModulesTest, FastNumerics) {
  reference::Evaluator reference;
  int64_t bits = 0, near = 0, too_large = 0;
  for (uint64_t seed = 0; seed < ReferenceSeeds(); ++seed) {
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
      if (!MagnitudesFit(module, i, operands)) {
        ++too_large;
        continue;
      }
      if (reference::HasFactors(*i.op)) {
        const auto results =
            absl::MakeConstSpan(*got).subspan(i.first_result, i.num_results);
        EXPECT_OK(
            reference::CheckFactors(*i.op, i.attributes, operands, results))
            << i.op->name << " of " << AsText(operands) << ", seed " << seed;
        ++near;
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
            inexact ? CompareLiterals(value, want[r], ToleranceOf(value, ulp))
                              .ok() ||
                          DiffersAsSumsMay(module, i, operands, r, value,
                                           want[r], ulp)
                    : AsText(value) == AsText(want[r]);
        EXPECT_TRUE(same) << AsText(value) << "\n instead of \n"
                          << AsText(want[r]) << "\n"
                          << "seed " << seed << ", %" << i.first_result + r
                          << " (" << i.op->name << ") of " << AsText(operands)
                          << "\n"
                          << Print(module);
      }
    }
  }
  std::cout << bits << " values by their bits, " << near << " by ulp, "
            << too_large << " of numbers too large\n";
  EXPECT_GT(near, 0);
  EXPECT_GT(bits, near);
}

INSTANTIATE_TEST_SUITE_P(All, RandomModulesTest,
                         ::testing::ValuesIn(TargetsThat(&TargetRow::is_exact)),
                         TargetName);

}  // namespace
}  // namespace hawser
