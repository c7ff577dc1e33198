// Which tails a product takes along, and what they are called.
#include "kernels/plan/region/epilogue.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

// Of the product [4,6] and the parameters bias [6], residual [4,6], column [4],
// bias as a row [1,6], a number, bias in f32 [6].
using Tail = std::function<Values(const Expression& x, const Values& p)>;
enum { kBias, kResidual, kColumn, kRow, kNumber, kF32Bias };

Target Table() { return GpuTarget(); }
Target Any() {
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kAny;
  return target;
}

// The steps: "dot with bias 2 relu; loop" for a product and what follows it,
// bias and residual with the operands they are.
std::string StepsOf(const Module& module, const Target& target) {
  const auto plan = MakePlan(module, target);
  EXPECT_OK(plan);
  if (!plan.ok()) return "";
  std::string text;
  for (const Region& r : plan->entry().regions) {
    if (r.launches == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ");
    if (r.kind != RegionKind::kLibraryDot) {
      absl::StrAppend(&text, RegionKindName(r.kind));
      continue;
    }
    const Epilogue& e = r.epilogue;
    constexpr const char* kNames[] = {"", " relu", " gelu", " other"};
    absl::StrAppend(&text, "dot", e.present ? " with" : "");
    if (e.bias_operand >= 0) absl::StrAppend(&text, " bias ", e.bias_operand);
    if (e.residual_operand >= 0) {
      absl::StrAppend(&text, " residual ", e.residual_operand);
    }
    absl::StrAppend(&text, kNames[static_cast<int>(e.activation)]);
  }
  return text;
}
std::string StepsOf(const Tail& tail, const Target& target = Table(),
                    DType dtype = DType::kF32) {
  std::vector<Shape> parameters =
      testing::ShapesOf(dtype, {{4, 3}, {3, 6}, {6}, {4, 6}, {4}, {1, 6}, {}});
  parameters.push_back(Shape::Of(DType::kF32, {6}));
  return StepsOf(testing::ExpressionModule(
                     parameters,
                     [&](const Values& all) {
                       return tail(Product(all[0], all[1]),
                                   Values(all.begin() + 2, all.end()));
                     }),
                 target);
}
std::string StepsOf(
    const std::function<Expression(const Expression& x, const Values& p)>& tail,
    const Target& target = Table(), DType dtype = DType::kF32) {
  return StepsOf(Tail([&](const Expression& x, const Values& p) {
                   return Values{tail(x, p)};
                 }),
                 target, dtype);
}

Expression Wide(const Expression& row) { return Spread(row, {4, 6}, {0}); }
Expression Relu(const Expression& x) {
  return Apply(kMaximum, {x, Like(x, 0)});
}

TEST(Tails, BiasesAndResiduals) {
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return x; }), "dot");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return x + Wide(p[kBias]); }),
            "dot with bias 2");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return Wide(p[kBias]) + x; }),
            "dot with bias 2");
  // A row that says that it is one.
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return x + Apply(kBroadcastInDim, {p[kRow]},
                               {{"broadcast_dimensions", Dims{0, 1}},
                                {"dims", Dims{4, 6}}});
            }),
            "dot with bias 2");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return x + p[kResidual]; }),
            "dot with residual 2");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return x + Wide(p[kBias]) + p[kResidual];
            }),
            "dot with bias 2 residual 3");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return p[kResidual] + (x + Wide(p[kBias]));
            }),
            "dot with bias 2 residual 3");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return x + p[kResidual] + Wide(p[kBias]);
            }),
            "dot with bias 2 residual 3");
  // A number is neither.
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return x + 1.0; }), "dot; loop");
  // There is room for one of each.
  EXPECT_EQ(
      StepsOf([](auto& x, auto& p) { return x + p[kResidual] + p[kResidual]; }),
      "dot with residual 2; loop");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return x + Wide(p[kBias]) + Wide(p[kBias]);
            }),
            "dot with bias 2; loop");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return x * p[kResidual]; }),
            "dot; loop");
}

