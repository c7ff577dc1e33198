// Cases of what makes many elements one, and of branches.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/windows/convolution.h"
#include "tests/core/autodiff/case_families.h"

namespace hawser {
namespace {

// x reduced by one computation that folds each input with an op of its own.
OpCase Reduction(std::string name, const std::vector<const OpDef*>& ops,
                 Arguments inputs, Dims axes) {
  const DType t = inputs[0].shape().dtype();
  const int n = static_cast<int>(inputs.size());
  std::vector<int> by;
  for (int i = 0; i < n; ++i) by.push_back(i);
  return Case(std::move(name), inputs, by, [&](ComputationBuilder& b, Ids p) {
    const std::vector<Shape> scalars(2 * n, Shape::Scalar(t));
    const int fold = AddComputation(
        b.module(), "fold", scalars, [&](ComputationBuilder& f, Ids q) {
          std::vector<ValueId> results;
          for (int k = 0; k < n; ++k) {
            results.push_back(f.Add(*ops[k], {q[n + k], q[k]}));
          }
          return results;
        });
    std::vector<ValueId> operands(p.begin(), p.end());
    for (const OpDef* op : ops) {
      operands.push_back(b.Constant(NeutralOf(*op, t)));
    }
    const ValueId first =
        b.Add(kReduce, operands, {{"dimensions", axes}}, {fold});
    std::vector<ValueId> results;
    for (int k = 0; k < n; ++k) results.push_back(first + k);
    return results;
  });
}

Cases ReduceCases(DType t) {
  Cases cases;
  std::vector<const OpDef*> ops = {&kAdd, &kMultiply};
  if (!IsComplex(t)) ops.insert(ops.end(), {&kMaximum, &kMinimum});
  for (const OpDef* op : ops) {
    for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}, Dims{0, 2}, Dims{2, 1},
                             Dims{0, 1, 2}}) {
      cases.push_back(Reduction(absl::StrCat(op->name, DimsToString(axes)),
                                {op}, {Spaced(t, {2, 3, 2}, -2, 2)}, axes));
    }
    cases.push_back(Reduction(absl::StrCat(op->name, " of one"), {op},
                              {Spaced(t, {3, 1}, -2, 2)}, {1}));
    cases.push_back(Reduction(absl::StrCat(op->name, " of none"), {op},
                              {Spaced(t, {3, 0}, -2, 2)}, {1}));
  }
  cases.push_back(Reduction("two inputs", {&kAdd, &kMultiply},
                            {Spaced(t, {2, 3}, -2, 2),
                             Spaced(t, {2, 3}, -2, 2, 1)}, {0}));
  return cases;
}

// Running values of as many inputs as `fold` takes pairs of.
OpCase Running(std::string name, Arguments inputs, int64_t axis, bool reverse,
               const Body& fold) {
  const DType t = inputs[0].shape().dtype();
  std::vector<int> by;
  for (size_t i = 0; i < inputs.size(); ++i) by.push_back(static_cast<int>(i));
  return Case(std::move(name), inputs, by, [&](ComputationBuilder& b, Ids p) {
    const std::vector<Shape> scalars(2 * p.size(), Shape::Scalar(t));
    const int called = AddComputation(b.module(), "fold", scalars, fold);
    const ValueId first =
        b.Add(kScan, p, {{"dimension", axis}, {"reverse", reverse}}, {called});
    std::vector<ValueId> results;
    for (size_t k = 0; k < p.size(); ++k) {
      results.push_back(first + static_cast<int>(k));
    }
    return results;
  });
}

Cases ScanCases(DType t) {
  Cases cases;
  std::vector<const OpDef*> ops = {&kAdd};
  if (!IsComplex(t)) {
    ops.insert(ops.end(), {&kMultiply, &kMaximum, &kMinimum});
  }
  for (const OpDef* op : ops) {
    const Body fold = [op](ComputationBuilder& b, Ids q) {
      return std::vector<ValueId>{b.Add(*op, {q[0], q[1]})};
    };
    for (const bool reverse : {false, true}) {
      const std::string name =
          absl::StrCat(op->name, reverse ? " backwards" : "");
      cases.push_back(Running(name, {Spaced(t, {2, 4, 2}, -2, 2)}, 1, reverse,
                              fold));
      cases.push_back(Running(absl::StrCat(name, " of two"),
                              {Spaced(t, {2}, -2, 2)}, 0, reverse, fold));
    }
    cases.push_back(Running(absl::StrCat(op->name, " of one"),
                            {Spaced(t, {1, 3}, -2, 2)}, 0, false, fold));
    cases.push_back(Running(absl::StrCat(op->name, " of none"),
                            {Spaced(t, {0, 3}, -2, 2)}, 0, false, fold));
  }
  if (IsComplex(t)) return cases;
  // y' = a y + b, as (a, b) after (c, d) is (a c, a d + b).
  cases.push_back(Running(
      "affine", {Spaced(t, {4}, -1.5, 1.5), Spaced(t, {4}, -2, 2, 1)}, 0, false,
      [](ComputationBuilder& b, Ids q) {
        const ValueId product = b.Add(kMultiply, {q[2], q[0]});
        const ValueId moved = b.Add(kMultiply, {q[2], q[1]});
        return std::vector<ValueId>{product, b.Add(kAdd, {moved, q[3]})};
      }));
  return cases;
}

