// Gradients where a function has no derivative, or where formulas would divide
// zero by zero: what hawser says there (Nx's conventions).
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "tests/core/autodiff/differentiate.h"

namespace hawser {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Ids = absl::Span<const ValueId>;

Literal F64(std::initializer_list<double> values) {
  return Literal::Vector<double>(values);
}

// The derivatives of the sum of op's result by all arguments.
std::vector<Literal> Gradients(const OpDef& op, const Arguments& arguments) {
  const Module module = ModuleOf(arguments, [&](ComputationBuilder& b, Ids p) {
    return std::vector<ValueId>{b.Add(op, p)};
  });
  std::vector<int> by;
  for (size_t i = 0; i < arguments.size(); ++i) by.push_back(i);
  const auto got = GradientAt(module, arguments, by);
  EXPECT_OK(got);
  return got.value_or(std::vector<Literal>(arguments.size()));
}

Literal Gradient(const OpDef& op, const Literal& x) {
  return Gradients(op, {x})[0];
}

TEST(GradientEdges, AbsAtZeroIsOne) {
  EXPECT_THAT(Gradient(kAbs, F64({0.0, -0.0, 2, -2, kInf, -kInf})),
              LiteralEquals(F64({1, 1, 1, -1, 1, -1})));
}

TEST(GradientEdges, AbsAndSignOfComplexZeroAreZero) {
  using C = std::complex<double>;
  const Literal x = Literal::Vector<C>({0, C(3, 4)});
  EXPECT_THAT(Gradient(kAbs, x),
              LiteralNear(Literal::Vector<C>({0, C(0.6, -0.8)}),
                          Tolerance{.rtol = 1e-15}));
  // x / |x| turns only: by 3 + 4i, Im((3 + 4i)) / 125 * i conj(3 + 4i).
  EXPECT_THAT(Gradient(kSign, x),
              LiteralNear(Literal::Vector<C>({0, C(0.128, 0.096)}),
                          Tolerance{.rtol = 1e-14}));
}

TEST(GradientEdges, RootsAndLogarithmsAtZeroAreIeee) {
  EXPECT_THAT(Gradient(kSqrt, F64({0, 4, kInf})),
              LiteralEquals(F64({kInf, 0.25, 0})));
  EXPECT_THAT(Gradient(kSqrt, F64({-1})), LiteralEquals(F64({kNaN})));
  EXPECT_THAT(Gradient(kRsqrt, F64({0, 4})),
              LiteralEquals(F64({-kInf, -1.0 / 16})));
  EXPECT_THAT(Gradient(kCbrt, F64({0.0, -0.0, -8, kInf})),
              LiteralEquals(F64({kInf, kInf, 1.0 / 12, 0})));
  EXPECT_THAT(Gradient(kLog, F64({0.0, -0.0, -2})),
              LiteralEquals(F64({kInf, -kInf, -0.5})));
  EXPECT_THAT(Gradient(kLogPlusOne, F64({-1})), LiteralEquals(F64({kInf})));
}

TEST(GradientEdges, SaturatedFunctionsAreFlat) {
  EXPECT_THAT(Gradient(kLogistic, F64({-800, 800, 0})),
              LiteralEquals(F64({0, 0, 0.25})));
  EXPECT_THAT(Gradient(kTanh, F64({-800, 800, 0})),
              LiteralEquals(F64({0, 0, 1})));
  EXPECT_THAT(Gradient(kExponential, F64({-kInf, 0})),
              LiteralEquals(F64({0, 1})));
}

TEST(GradientEdges, EqualOperandsShareAMaximum) {
  const Literal x = F64({1, 2, 3, 0.0}), y = F64({1, 3, 2, -0.0});
  for (const OpDef* op : {&kMaximum, &kMinimum}) {
    const auto g = Gradients(*op, {x, y});
    const double x_less = op == &kMaximum ? 0 : 1;
    EXPECT_THAT(g[0], LiteralEquals(F64({0.5, x_less, 1 - x_less, 0.5})));
    EXPECT_THAT(g[1], LiteralEquals(F64({0.5, 1 - x_less, x_less, 0.5})));
  }
}

TEST(GradientEdges, PowerWhereAFactorIsZero) {
  const Literal x = F64({0, 0, 0, 0, 2, -2, 0, 4});
  const Literal y = F64({0, 1, 2, 0.5, 0, 3, -1, 0.5});
  const auto g = Gradients(kPower, {x, y});
  EXPECT_THAT(g[0], LiteralNear(F64({0, 1, 0, kInf, 0, 12, -kInf, 0.25}),
                                Tolerance{.rtol = 1e-15}));
  // log(0) is taken for 0 and log(-2) is NaN.
  EXPECT_THAT(g[1],
              LiteralNear(F64({0, 0, 0, 0, std::log(2.0), kNaN, kNaN,
                               2 * std::log(4.0)}),
                          Tolerance{.rtol = 1e-15}));
}

TEST(GradientEdges, DivisionByZeroIsIeee) {
  const auto g = Gradients(kDivide, {F64({1, 0, -1}), F64({0, 0, 0})});
  EXPECT_THAT(g[0], LiteralEquals(F64({kInf, kInf, kInf})));
  EXPECT_THAT(g[1], LiteralEquals(F64({-kInf, kNaN, kInf})));
}

TEST(GradientEdges, RemainderTruncatesTheQuotient) {
  const auto g = Gradients(kRemainder, {F64({7, -7, 7, -7, 6, 1e17}),
                                        F64({3, 3, -3, -3, 3, 3})});
  EXPECT_THAT(g[0], LiteralEquals(F64({1, 1, 1, 1, 1, 1})));
  EXPECT_THAT(g[1], LiteralNear(F64({-2, 2, 2, -2, -2, -1e17 / 3}),
                                Tolerance{.rtol = 1e-15}));
}

TEST(GradientEdges, ClampAtItsBoundsBelongsToTheOperand) {
  const auto g = Gradients(
      kClamp, {Literal::Scalar(-1.0), F64({-2, -1, 0, 1, 2, -3}),
               Literal::Scalar(1.0)});
  EXPECT_THAT(g[0], LiteralEquals(Literal::Scalar(2.0)));
  EXPECT_THAT(g[1], LiteralEquals(F64({0, 1, 1, 1, 0, 0})));
  EXPECT_THAT(g[2], LiteralEquals(Literal::Scalar(1.0)));
}

TEST(GradientEdges, ClampWithCrossedBoundsBelongsToTheUpper) {
  const auto g = Gradients(kClamp, {Literal::Scalar(2.0), F64({0, 1, 3}),
                                    Literal::Scalar(1.0)});
  EXPECT_THAT(g[0], LiteralEquals(Literal::Scalar(0.0)));
  EXPECT_THAT(g[1], LiteralEquals(F64({0, 0, 0})));
  EXPECT_THAT(g[2], LiteralEquals(Literal::Scalar(3.0)));
}

// ---- reductions -----------------------------------------------------------

Literal ReducedGradient(const OpDef& op, double initial, const Literal& x,
                        Dims axes) {
  const Module module = ModuleOf({x}, [&](ComputationBuilder& b, Ids p) {
    const std::vector<Shape> scalars(2, Shape::Scalar(DType::kF64));
    const int fold = AddComputation(
        b.module(), "fold", scalars, [&](ComputationBuilder& f, Ids q) {
          return std::vector<ValueId>{f.Add(op, q)};
        });
    return std::vector<ValueId>{
        b.Add(kReduce, {p[0], b.Constant(Literal::Scalar(initial))},
              {{"dimensions", axes}}, {fold})};
  });
  const auto got = GradientAt(module, {x});
  EXPECT_OK(got);
  return got.ok() ? got->at(0) : Literal();
}

TEST(GradientEdges, TiesShareAnExtremeEqually) {
  EXPECT_THAT(ReducedGradient(kMaximum, -kInf, F64({1, 3, 3, 2, 3}), {0}),
              LiteralNear(F64({0, 1. / 3, 1. / 3, 0, 1. / 3}),
                          Tolerance{.rtol = 1e-15}));
  const Literal x = Literal::Of<double>({1, 1, 2, 3, 0, 0}, {2, 3});
  EXPECT_THAT(ReducedGradient(kMinimum, kInf, x, {1}),
              LiteralEquals(Literal::Of<double>({0.5, 0.5, 0, 0, 0.5, 0.5},
                                                {2, 3})));
}

TEST(GradientEdges, ProductsWithZerosAreExact) {
  EXPECT_THAT(ReducedGradient(kMultiply, 1, F64({2, 0, 3}), {0}),
              LiteralEquals(F64({0, 6, 0})));
  EXPECT_THAT(ReducedGradient(kMultiply, 1, F64({2, 0, 3, 0}), {0}),
              LiteralEquals(F64({0, 0, 0, 0})));
  EXPECT_THAT(ReducedGradient(kMultiply, 1, F64({5}), {0}),
              LiteralEquals(F64({1})));
  // No quotient of the whole product, which overflows.
  EXPECT_THAT(ReducedGradient(kMultiply, 1, F64({1e200, 1e200, 1e-200}), {0}),
              LiteralNear(F64({1, 1, kInf}), Tolerance{.rtol = 1e-15}));
}

TEST(GradientEdges, TheSecondDerivativeOfAProductAtTwoZeros) {
  const Literal x = F64({0, 0, 3});
  const Module product = ModuleOf({x}, [](ComputationBuilder& b, Ids p) {
    const std::vector<Shape> scalars(2, Shape::Scalar(DType::kF64));
    const int fold = AddComputation(
        b.module(), "fold", scalars, [](ComputationBuilder& f, Ids q) {
          return std::vector<ValueId>{f.Add(kMultiply, q)};
        });
    return std::vector<ValueId>{
        b.Add(kReduce, {p[0], b.Constant(Literal::Scalar(1.0))},
              {{"dimensions", Dims{0}}}, {fold})};
  });
  ASSERT_OK_AND_ASSIGN(const Module once, ValueAndGradient(product));
  // The sum of the gradients is x1 x2 + x0 x2 + x0 x1.
  ASSERT_OK_AND_ASSIGN(const Module twice,
                       ValueAndGradient(once, {.result = 1}));
  ASSERT_OK_AND_ASSIGN(const auto results, Evaluate(twice, {x}));
  EXPECT_THAT(results[2], LiteralEquals(F64({3, 3, 0})));
}

// ---- movement -------------------------------------------------------------

TEST(GradientEdges, ElementsTakenTwiceAddUpAndOutsideIsClamped) {
  const Literal x = F64({1, 2, 3});
  const Module module = ModuleOf({x}, [](ComputationBuilder& b, Ids p) {
    const ValueId indices =
        b.Constant(Literal::Vector<int32_t>({1, 1, -5, 99}));
    return std::vector<ValueId>{b.Add(kGather, {p[0], indices},
                                      {{"collapsed_slice_dims", Dims{0}},
                                       {"index_vector_dim", int64_t{1}},
                                       {"offset_dims", Dims{}},
                                       {"slice_sizes", Dims{1}},
                                       {"start_index_map", Dims{0}}})};
  });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, {x}));
  EXPECT_THAT(g[0], LiteralEquals(F64({1, 2, 1})));
}