TEST(Tails, Relu) {
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return Relu(x); }), "dot with relu");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return Apply(kMaximum, {Like(x, 0), x});
            }),
            "dot with relu");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return Relu(x + Wide(p[kBias]) + p[kResidual]);
            }),
            "dot with bias 2 residual 3 relu");
  for (const double other : {-1.0, 1.0, 1e-9}) {
    EXPECT_EQ(StepsOf([&](auto& x, auto& p) {
                return Apply(kMaximum, {x, Like(x, other)});
              }),
              "dot; loop")
        << other;
  }
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return Apply(kMinimum, {x, Like(x, 0)});
            }),
            "dot; loop");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return Apply(kMaximum, {x, p[kResidual]});
            }),
            "dot; loop");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return Relu(Apply(kTanh, {x})); }),
            "dot; loop");
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              return Apply(kMaximum, {Like(x, 0), Apply(kTanh, {x})});
            }),
            "dot; loop");
  // A number of another dtype is one as well.
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              const Expression zero =
                  Filled(x.scope(), Shape::Of(DType::kBF16, x.dims()), 0);
              return Apply(kMaximum, {x, ConvertTo(zero, DType::kF32)});
            }),
            "dot with relu");
  // A number is seen through seven moves, the broadcast among them.
  for (const int moves : {6, 7}) {
    EXPECT_EQ(StepsOf([&](auto& x, auto& p) {
                Expression zero = Like(x, 0);
                for (int k = 0; k < moves; ++k)
                  zero = Apply(kReshape, {zero}, {{"dims", Dims{4, 6}}});
                return Apply(kMaximum, {x, zero});
              }),
              moves == 6 ? "dot with relu" : "dot; loop");
  }
  // Of something else than the product.
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return x + Relu(p[kResidual]); }),
            "dot; loop");
}

struct Gelu {
  double half = 0.5, one = 1, slope = 0.7978845608, cubic = 0.044715;
  int powers = 3;
  bool turned = false;  // every sum and product the other way round
};
Expression GeluOf(const Expression& x, const Gelu& g) {
  const auto add = [&](const Expression& a, const Expression& b) {
    return g.turned ? b + a : a + b;
  };
  const auto times = [&](const Expression& a, const Expression& b) {
    return g.turned ? b * a : a * b;
  };
  Expression power = x;
  for (int k = 1; k < g.powers; ++k) power = times(power, x);
  const Expression inner = add(x, times(Like(x, g.cubic), power));
  const Expression gate =
      add(Like(x, g.one), Apply(kTanh, {times(Like(x, g.slope), inner)}));
  return times(times(Like(x, g.half), x), gate);
}

TEST(Tails, GeluByItsNumbersInAnyOrder) {
  const auto steps = [](const Gelu& g) {
    return StepsOf([&](auto& x, auto& p) { return GeluOf(x, g); });
  };
  EXPECT_EQ(steps({}), "dot with gelu");
  EXPECT_EQ(steps({.turned = true}), "dot with gelu");
  EXPECT_EQ(
      StepsOf([](auto& x, auto& p) { return GeluOf(x + Wide(p[kBias]), {}); }),
      "dot with bias 2 gelu");
  for (const Gelu& other :
       {Gelu{.half = 0.4}, Gelu{.half = 0.6}, Gelu{.one = 2}, Gelu{.one = 0.5},
        Gelu{.slope = 0.79}, Gelu{.slope = 0.8}, Gelu{.cubic = 0.0446},
        Gelu{.cubic = 0.0448}, Gelu{.powers = 2}, Gelu{.powers = 4}}) {
    EXPECT_EQ(steps(other), "dot; loop")
        << other.half << other.one << other.slope << other.cubic
        << other.powers;
  }
}

// Not once x, with something more, or of something else.
TEST(Tails, GeluIsOfTheProductAlone) {
  const auto with = [](const auto& change) {
    return StepsOf([&](auto& x, auto& p) { return change(x, p); });
  };
  EXPECT_EQ(with([](auto& x, auto& p) { return GeluOf(x, {}) * x; }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) { return GeluOf(x, {}) * p[kResidual]; }),
            "dot with gelu; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              return Apply(kMultiply, {x, GeluOf(p[kResidual], {})});
            }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              const Expression gate = Apply(kTanh, {x}) + 1.0;
              return 0.5 * x * gate;
            }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              const Expression gate =
                  Apply(kTanh, {0.7978845608 * (x * x)}) + 1.0;
              return 0.5 * x * gate;
            }),
            "dot; loop");
}

