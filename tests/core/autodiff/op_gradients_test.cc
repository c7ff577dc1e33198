// Every gradient rule of the registry against finite differences in f64 and
// c128, its own gradient too, and the other dtypes against those. Formulas, which
// are differentiated as they stand, likewise, also where their branches meet.
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "core/ops/formulas/formulas.h"
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

// ---- formulas --------------------------------------------------------------

using Z = std::complex<double>;

Module FormulaModule(const Formula& formula, const Literal& x) {
  return ModuleOf({x}, [&](ComputationBuilder& b, absl::Span<const ValueId> p) {
    Monoids monoids;
    ExpressionScope scope{b, monoids};
    return std::vector<ValueId>{
        Computed(formula, Expression(&scope, p[0])).value()};
  });
}

void ExpectSlopes(const Formula& formula, const Literal& x) {
  SCOPED_TRACE(std::string(formula.name));
  const Tolerance tolerance{.atol = 3e-8, .rtol = 3e-8};
  Module module = WithObjective(FormulaModule(formula, x));
  for (int order = 1; order <= 2; ++order) {
    ASSERT_OK_AND_ASSIGN(const auto got, GradientAt(module, {x}));
    ASSERT_OK_AND_ASSIGN(const auto want, DifferencesAt(module, {x}, {0}));
    EXPECT_THAT(got[0], LiteralNear(want[0], tolerance)) << "order " << order;
    const int values = static_cast<int>(module.signature().results.size());
    auto next = ValueAndGradient(module, {});
    ASSERT_OK(next);
    module = WithObjective(*next, values);
  }
}

template <typename T>
Literal VectorOf(const std::vector<T>& values) {
  return Literal::Of<T>(absl::MakeConstSpan(values),
                        {static_cast<int64_t>(values.size())});
}

struct FormulaPoints {
  const Formula& formula;
  std::vector<double> x;
};

TEST(FormulaGradients, OfReals) {
  const FormulaPoints all[] = {
      {kAcos, {-0.9, 0, 0.25, 0.5}},
      {kAcosh, {1.5, 3, 10}},
      {kAsin, {-0.9, 0, 0.25, 0.5}},
      {kAsinh, {-3, -0.25, 0.5, 7}},
      {kAtan, {-3, 0, 0.25, 7}},
      {kAtanh, {-0.75, -0.25, 0, 0.5}},
      {kBesselI0e, {-9, -3, 0.5, 7.5, 8.5, 30}},
      {kBesselI1e, {-9, -3, 0.5, 7.5, 8.5, 30}},
      {kCosh, {-3, -0.25, 0.5, 7}},
      {kDigamma, {0.25, 0.75, 1, 2, 3, 10.5, -0.75, -2.25}},
      {kErfInv, {-0.95, -0.5, -0.1, 0.25, 0.75, 0.9}},
      {kSinh, {-3, -0.25, 0.5, 7}},
  };
  ASSERT_EQ(std::size(all), std::size(kFormulas));
  for (const FormulaPoints& p : all) {
    ExpectSlopes(p.formula, VectorOf(p.x));
  }
}

TEST(FormulaGradients, OfComplexNumbers) {
  const std::vector<Z> points = {{0.5, 0.25}, {-0.75, 0.5}, {0.25, -1.5}};
  for (const Formula* formula : kFormulas) {
    if (formula->complex == nullptr) continue;
    ExpectSlopes(*formula, VectorOf(points));
  }
}

std::vector<double> SlopesOf(const Formula& formula,
                             std::vector<double> points) {
  const Literal x = VectorOf(points);
  const auto got = GradientAt(WithObjective(FormulaModule(formula, x)), {x});
  EXPECT_OK(got);
  const auto slopes = (*got)[0].data<double>();
  return {slopes.begin(), slopes.end()};
}

// The objective's weights differ, so each point stands alone.
double SlopeAt(const Formula& formula, double x) {
  const double weight = SlopesOf(kAtan, {0})[0];
  return SlopesOf(formula, {x})[0] / weight;
}

TEST(FormulaGradients, AtZeroAndFarOut) {
  EXPECT_EQ(SlopeAt(kSinh, 0), 1);
  EXPECT_EQ(SlopeAt(kSinh, -0.0), 1);
  EXPECT_EQ(SlopeAt(kCosh, 0), 0);
  EXPECT_EQ(SlopeAt(kAsinh, 0), 1);
  EXPECT_NEAR(SlopeAt(kAsinh, 1e300), 1e-300, 1e-310);
  EXPECT_NEAR(SlopeAt(kAcosh, 1e300), 1e-300, 1e-310);
  EXPECT_NEAR(SlopeAt(kErfInv, 0), 0.88622692545275801, 1e-15);
  EXPECT_NEAR(SlopeAt(kBesselI1e, 0), 0.5, 1e-15);
  EXPECT_NEAR(SlopeAt(kBesselI0e, 0), -1, 1e-15);
  EXPECT_NEAR(SlopeAt(kBesselI0e, 1e6), -1.9947e-10, 1e-13);
}

// On the real axis, on either side of which a zero's sign is.
TEST(FormulaGradients, OfRealsAmongComplexNumbers) {
  const Literal x = Literal::Vector<Z>({Z(0.5, 0.0), Z(0.5, -0.0)});
  for (const Formula* formula : {&kAsin, &kAcos, &kAtan, &kAsinh, &kAtanh}) {
    SCOPED_TRACE(std::string(formula->name));
    ASSERT_OK_AND_ASSIGN(const auto got,
                         GradientAt(WithObjective(FormulaModule(*formula, x)), {x}));
    const auto reals = SlopesOf(*formula, {0.5, 0.5});
    // The objective weighs a number's parts alike.
    ASSERT_OK_AND_ASSIGN(
        const auto weights,
        GradientAt(WithObjective(FormulaModule(kAtanh, Literal::Vector<Z>({0, 0}))),
                   {Literal::Vector<Z>({0, 0})}));
    for (size_t i = 0; i < 2; ++i) {
      const Z unit = weights[0].data<Z>()[i];
      const double slope = reals[i] / SlopesOf(kAtan, {0, 0})[i];
      EXPECT_LT(std::abs(got[0].data<Z>()[i] - slope * unit), 1e-14) << i;
    }
  }
}

}  // namespace
}  // namespace hawser