TEST(GradientEdges, TheLastOfSeveralWrittenToOnePlaceHasTheGradient) {
  const Literal x = F64({1, 2, 3}), updates = F64({7, 8, 9, 10});
  const Module module =
      ModuleOf({x, updates}, [](ComputationBuilder& b, Ids p) {
        const std::vector<Shape> scalars(2, Shape::Scalar(DType::kF64));
        const int second = AddComputation(
            b.module(), "second", scalars, [](ComputationBuilder&, Ids q) {
              return std::vector<ValueId>{q[1]};
            });
        const ValueId indices =
            b.Constant(Literal::Vector<int64_t>({1, 1, -1, 3}));
        const ValueId written =
            b.Add(kScatter, {p[0], indices, p[1]},
                  {{"index_vector_dim", int64_t{1}},
                   {"inserted_window_dims", Dims{0}},
                   {"scatter_dims_to_operand_dims", Dims{0}},
                   {"update_window_dims", Dims{}}},
                  {second});
        return std::vector<ValueId>{b.Add(kMultiply, {written, written})};
      });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, {x, updates}, {0, 1}));
  EXPECT_THAT(g[0], LiteralEquals(F64({2, 0, 6})));
  EXPECT_THAT(g[1], LiteralEquals(F64({0, 16, 0, 0})));
}