// Three factors, of which one is another.
TEST(Tails, GeluHasAllItsFactors) {
  const auto with = [](const auto& change) {
    return StepsOf([&](auto& x, auto& p) { return change(x, p); });
  };
  EXPECT_EQ(with([](auto& x, auto& p) { return 0.5 * x; }), "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) { return 0.5 * (x * p[kResidual]); }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) { return 0.5 * (p[kResidual] * x); }),
            "dot; loop");
  const auto gate = [](auto& x, const OpDef& op) {
    const Expression inner = x + 0.044715 * (x * x * x);
    return Apply(op, {0.7978845608 * inner}) + 1.0;
  };
  EXPECT_EQ(with([&](auto& x, auto& p) {
              return 0.5 * (p[kResidual] * gate(x, kTanh));
            }),
            "dot; loop");
  EXPECT_EQ(with([&](auto& x, auto& p) {
              return 0.5 * (gate(x, kTanh) * p[kResidual]);
            }),
            "dot; loop");
  EXPECT_EQ(with([&](auto& x, auto& p) { return 0.5 * (x * gate(x, kSine)); }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) { return 0.5 * x * Apply(kTanh, {x}); }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              const Expression turned = Apply(kNegate, {x});
              return 0.5 * x * (Apply(kTanh, {0.7978845608 * turned}) + 1.0);
            }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              const Expression inner =
                  x + 0.044715 * (x * x * Apply(kTanh, {x}));
              return 0.5 * x * (Apply(kTanh, {0.7978845608 * inner}) + 1.0);
            }),
            "dot; loop");
  EXPECT_EQ(
      with([](auto& x, auto& p) {
        const Expression inner = (x + 0.044715 * (x * x * x)) * p[kResidual];
        const Expression gate = Apply(kTanh, {0.7978845608 * inner}) + 1.0;
        return 0.5 * x * gate;
      }),
      "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              const Expression inner = p[kResidual] + p[kResidual];
              const Expression gate =
                  Apply(kTanh, {0.7978845608 * inner}) + 1.0;
              return 0.5 * x * gate;
            }),
            "dot; loop");
  EXPECT_EQ(with([](auto& x, auto& p) {
              const Expression gate =
                  Apply(kTanh, {Like(x, 0.7978845608)}) + 1.0;
              return 0.5 * x * gate;
            }),
            "dot; loop");
}

// As far off as rounding makes the numbers, and no farther.
TEST(Tails, NumbersOfGeluAreAsNearAsTheyAreRounded) {
  const auto steps = [](double off, DType dtype) {
    return StepsOf(
        [&](auto& x, auto& p) { return GeluOf(x, {.half = 0.5 * (1 + off)}); },
        Table(), dtype);
  };
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_EQ(steps(sign / (1 << 14), DType::kF32), "dot with gelu");
    EXPECT_EQ(steps(sign / (1 << 13), DType::kF32), "dot; loop");
    EXPECT_EQ(steps(sign / (1 << 9), DType::kF16), "dot with gelu");
    EXPECT_EQ(steps(sign / (1 << 8), DType::kF16), "dot; loop");
  }
  EXPECT_EQ(steps(0, DType::kBF16), "dot with gelu");
}

TEST(Tails, GeluHasAtMostEightFactors) {
  for (const int more : {5, 6}) {
    EXPECT_EQ(StepsOf([&](auto& x, auto& p) {
                Expression y = GeluOf(x, {});
                for (int k = 0; k < more; ++k) y = 1.0 * y;
                return y;
              }),
              more == 5 ? "dot with gelu" : "dot with gelu; loop")
        << more;
  }
}