// `axes`, in a dtype wider than t where there is one.
Attributes InWider(DType t, Attributes axes) {
  for (const DType wide : AllDTypes()) {
    if (!WidensProduct(t, wide)) continue;
    axes.Set("result_dtype", wide);
    break;
  }
  return axes;
}

Cases DotCases(DType t) {
  const auto axes = [](Dims batch_l, Dims batch_r, Dims left, Dims right) {
    return Attributes{{"lhs_batching_dimensions", batch_l},
                      {"rhs_batching_dimensions", batch_r},
                      {"lhs_contracting_dimensions", left},
                      {"rhs_contracting_dimensions", right}};
  };
  const auto x = [&](Dims dims) { return Spaced(t, dims, -2, 2, 1); };
  const auto y = [&](Dims dims) { return Spaced(t, dims, -2, 2, 2); };
  const OpDef& op = kDotGeneral;
  return {
      Plain("vectors", op, {x({3}), y({3})}, axes({}, {}, {0}, {0})),
      Plain("matrices", op, {x({2, 3}), y({3, 4})}, axes({}, {}, {1}, {0})),
      Plain("transposed", op, {x({3, 2}), y({4, 3})}, axes({}, {}, {0}, {1})),
      Plain("outer", op, {x({2}), y({3})}, axes({}, {}, {}, {})),
      Plain("batch", op, {x({2, 3, 2}), y({2, 2, 3})},
            axes({0}, {0}, {2}, {1})),
      Plain("batch in the middle", op, {x({3, 2, 2}), y({3, 4, 2})},
            axes({1}, {2}, {0}, {0})),
      Plain("two contracted, crossed", op, {x({2, 3, 2}), y({3, 2, 2})},
            axes({}, {}, {2, 1}, {1, 0})),
      Plain("two batches, crossed", op, {x({2, 3, 2, 1}), y({3, 2, 2, 2})},
            axes({1, 0}, {0, 1}, {2}, {3})),
      Plain("in a wider dtype", op, {x({2, 3}), y({3, 4})},
            InWider(t, axes({}, {}, {1}, {0}))),
      Plain("batch in a wider dtype", op, {x({3, 2, 2}), y({3, 4, 2})},
            InWider(t, axes({1}, {2}, {0}, {0}))),
      Plain("of nothing", op, {x({2, 0}), y({0, 2})}, axes({}, {}, {1}, {0}))};
}

// x * y, and the sine of x times y computed again.
Cases CallCases(DType t) {
  const Literal x = Spaced(t, {3}, -2, 2, 1), y = Spaced(t, {3}, -2, 2, 2);
  const std::vector<Shape> two = {x.shape(), y.shape()};
  const auto forward = [](ComputationBuilder& b, Ids p) {
    const ValueId product = b.Add(kMultiply, {p[0], p[1]});
    return std::vector<ValueId>{b.Add(kSine, {product}), p[0]};
  };
  // Cotangents of both results, then x and y.
  const auto back = [](ComputationBuilder& b, Ids p) {
    const ValueId slope =
        b.Add(kCosine, {b.Add(kMultiply, {p[2], p[3]})});
    const ValueId g = b.Add(kMultiply, {p[0], slope});
    return std::vector<ValueId>{
        b.Add(kAdd, {b.Add(kMultiply, {g, p[3]}), p[1]}),
        b.Add(kMultiply, {g, p[2]})};
  };
  Cases cases;
  for (const bool has_own : {false, true}) {
    cases.push_back(
        Case(has_own ? "own pull-back" : "computed again", {x, y}, {0, 1},
             [&](ComputationBuilder& b, Ids p) {
               std::vector<int> called = {
                   AddComputation(b.module(), "forward", two, forward)};
               if (has_own) {
                 called.push_back(AddComputation(
                     b.module(), "back",
                     {x.shape(), x.shape(), x.shape(), y.shape()}, back));
               }
               const ValueId first = b.Add(kCall, p, {}, called);
               return std::vector<ValueId>{first, first + 1};
             }));
  }
  return cases;
}