// x and updates into x by `combine` of (element, update).
Module Scattered(const Arguments& arguments, const Body& combine) {
  return ModuleOf(arguments, [&](ComputationBuilder& b, Ids p) {
    const std::vector<Shape> scalars(2, Shape::Scalar(DType::kF64));
    const int called = AddComputation(b.module(), "combine", scalars, combine);
    const ValueId indices = b.Constant(Literal::Vector<int64_t>({1, 1, 2}));
    return std::vector<ValueId>{
        b.Add(kScatter, {p[0], indices, p[1]},
              {{"index_vector_dim", int64_t{1}},
               {"inserted_window_dims", Dims{0}},
               {"scatter_dims_to_operand_dims", Dims{0}},
               {"update_window_dims", Dims{}}},
              {called})};
  });
}

TEST(GradientEdges, AScatterThatKeepsItsElementsPassesTheGradientOn) {
  const Arguments arguments = {F64({1, 2, 3}), F64({7, 8, 9})};
  const Module module =
      Scattered(arguments, [](ComputationBuilder&, Ids q) {
        return std::vector<ValueId>{q[0]};
      });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, arguments, {0, 1}));
  EXPECT_THAT(g[0], LiteralEquals(F64({1, 1, 1})));
  EXPECT_THAT(g[1], LiteralEquals(F64({0, 0, 0})));
}