// A library adds what is there: a view is, the rest is made before. It would
// add nothing if the product's step were to compute it.
TEST(Tails, WhatIsAddedIsAnOperand) {
  const auto steps = [](const std::function<Expression(const Values&)>& added,
                        const Target& target = Table()) {
    Module module = testing::ExpressionModule(
        testing::ShapesOf(DType::kF32, {{4, 3}, {3, 6}, {24}, {1, 1, 6}, {4}}),
        [&](const Values& p) {
          const Expression other = added(p);
          return Values{Product(p[0], p[1]) + other};
        });
    return StepsOf(module, target);
  };
  const auto iota = [](const Values& p, const Dims& dims) {
    return Expression(p[0].scope(), p[0].scope()->builder.Add(
                                        kIota, {},
                                        {{"dtype", DType::kF32},
                                         {"dims", dims},
                                         {"iota_dimension", int64_t{0}}}));
  };
  const auto view = [](const Values& p) { return Reshaped(p[2], {4, 6}); };
  const auto row = [](const Values& p) { return Wide(Reshaped(p[3], {6})); };
  EXPECT_EQ(steps(view), "dot with residual 2");
  EXPECT_EQ(steps(row), "dot with bias 2");
  EXPECT_EQ(steps([&](const Values& p) {
              return iota(p, {4, 6});
            }),
            "loop; dot with residual 2");
  EXPECT_EQ(steps([&](const Values& p) { return Wide(iota(p, {6})); }),
            "loop; dot with bias 2");
  EXPECT_EQ(steps([](const Values& p) {
              return Spread(p[4], {4, 6}, {1});
            }),
            "loop; dot with residual 2");
  // Of a number for one column the inner broadcast is made before.
  EXPECT_EQ(StepsOf(testing::ExpressionModule(
                        testing::ShapesOf(DType::kF32, {{4, 3}, {3, 1}, {}}),
                        [](const Values& p) {
                          const Expression one = Spread(p[2], {1}, {0});
                          const Expression column = Spread(one, {4, 1}, {0});
                          return Values{Product(p[0], p[1]) + column};
                        }),
                    Table()),
            "loop; dot with bias 2");
  // Who takes anything computes it there, and says so.
  EXPECT_EQ(steps(view, Any()), "dot with other");
  EXPECT_EQ(steps(row, Any()), "dot with other");
}

// A number, or one value per row, is no list of one per column.
TEST(Tails, BiasesOfVectorsAndNumbers) {
  const auto steps = [](const std::vector<Dims>& dims,
                        const Dims& broadcast_dimensions) {
    Module module = testing::ExpressionModule(
        testing::ShapesOf(DType::kF32, dims), [&](const Values& p) {
          const Expression d = Apply(kDotGeneral, {p[0], p[1]},
                                     {{"lhs_batching_dimensions", Dims{}},
                                      {"lhs_contracting_dimensions", Dims{0}},
                                      {"rhs_batching_dimensions", Dims{}},
                                      {"rhs_contracting_dimensions", Dims{0}}});
          return Values{d +
                        Apply(kBroadcastInDim, {p[2]},
                              {{"broadcast_dimensions", broadcast_dimensions},
                               {"dims", d.dims()}})};
        });
    return StepsOf(module, Table());
  };
  EXPECT_EQ(steps({{3}, {3, 6}, {6}}, {0}), "dot with bias 2");
  EXPECT_EQ(steps({{3}, {3, 6}, {1}}, {0}), "dot; loop");
  EXPECT_EQ(steps({{3}, {3}, {}}, {}), "dot; loop");
  // A product of one row is no bias of its own.
  EXPECT_EQ(StepsOf(testing::ExpressionModule(
                        testing::ShapesOf(DType::kF32, {{1, 3}, {3, 6}}),
                        [](const Values& p) {
                          const Expression d = Product(p[0], p[1]);
                          return Values{
                              d + Apply(kBroadcastInDim, {d},
                                        {{"broadcast_dimensions", Dims{0, 1}},
                                         {"dims", Dims{1, 6}}})};
                        }),
                    Table()),
            "dot; loop");
  // Larger values that a product of numbers bounds are no tail of it.
  EXPECT_EQ(StepsOf(testing::ExpressionModule(
                        testing::ShapesOf(DType::kF32, {{3}, {3}, {8}}),
                        [](const Values& p) {
                          const Expression d =
                              Apply(kDotGeneral, {p[0], p[1]},
                                    {{"lhs_batching_dimensions", Dims{}},
                                     {"lhs_contracting_dimensions", Dims{0}},
                                     {"rhs_batching_dimensions", Dims{}},
                                     {"rhs_contracting_dimensions", Dims{0}}});
                          return Values{Apply(kClamp, {d, p[2], d})};
                        }),
                    Any()),
            "dot; loop");
}

TEST(Tails, ConversionsAreLookedThrough) {
  const auto steps = [](const auto& tail, const Target& target = Table()) {
    return StepsOf([&](auto& x, auto& p) { return tail(x, p); }, target,
                   DType::kBF16);
  };
  const auto f32 = [](const Expression& x) {
    return ConvertTo(x, DType::kF32);
  };
  EXPECT_EQ(steps([&](auto& x, auto& p) { return f32(x); }), "dot with");
  EXPECT_EQ(steps([&](auto& x, auto& p) { return f32(Relu(x)); }),
            "dot with relu");
  EXPECT_EQ(
      steps([&](auto& x, auto& p) { return Relu(f32(x) + Wide(p[kF32Bias])); }),
      "dot with bias 2 relu");
  EXPECT_EQ(steps([&](auto& x, auto& p) {
              return ConvertTo(Relu(f32(x)), DType::kBF16);
            }),
            "dot with relu");
}