// Three branches of (x, y): x * y and x; sine of x and y; two constants.
std::vector<int> AddBranches(Module* module, const Shape& shape) {
  const std::vector<Shape> two = {shape, shape};
  return {AddComputation(module, "product", two,
                         [](ComputationBuilder& b, Ids p) {
                           return std::vector<ValueId>{
                               b.Add(kMultiply, {p[0], p[1]}), p[0]};
                         }),
          AddComputation(module, "sine", two,
                         [](ComputationBuilder& b, Ids p) {
                           return std::vector<ValueId>{b.Add(kSine, {p[0]}),
                                                       p[1]};
                         }),
          AddComputation(module, "constants", two,
                         [&](ComputationBuilder& b, Ids p) {
                           const ValueId v =
                               b.Constant(Spaced(shape.dtype(), shape.dims(),
                                                 0, 1));
                           return std::vector<ValueId>{v, v};
                         })};
}

Cases CaseCases(DType t) {
  Cases cases;
  const Literal x = Spaced(t, {3}, -2, 2, 1), y = Spaced(t, {3}, -2, 2, 2);
  for (int32_t index : {0, 1, 2, -1, 7}) {
    const Literal which = Literal::Scalar(index);
    cases.push_back(Case(absl::StrCat("branch ", index), {which, x, y}, {1, 2},
                         [&](ComputationBuilder& b, Ids p) {
                           const ValueId first = b.Add(
                               kCase, p, {},
                               AddBranches(b.module(), x.shape()));
                           return std::vector<ValueId>{first, first + 1};
                         }));
  }
  cases.push_back(Case(
      "nested", {Literal::Scalar(1), x, y}, {1, 2},
      [&](ComputationBuilder& b, Ids p) {
        const std::vector<int> inner = AddBranches(b.module(), x.shape());
        const auto outer = [&](ComputationBuilder& o, Ids q) {
          const ValueId which = o.Constant(Literal::Scalar(0));
          const ValueId first = o.Add(kCase, {which, q[1], q[0]}, {}, inner);
          return std::vector<ValueId>{o.Add(kMultiply, {first, q[1]}),
                                      first + 1};
        };
        const int branch = AddComputation(b.module(), "outer",
                                          {x.shape(), x.shape()}, outer);
        const ValueId first = b.Add(kCase, p, {}, {inner[0], branch});
        return std::vector<ValueId>{first, first + 1};
      }));
  return cases;
}

// A loop of so many turns whose state is a counter and `initial`; `invariants`
// stay the same. `turn`: takes counter, state, invariants; gives the state.
ValueId AddCountedLoop(ComputationBuilder& b, int32_t turns,
                       const std::vector<ValueId>& initial,
                       const std::vector<ValueId>& invariants,
                       const Body& turn) {
  std::vector<ValueId> operands = {b.Constant(Literal::Scalar<int32_t>(0))};
  operands.insert(operands.end(), initial.begin(), initial.end());
  operands.insert(operands.end(), invariants.begin(), invariants.end());
  std::vector<Shape> shapes;
  for (const ValueId v : operands) shapes.push_back(b.shape(v));
  const int condition =
      AddComputation(b.module(), "on", shapes,
                     [&](ComputationBuilder& c, Ids p) {
                       const ValueId end = c.Constant(Literal::Scalar(turns));
                       return std::vector<ValueId>{
                           c.Add(kCompare, {p[0], end},
                                 {{"direction", std::string("LT")}})};
                     });
  const int body =
      AddComputation(b.module(), "turn", shapes,
                     [&](ComputationBuilder& c, Ids p) {
                       const ValueId one =
                           c.Constant(Literal::Scalar<int32_t>(1));
                       std::vector<ValueId> next = {c.Add(kAdd, {p[0], one})};
                       for (const ValueId v : turn(c, p)) next.push_back(v);
                       return next;
                     });
  Attributes attributes;
  if (!invariants.empty()) {
    attributes.Set("num_invariant", static_cast<int64_t>(invariants.size()));
  }
  return b.Add(kWhile, operands, attributes, {condition, body}) + 1;
}