TEST(GradientEdges, AScatterThatMultipliesHasNoGradientByItsUpdates) {
  const Arguments arguments = {F64({1, 2, 3}), F64({7, 8, 9})};
  const Module module =
      Scattered(arguments, [](ComputationBuilder& b, Ids q) {
        return std::vector<ValueId>{b.Add(kMultiply, q)};
      });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, arguments));
  EXPECT_THAT(g[0], LiteralEquals(F64({1, 56, 9})));
  EXPECT_THAT(GradientAt(module, arguments, {1}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "scatter: the gradient by updates that are multiplied"));
}

TEST(GradientEdges, AScatterByAnotherComputationHasNoGradient) {
  const Arguments arguments = {F64({1, 2, 3}), F64({7, 8, 9})};
  const Module module =
      Scattered(arguments, [](ComputationBuilder& b, Ids q) {
        return std::vector<ValueId>{b.Add(kAtan2, q)};
      });
  EXPECT_THAT(GradientAt(module, arguments),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "the gradient of a scatter by computation \"combine\""));
}

TEST(GradientEdges, SelectTakesNoGradientFromTheOtherSide) {
  const Literal x = F64({-4, 4});
  const Module module = ModuleOf({x}, [&](ComputationBuilder& b, Ids p) {
    const ValueId zero = b.Constant(F64({0, 0}));
    const ValueId positive =
        b.Add(kCompare, {p[0], zero}, {{"direction", std::string("GT")}});
    return std::vector<ValueId>{b.Add(kSelect, {positive, p[0], zero})};
  });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, {x}));
  EXPECT_THAT(g[0], LiteralEquals(F64({0, 1})));
}

// Of 257 times the product in f32: the cotangent is no bf16, nor is 771; the
// gradient is rounded once.
TEST(GradientEdges, OfAProductInAWiderDTypeIsRoundedOnce) {
  const Literal x = Values(DType::kBF16, {1.0}),
                y = Values(DType::kBF16, {3.0});
  const Module module = ModuleOf({x, y}, [&](ComputationBuilder& b, Ids p) {
    const ValueId product = b.Add(kDotGeneral, p,
                                  {{"lhs_batching_dimensions", Dims{}},
                                   {"lhs_contracting_dimensions", Dims{0}},
                                   {"result_dtype", DType::kF32},
                                   {"rhs_batching_dimensions", Dims{}},
                                   {"rhs_contracting_dimensions", Dims{0}}});
    const ValueId scale = b.Constant(Literal::Scalar(257.0f));
    return std::vector<ValueId>{b.Add(kMultiply, {product, scale})};
  });
  ASSERT_OK_AND_ASSIGN(const auto got, GradientAt(module, {x, y}, {0, 1}));
  EXPECT_THAT(got[0], LiteralEquals(Values(DType::kBF16, {772.0})));
  EXPECT_THAT(got[1], LiteralEquals(Values(DType::kBF16, {256.0})));
}

TEST(GradientEdges, ThroughIntegersNothingComesBack) {
  const Literal x = F64({1.5, -2.5});
  const Module module = ModuleOf({x}, [](ComputationBuilder& b, Ids p) {
    const ValueId whole = b.Add(kConvert, p, {{"dtype", DType::kS32}});
    const ValueId back = b.Add(kConvert, {whole}, {{"dtype", DType::kF64}});
    return std::vector<ValueId>{b.Add(kMultiply, {back, p[0]})};
  });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, {x}));
  EXPECT_THAT(g[0], LiteralEquals(F64({1, -2})));
}

TEST(GradientEdges, FlatOpsHaveZeros) {
  for (const OpDef* op : {&kFloor, &kCeil, &kRoundNearestEven,
                          &kRoundNearestAfz, &kSign, &kStopGradient}) {
    EXPECT_THAT(Gradient(*op, F64({1.5, -0.25})), LiteralEquals(F64({0, 0})))
        << op->name;
  }
}

}  // namespace
}  // namespace hawser