// What is added has the dtype of what leaves; the rest is a loop behind the
// product, which hands it halves rather than floats.
TEST(DefectBiasOfAnotherDType, IsALoopBehindTheProduct) {
  const auto steps = [](const auto& tail) {
    return StepsOf([&](auto& x, auto& p) { return tail(x, p); }, Table(),
                   DType::kBF16);
  };
  const auto f32 = [](const Expression& x) {
    return ConvertTo(x, DType::kF32);
  };
  EXPECT_EQ(steps([&](auto& x, auto& p) {
              return ConvertTo(Relu(f32(x) + Wide(p[kF32Bias])), DType::kBF16);
            }),
            "dot; loop");
  EXPECT_EQ(steps([&](auto& x, auto& p) { return f32(x + Wide(p[kBias])); }),
            "dot with bias 2; loop");
  // A deliberate rounding stays one.
  EXPECT_EQ(StepsOf([&](auto& x, auto& p) {
              return f32(ConvertTo(x, DType::kBF16));
            }),
            "dot; loop");
  // No library leaves these.
  for (const DType to : {DType::kF64, DType::kF16, DType::kS32}) {
    EXPECT_EQ(steps([&](auto& x, auto& p) { return ConvertTo(x, to); }),
              "dot; loop");
  }
}

TEST(Tails, AreWhatTheLibraryTakes) {
  Target target = Table();
  target.takes_product = [](const ProductCall& call) {
    return call.activation == Activation::kIdentity;
  };
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return Relu(x + Wide(p[kBias])); },
                    target),
            "dot with bias 2; loop");
  target.takes_product = [](const ProductCall& call) {
    return !call.has_bias && !call.has_residual;
  };
  EXPECT_EQ(StepsOf([](auto& x, auto& p) { return Relu(x + Wide(p[kBias])); },
                    target),
            "dot; loop");
}

TEST(Tails, ALibraryTakesFloatsAlone) {
  const auto bias = [](auto& x, auto& p) { return x + Wide(p[kBias]); };
  EXPECT_EQ(StepsOf(bias, Table(), DType::kS32), "dot; loop");
  EXPECT_EQ(StepsOf(bias, Any(), DType::kS32), "dot with bias 2");
  Target none = Table();
  none.epilogues = EpilogueSupport::kNone;
  EXPECT_EQ(StepsOf(bias, none), "dot; loop");
}

TEST(Tails, EndWhereASecondValueLeaves) {
  EXPECT_EQ(StepsOf(Tail([](auto& x, auto& p) {
              const Expression y = x + Wide(p[kBias]);
              return Values{Relu(y), y};
            })),
            "dot with bias 2; loop");
  EXPECT_EQ(StepsOf(Tail([](auto& x, auto& p) {
                      const Expression y = x + Wide(p[kBias]);
                      return Values{Relu(y), Summed(y, {1})};
                    }),
                    Any()),
            "dot with bias 2; loop; row");
  EXPECT_EQ(StepsOf(Tail([](auto& x, auto& p) {
              return Values{x, x + Wide(p[kBias])};
            })),
            "dot; loop");
  // Two ways that meet again leave as one value.
  EXPECT_EQ(
      StepsOf([](auto& x, auto& p) { return Apply(kTanh, {x}) * x; }, Any()),
      "dot with other");
}

TEST(Tails, TakeAnythingWhereTheTargetDoes) {
  EXPECT_EQ(
      StepsOf([](auto& x, auto& p) { return Apply(kTanh, {x * p[kResidual]}); },
              Any()),
      "dot with other");
  EXPECT_EQ(StepsOf(
                [](auto& x, auto& p) {
                  return x + Spread(p[kColumn], {4, 6}, {1});
                },
                Any()),
            "dot; loop");
  // A number for all is no bias.
  EXPECT_EQ(StepsOf(
                [](auto& x, auto& p) {
                  return x + Spread(p[kNumber], {4, 6}, {0, 1});
                },
                Any()),
            "dot; loop");
  // Sizes stay what they are.
  EXPECT_EQ(StepsOf(
                [](auto& x, auto& p) {
                  return Transposed(Relu(x), {1, 0});
                },
                Any()),
            "dot with relu; loop");
}