Cases WhileCases(DType t) {
  Cases cases;
  // Small, so that complex ones stay small in every turn.
  const Literal x = Spaced(t, {3}, -0.5, 0.5, 1);
  const Literal w = Spaced(t, {3}, -0.6, 0.6, 2);
  // y = sin(w y), a product and a function.
  const Body sine = [](ComputationBuilder& b, Ids p) {
    return std::vector<ValueId>{b.Add(kSine, {b.Add(kMultiply, {p[1], p[2]})})};
  };
  for (const int32_t turns : {0, 1, 4}) {
    cases.push_back(Case(absl::StrCat(turns, " turns"), {x, w}, {0, 1},
                         [&](ComputationBuilder& b, Ids p) {
                           return std::vector<ValueId>{AddCountedLoop(
                               b, turns, {p[0]}, {p[1]}, sine)};
                         }));
  }
  cases.push_back(Case(
      "the same value twice", {x}, {0}, [&](ComputationBuilder& b, Ids p) {
        return std::vector<ValueId>{
            AddCountedLoop(b, 3, {p[0]}, {p[0]}, sine)};
      }));
  cases.push_back(Case(
      "two states that change places", {x, w}, {0, 1},
      [&](ComputationBuilder& b, Ids p) {
        const ValueId first = AddCountedLoop(
            b, 3, {p[0], p[1]}, {}, [](ComputationBuilder& c, Ids q) {
              return std::vector<ValueId>{q[2],
                                          c.Add(kMultiply, {q[1], q[2]})};
            });
        return std::vector<ValueId>{first, first + 1};
      }));
  // The rows of what stays the same, one a turn.
  const Body rows = [](ComputationBuilder& b, Ids p) {
    const ValueId zero = b.Constant(Literal::Scalar<int32_t>(0));
    const ValueId row = b.Add(kDynamicSlice, {p[2], p[0], zero},
                              {{"slice_sizes", Dims{1, 3}}});
    const ValueId flat = b.Add(kReshape, {row}, {{"dims", Dims{3}}});
    return std::vector<ValueId>{
        b.Add(kAdd, {b.Add(kMultiply, {p[1], flat}), flat})};
  };
  const Literal matrix = Spaced(t, {4, 3}, -0.4, 0.4, 3);
  cases.push_back(Case("rows", {x, matrix}, {0, 1},
                       [&](ComputationBuilder& b, Ids p) {
                         return std::vector<ValueId>{
                             AddCountedLoop(b, 4, {p[0]}, {p[1]}, rows)};
                       }));
  cases.push_back(Case(
      "nested", {x, matrix}, {0, 1}, [&](ComputationBuilder& b, Ids p) {
        return std::vector<ValueId>{AddCountedLoop(
            b, 2, {p[0]}, {p[1]}, [&](ComputationBuilder& c, Ids q) {
              const ValueId inner =
                  AddCountedLoop(c, 4, {q[1]}, {q[2]}, rows);
              return std::vector<ValueId>{c.Add(kSine, {inner})};
            })};
      }));
  return cases;
}

Cases ConvolutionCases(DType t) {
  const auto by = [](Dims strides, Dims low, Dims high, Dims spread,
                     Dims dilations, int64_t groups) {
    return Attributes{
        {"window_strides", strides}, {"padding_low", low},
        {"padding_high", high},      {"lhs_dilation", spread},
        {"rhs_dilation", dilations}, {"feature_group_count", groups}};
  };
  const Literal x = Spaced(t, {2, 5, 4}, -1, 1);
  const Literal w = Spaced(t, {3, 4, 2}, -1, 1, 1);
  const Literal few = Spaced(t, {2, 2, 6}, -1, 1, 1);
  const OpDef& op = kConvolution;
  return {
      Plain("plain", op, {x, w}, by({1}, {0}, {0}, {1}, {1}, 1)),
      Plain("padded by strides", op, {x, w}, by({2}, {2}, {1}, {1}, {1}, 1)),
      Plain("cut", op, {x, w}, by({1}, {-1}, {1}, {1}, {1}, 1)),
      Plain("spread", op, {x, w}, by({2}, {1}, {1}, {3}, {1}, 1)),
      Plain("dilated", op, {x, w}, by({1}, {1}, {2}, {1}, {2}, 1)),
      Plain("groups", op, {x, few}, by({2}, {1}, {0}, {2}, {2}, 2)),
      Plain("no results", op, {x, w}, by({1}, {0}, {-3}, {1}, {1}, 1)),
      Plain("two axes", op,
            {Spaced(t, {1, 3, 4, 2}, -1, 1), Spaced(t, {2, 2, 2, 3}, -1, 1, 1)},
            by({1, 2}, {1, 0}, {0, 1}, {1, 1}, {1, 2}, 1)),
      Plain("of no batch", op, {Spaced(t, {0, 5, 4}, 0, 1), w},
            by({1}, {0}, {0}, {1}, {1}, 1)),
      Plain("of no elements", op, {Spaced(t, {2, 0, 4}, 0, 1), w},
            by({1}, {2}, {2}, {1}, {1}, 1))};
}

constexpr CaseRow kContractionRows[] = {
    {&kCall, CallCases},
    {&kCase, CaseCases},
    {&kConvolution, ConvolutionCases},
    {&kDotGeneral, DotCases},
    {&kReduce, ReduceCases},
    {&kScan, ScanCases},
    {&kWhile, WhileCases},
};

}  // namespace

absl::Span<const CaseRow> ContractionCases() { return kContractionRows; }

}  // namespace hawser
