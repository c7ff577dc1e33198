// Every gradient rule of the registry against finite differences in f64 and
// c128, its own gradient too, and the other dtypes against those.
#include <algorithm>
#include <string>
#include <vector>

#include "core/ops/registry.h"
#include "tests/core/autodiff/differentiate.h"
#include "tests/core/autodiff/op_cases.h"

namespace hawser {
namespace {

std::vector<const OpDef*> OpsWithRules() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : AllOps()) {
    if (op->gradient.kind == GradientDef::kRule) ops.push_back(op);
  }
  return ops;
}

class OpGradients : public testing::TestWithParam<const OpDef*> {
 protected:
  // The gradient of `module`'s result 0 against its differences.
  static void Check(const Module& module, const OpCase& c) {
    ASSERT_OK_AND_ASSIGN(const auto got,
                         GradientAt(module, c.arguments, c.by));
    ASSERT_OK_AND_ASSIGN(const auto want,
                         DifferencesAt(module, c.arguments, c.by));
    for (size_t i = 0; i < got.size(); ++i) {
      const Tolerance tolerance{.atol = 2e-8, .rtol = 2e-8};
      EXPECT_THAT(got[i], LiteralNear(want[i], tolerance))
          << "by parameter " << c.by[i];
    }
  }
};

TEST_P(OpGradients, AgreesWithFiniteDifferences) {
  for (DType dtype : {DType::kF64, DType::kC128}) {
    for (const OpCase& c : CasesOf(*GetParam(), dtype)) {
      SCOPED_TRACE(std::string(DTypeName(dtype)) + " " + c.name);
      Check(WithObjective(c.module), c);
    }
  }
}

TEST_P(OpGradients, CanBeDifferentiatedAgain) {
  for (DType dtype : {DType::kF64, DType::kC128}) {
    for (const OpCase& c : CasesOf(*GetParam(), dtype)) {
      SCOPED_TRACE(std::string(DTypeName(dtype)) + " " + c.name);
      const Module once = WithObjective(c.module);
      const int values = static_cast<int>(once.signature().results.size());
      auto gradient = ValueAndGradient(once, {.parameters = c.by});
      ASSERT_OK(gradient);
      Check(WithObjective(*gradient, values), c);
    }
  }
}

// How far one rounding of each value on the way may lead.
double RoundingOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 1e-2;
    case DType::kBF16:
      return 8e-2;
    default:
      return 2e-5;
  }
}

double Largest(const Literal& literal) {
  double largest = 1;
  if (literal.shape().dtype() == DType::kC128) {
    for (auto v : literal.data<std::complex<double>>()) {
      largest = std::max(largest, std::abs(v));
    }
  } else {
    for (double v : literal.data<double>()) {
      largest = std::max(largest, std::abs(v));
    }
  }
  return largest;
}

Literal Widened(const Literal& literal, DType to) {
  Module module = ModuleOf({literal}, [&](ComputationBuilder& b, auto p) {
    return std::vector<ValueId>{b.Add(*FindOp("convert"), p, {{"dtype", to}})};
  });
  return Evaluate(module, {literal})->at(0);
}

TEST_P(OpGradients, HasTheVariablesDType) {
  for (DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kC64}) {
    const DType wide = IsComplex(dtype) ? DType::kC128 : DType::kF64;
    const auto cases = CasesOf(*GetParam(), dtype);
    const auto exact = CasesOf(*GetParam(), wide);
    for (size_t k = 0; k < cases.size(); ++k) {
      const OpCase& c = cases[k];
      SCOPED_TRACE(std::string(DTypeName(dtype)) + " " + c.name);
      ASSERT_OK_AND_ASSIGN(
          const auto got,
          GradientAt(WithObjective(c.module), c.arguments, c.by));
      ASSERT_OK_AND_ASSIGN(const auto want,
                           GradientAt(WithObjective(exact[k].module),
                                      exact[k].arguments, c.by));
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].shape(), c.arguments[c.by[i]].shape());
        const DType to = want[i].shape().dtype();
        const Tolerance tolerance{.atol = RoundingOf(dtype) *
                                          Largest(want[i])};
        EXPECT_THAT(Widened(got[i], to), LiteralNear(want[i], tolerance));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Registry, OpGradients, testing::ValuesIn(OpsWithRules()),
    [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hawser