TEST(Tails, AreNoLongerThan24WithTheProduct) {
  for (const int more : {23, 24}) {
    EXPECT_EQ(StepsOf(
                  [&](auto& x, auto& p) {
                    Expression y = x;
                    for (int k = 0; k < more; ++k) y = Apply(kNegate, {y});
                    return y;
                  },
                  Any()),
              more == 23 ? "dot with other" : "dot with other; loop");
  }
}

// The other operand is there before the product, or is a row made of what is.
TEST(Tails, ReadNothingThatWaitsForTheProduct) {
  EXPECT_EQ(StepsOf(
                [](auto& x, auto& p) {
                  const Expression row = Summed(Apply(kTanh, {x}), {0});
                  return x + Wide(row);
                },
                Any()),
            "dot; column reduction; loop");
  EXPECT_EQ(
      StepsOf([](auto& x, auto& p) { return x + Apply(kTanh, {p[kResidual]}); },
              Any()),
      "dot; loop");
}

TEST(Tails, ReadNothingThatIsMadeAfterTheProduct) {
  EXPECT_EQ(StepsOf(
                [](auto& x, auto& p) {
                  return x + Wide(Summed(p[kResidual] * p[kResidual], {0}));
                },
                Any()),
            "dot; column reduction; loop");
  // Neither as the last of several operands.
  EXPECT_EQ(
      StepsOf(
          [](auto& x, auto& p) {
            return Apply(kClamp, {Like(x, 0), x, Apply(kTanh, {p[kResidual]})});
          },
          Any()),
      "dot; loop");
  EXPECT_EQ(StepsOf(
                [](auto& x, auto& p) {
                  return Apply(kClamp,
                               {p[kResidual], x, Apply(kTanh, {p[kResidual]})});
                },
                Any()),
            "dot; loop");
}

// As many numbers as a row has, one for each row.
TEST(Tails, AColumnIsNoBias) {
  Module module("square");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {6, 3}));
  const ValueId y = b.Parameter(Shape::Of(DType::kF32, {3, 6}));
  const ValueId c = b.Parameter(Shape::Of(DType::kF32, {6}));
  const ValueId d = b.Add(kDotGeneral, {x, y},
                          {{"lhs_batching_dimensions", Dims{}},
                           {"lhs_contracting_dimensions", Dims{1}},
                           {"rhs_batching_dimensions", Dims{}},
                           {"rhs_contracting_dimensions", Dims{0}}});
  const ValueId wide =
      b.Add(kBroadcastInDim, {c},
            {{"broadcast_dimensions", Dims{0}}, {"dims", Dims{6, 6}}});
  ASSERT_OK(b.Finish({b.Add(kAdd, {d, wide})}));
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, Table()));
  EXPECT_EQ(CostOf(plan.entry(), Table()).launches, 2);
}

// A library adds what is there; it computes no residual.
TEST(Tails, WhatIsAddedIsComputedBefore) {
  for (const Target& target : {Table(), Any()}) {
    Module module("before");
    ComputationBuilder b(&module, "main");
    const ValueId x = b.Parameter(Shape::Of(DType::kF32, {4, 3}));
    const ValueId y = b.Parameter(Shape::Of(DType::kF32, {3, 6}));
    const ValueId z = b.Parameter(Shape::Of(DType::kF32, {4, 6}));
    const ValueId t = b.Add(kTanh, {z});
    const ValueId d = b.Add(kDotGeneral, {x, y},
                            {{"lhs_batching_dimensions", Dims{}},
                             {"lhs_contracting_dimensions", Dims{1}},
                             {"rhs_batching_dimensions", Dims{}},
                             {"rhs_contracting_dimensions", Dims{0}}});
    ASSERT_OK(b.Finish({b.Add(kAdd, {d, t})}));
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, target));
    EXPECT_EQ(CostOf(plan.entry(), target).launches,
              target.epilogues == EpilogueSupport::kAny ? 1 : 2);
  }
}

TEST(Tails, TheSecondOfTwoProductsTakesTheirSum) {
  EXPECT_EQ(StepsOf([](auto& x, auto& p) {
              const Expression square =
                  Product(p[kResidual], Transposed(p[kResidual], {1, 0}));
              return x + Product(square, p[kResidual]);
            }),
            "dot; dot; dot with residual 1");
}

}  // namespace
}  // namespace hawser::plan
