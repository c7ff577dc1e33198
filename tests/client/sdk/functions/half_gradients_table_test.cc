// Gradients of every function of the table in f16 and bf16, beside those of the
// same rounded numbers in f64: at everyday numbers, small ones and large ones.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/sdk/functions/table/function_table.h"
#include "tests/client/sdk/ops/misuse_table.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

// Units in the last place of the largest entry: formulas such as Attention's
// round several times.
constexpr double kUnitsOfTable = 8;

struct Numbers {
  const char* name;
  // The numbers that arguments are filled with, in turn.
  std::vector<double> values;
};

const std::vector<Numbers>& SetsOfNumbers() {
  static const auto& sets = *new std::vector<Numbers>{
      {"everyday", {0.5, -1.25, 2, -0.375, 1.5, 3, -2.5, 0.75, -3.5, 1.125}},
      {"positive", {0.5, 1.25, 2, 0.375, 1.5, 3, 2.5, 0.75, 3.5, 1.125}},
      {"below one", {0.5, -0.25, 0.75, -0.375, 0.125, 0.625, -0.875}},
      {"above one", {1.5, 2.25, 3, 1.375, 4, 2.625, 1.875}},
      {"small", {1e-3, -2e-3, 5e-4, -7e-4, 3e-3, 2.5e-3, -1.5e-3}},
      {"large", {200, -300, 450, -150, 1000, 320, -2000, 640}},
      {"large and positive", {200, 300, 450, 150, 1000, 320, 2000, 640}},
      {"far apart", {3e-4, 2000, -0.5, 300, -1e-3, 40, -7}},
  };
  return sets;
}

bool IsFloats(const FunctionArgument& argument) {
  const auto* tensor = std::get_if<Tensor>(&argument);
  return tensor != nullptr && tensor->dtype() == DType::kF32;
}

// The arguments with their floats replaced by rounded numbers, in `dtype`.
std::vector<FunctionArgument> Filled(const Use& use, const Numbers& numbers,
                                     DType rounded, DType dtype) {
  std::vector<FunctionArgument> arguments = use.arguments;
  size_t at = 0;
  for (FunctionArgument& argument : arguments) {
    if (!IsFloats(argument)) continue;
    const Shape shape =
        Shape::Of(DType::kF64, std::get<Tensor>(argument).shape().dims());
    Literal value = Literal::Uninitialized(shape);
    for (double& x : value.mutable_data<double>()) {
      // No two rows of a matrix are alike.
      x = numbers.values[at % numbers.values.size()] *
          (1 + 0.01 * static_cast<double>(at));
      ++at;
    }
    argument = Convert(Convert(Constant(value), rounded), dtype);
  }
  return arguments;
}

// The sum of all floats that a function gives, weighted by small numbers; none:
// it gives none, or an error.
std::optional<Tensor> LossOf(const FunctionEntry& function,
                             const std::vector<FunctionArgument>& arguments,
                             const Attributes& attributes) {
  const auto results = CallFunction(function, arguments, attributes);
  if (!results.ok()) return std::nullopt;
  std::optional<Tensor> loss;
  for (const Tensor& result : *results) {
    if (!result.status().ok()) return std::nullopt;
    if (!IsFloat(result.dtype())) continue;
    const int64_t size = result.shape().num_elements();
    const Tensor weights = Convert(
        Remainder(Iota(DType::kF32, {size}, 0), 3.0f) - 0.5f, result.dtype());
    const Tensor sum = Sum(Flatten(result) * weights);
    loss = loss.has_value() ? *loss + sum : sum;
  }
  return loss;
}

using Doubles = std::vector<double>;
// The value and the gradient by argument `by`; none: there is no gradient.
std::optional<Doubles> GradientOf(const FunctionEntry& function,
                                  std::vector<FunctionArgument> arguments,
                                  const Attributes& attributes, size_t by) {
  const Tensor at = std::get<Tensor>(arguments[by]);
  if (!LossOf(function, arguments, attributes).has_value()) return {};
  const auto loss = [&](Tensor x) {
    arguments[by] = x;
    return *LossOf(function, arguments, attributes);
  };
  const auto gradient = Convert(Grad(loss)(at), DType::kF64).Fetch();
  if (!gradient.ok()) return {};
  const auto entries = gradient->data<double>();
  return Doubles(entries.begin(), entries.end());
}

// What a function gives in f64, all of its floats.
Doubles ValuesOf(const FunctionEntry& function,
                 const std::vector<FunctionArgument>& arguments,
                 const Attributes& attributes) {
  Doubles all;
  const auto results = CallFunction(function, arguments, attributes);
  if (!results.ok()) return all;
  for (const Tensor& result : *results) {
    if (!result.status().ok() || !IsFloat(result.dtype())) continue;
    const auto value = Convert(result, DType::kF64).Fetch();
    if (!value.ok()) continue;
    const auto entries = value->data<double>();
    all.insert(all.end(), entries.begin(), entries.end());
  }
  return all;
}

double LargestOf(const Doubles& values) {
  double largest = 0;
  for (const double x : values) {
    if (!std::isfinite(x)) return kInf;
    largest = std::max(largest, std::abs(x));
  }
  return largest;
}

struct Half {
  DType dtype;
  double unit, least, most;
};
constexpr Half kHalves[] = {{DType::kF16, 0x1p-10, 0x1p-24, 65504},
                            {DType::kBF16, 0x1p-7, 0x1p-133, 3.3e38}};

struct Tried {
  int gradients = 0;
  std::map<std::string, int> functions;
};

// The slope of Tanh is made of the rounded result's distance from 1, which is
// known to a unit.
bool Saturates(const Use& use) { return use.function == "Tanh"; }

void TryUse(const Use& use, const Numbers& numbers, const Half& half,
            Tried* tried) {
  const FunctionEntry& function = *FindFunction(use.function);
  const auto exact = Filled(use, numbers, half.dtype, DType::kF64);
  const auto rounded = Filled(use, numbers, half.dtype, half.dtype);
  if (LargestOf(ValuesOf(function, exact, use.attributes)) > half.most) return;
  for (size_t by = 0; by < exact.size(); ++by) {
    if (!IsFloats(use.arguments[by])) continue;
    const auto want = GradientOf(function, exact, use.attributes, by);
    if (!want.has_value()) continue;
    const double size = LargestOf(*want);
    if (size > half.most / 8) continue;
    const auto got = GradientOf(function, rounded, use.attributes, by);
    if (!got.has_value()) continue;  // not of this dtype
    ++tried->gradients;
    ++tried->functions[std::string(use.function)];
    ASSERT_EQ(got->size(), want->size());
    const double of = Saturates(use) ? 1 : size;
    const double bound = kUnitsOfTable * (half.unit * of + half.least);
    for (size_t i = 0; i < want->size(); ++i) {
      EXPECT_NEAR((*got)[i], (*want)[i], bound)
          << use.function << " by argument " << by << ", entry " << i << ", of "
          << numbers.name << " numbers in " << DTypeName(half.dtype);
    }
  }
}

TEST(HalfGradientsOfTheTable, AreThoseOfF64) {
  Tried tried;
  for (const Use& use : Uses()) {
    for (const Numbers& numbers : SetsOfNumbers()) {
      for (const Half& half : kHalves) TryUse(use, numbers, half, &tried);
    }
  }
  std::cout << tried.gradients << " gradients of halves of "
            << tried.functions.size() << " functions of the table\n";
  EXPECT_GT(tried.functions.size(), 60u);
}

}  // namespace
}  // namespace hawser
