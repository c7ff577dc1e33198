#include "tests/core/autodiff/op_cases.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ops/compare.h"
#include "core/ops/control.h"
#include "core/ops/convert.h"
#include "core/ops/dot.h"
#include "core/ops/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/gather.h"
#include "core/ops/reduce.h"
#include "core/ops/scatter.h"
#include "core/ops/shape.h"
#include "core/ops/slice.h"

namespace hawser {
namespace {

using Cases = std::vector<OpCase>;
using Ids = absl::Span<const ValueId>;

OpCase Case(std::string name, Arguments arguments, std::vector<int> by,
            const Body& body) {
  Module module = ModuleOf(arguments, body);
  return {std::move(name), std::move(arguments), std::move(by),
          std::move(module)};
}

// `op` of the parameters, differentiated by all of them.
OpCase Plain(std::string name, const OpDef& op, Arguments arguments,
             Attributes attributes = {}) {
  std::vector<int> by;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DType d = arguments[i].shape().dtype();
    if (IsFloat(d) || IsComplex(d)) by.push_back(static_cast<int>(i));
  }
  return Case(std::move(name), std::move(arguments), by,
              [&](ComputationBuilder& b, Ids p) {
                const ValueId first = b.Add(op, p, attributes);
                std::vector<ValueId> results;
                const int count = b.status().ok()
                    ? b.computation().instructions().back().num_results : 0;
                for (int k = 0; k < count; ++k) results.push_back(first + k);
                return results;
              });
}

Literal Index(std::initializer_list<int32_t> values, Dims dims) {
  return Literal::Of<int32_t>(values, dims);
}

// ---- elementwise ----------------------------------------------------------

const Dims kShapes[] = {{}, {5}, {2, 3}, {0}, {2, 1, 2}};

template <const OpDef& op, int low32, int high32>
Cases UnaryCases(DType t) {
  Cases cases;
  for (const Dims& dims : kShapes) {
    cases.push_back(Plain(DimsToString(dims), op,
                          {Spaced(t, dims, low32 / 32.0, high32 / 32.0)}));
  }
  return cases;
}

// The first operand from [low, high], the second from [low2, high2].
template <const OpDef& op, int low, int high, int low2, int high2>
Cases BinaryCases(DType t) {
  Cases cases;
  for (const Dims& dims : kShapes) {
    cases.push_back(Plain(DimsToString(dims), op,
                          {Spaced(t, dims, low, high, 1),
                           Spaced(t, dims, low2, high2, 4)}));
  }
  const Literal x = Spaced(t, {3}, std::max(low, low2), std::min(high, high2));
  cases.push_back(Case("same operand twice", {x}, {0},
                       [](ComputationBuilder& b, Ids p) {
                         return std::vector<ValueId>{b.Add(op, {p[0], p[0]})};
                       }));
  return cases;
}

// Where the operands differ: equal ones are ties.
template <const OpDef& op>
Cases DistinctCases(DType t) {
  Cases cases;
  for (const Dims& dims : kShapes) {
    const Literal both = Spaced(t, {2, Shape::Of(t, dims).num_elements()}, -3, 3);
    cases.push_back(Case(
        DimsToString(dims), {both}, {0}, [&](ComputationBuilder& b, Ids p) {
          std::vector<ValueId> rows;
          for (int64_t i : {0, 1}) {
            const ValueId row = b.Add(
                kSlice, {p[0]},
                {{"start_indices", Dims{i, 0}},
                 {"limit_indices", Dims{i + 1, both.shape().dim(1)}},
                 {"strides", Dims{1, 1}}});
            rows.push_back(b.Add(kReshape, {row}, {{"dims", dims}}));
          }
          return std::vector<ValueId>{b.Add(op, rows)};
        }));
  }
  return cases;
}

Cases RemainderCases(DType t) {
  return {Plain("signs", kRemainder,
                {Values(t, {5, -5, 7.5, -7.5, 0.5, 9}),
                 Values(t, {3, 3, -2, -2, 4, -4})})};
}

Cases PowerCases(DType t) {
  Cases cases = BinaryCases<kPower, 1, 3, -2, 2>(t);
  if (IsComplex(t)) return cases;
  const Literal exponents = Values(t, {2, 3, -1, -2, 1, 0});
  cases.push_back(Case("negative base", {Values(t, {-2, -1.5, -0.5, 3, -4, -2})},
                       {0}, [&](ComputationBuilder& b, Ids p) {
                         return std::vector<ValueId>{
                             b.Add(kPower, {p[0], b.Constant(exponents)})};
                       }));
  return cases;
}

Cases ClampCases(DType t) {
  return {Plain("bounds are tensors", kClamp,
                {Values(t, {-1, -1, -1, 3, 1}), Values(t, {-2, 0.5, 4, 2.5, 3}),
                 Values(t, {2, 2, 2, 2, 2})}),
          Plain("bounds are scalars", kClamp,
                {Values(t, -1.0), Values(t, {-2, 0.5, 4, -3, 1.5}),
                 Values(t, 2.0)}),
          Plain("scalars", kClamp,
                {Values(t, -1.0), Values(t, 0.5), Values(t, 2.0)})};
}

Cases SelectCases(DType t) {
  const Literal mask = Literal::Of<bool>({true, false, true}, {3});
  return {Plain("elements", kSelect,
                {mask, Spaced(t, {3}, -2, 2), Spaced(t, {3}, -2, 2, 1)}),
          Plain("scalar predicate", kSelect,
                {Literal::Scalar(false), Spaced(t, {2, 2}, -2, 2),
                 Spaced(t, {2, 2}, -2, 2, 1)})};
}

Cases ConvertCases(DType t) {
  Cases cases;
  for (DType to : {DType::kF64, DType::kC128, t}) {
    cases.push_back(Plain(std::string(DTypeName(to)), kConvert,
                          {Spaced(t, {2, 3}, -2, 2)}, {{"dtype", to}}));
  }
  return cases;
}

Cases ComplexCases(DType t) {
  if (IsComplex(t)) return {};
  return BinaryCases<kComplex, -2, 2, -2, 2>(t);
}

// ---- movement -------------------------------------------------------------

Cases BroadcastCases(DType t) {
  const auto to = [](Dims axes, Dims dims) {
    return Attributes{{"broadcast_dimensions", axes}, {"dims", dims}};
  };
  const OpDef& op = kBroadcastInDim;
  return {Plain("scalar", op, {Values(t, 1.5)}, to({}, {2, 3})),
          Plain("row", op, {Spaced(t, {3}, -2, 2)}, to({1}, {2, 3})),
          Plain("column", op, {Spaced(t, {2}, -2, 2)}, to({0}, {2, 3})),
          Plain("size 1", op, {Spaced(t, {2, 1, 2}, -2, 2)},
                to({0, 1, 2}, {2, 3, 2})),
          Plain("crossed", op, {Spaced(t, {2, 3, 1}, -2, 2)},
                to({3, 0, 1}, {3, 4, 2, 2})),
          Plain("same", op, {Spaced(t, {2, 1}, -2, 2)}, to({0, 1}, {2, 1})),
          Plain("to none", op, {Spaced(t, {2}, -2, 2)}, to({1}, {0, 2}))};
}

Cases ReshapeCases(DType t) {
  return {Plain("split", kReshape, {Spaced(t, {6}, -2, 2)},
                {{"dims", Dims{2, 1, 3}}}),
          Plain("to scalar", kReshape, {Spaced(t, {1, 1}, -2, 2)},
                {{"dims", Dims{}}}),
          Plain("empty", kReshape, {Spaced(t, {0, 3}, -2, 2)},
                {{"dims", Dims{0}}})};
}

Cases TransposeCases(DType t) {
  return {Plain("matrix", kTranspose, {Spaced(t, {2, 3}, -2, 2)},
                {{"permutation", Dims{1, 0}}}),
          Plain("turned", kTranspose, {Spaced(t, {2, 3, 2}, -2, 2)},
                {{"permutation", Dims{1, 2, 0}}}),
          Plain("scalar", kTranspose, {Values(t, 2)},
                {{"permutation", Dims{}}})};
}

Cases ConcatenateCases(DType t) {
  return {Plain("three", kConcatenate,
                {Spaced(t, {2, 1}, -2, 2), Spaced(t, {2, 3}, -2, 2, 1),
                 Spaced(t, {2, 0}, -2, 2, 2)},
                {{"dimension", int64_t{1}}}),
          Case("one twice", {Spaced(t, {3}, -2, 2)}, {0},
               [](ComputationBuilder& b, Ids p) {
                 return std::vector<ValueId>{b.Add(
                     kConcatenate, {p[0], p[0]}, {{"dimension", int64_t{0}}})};
               })};
}

Cases ReverseCases(DType t) {
  return {Plain("two axes", kReverse, {Spaced(t, {2, 3, 2}, -2, 2)},
                {{"dimensions", Dims{0, 2}}}),
          Plain("none", kReverse, {Spaced(t, {3}, -2, 2)},
                {{"dimensions", Dims{}}})};
}

Cases PadCases(DType t) {
  const auto by = [](Dims low, Dims high, Dims interior) {
    return Attributes{{"edge_padding_low", low},
                      {"edge_padding_high", high},
                      {"interior_padding", interior}};
  };
  const Literal x = Spaced(t, {2, 3}, -2, 2), v = Values(t, 0.75);
  return {Plain("edges", kPad, {x, v}, by({1, 0}, {0, 2}, {0, 0})),
          Plain("between", kPad, {x, v}, by({0, 1}, {1, 0}, {2, 1})),
          Plain("cut", kPad, {x, v}, by({-1, 0}, {0, -1}, {0, 0})),
          Plain("cut between", kPad, {x, v}, by({-1, -2}, {1, -1}, {1, 2})),
          Plain("nothing left", kPad, {x, v}, by({-1, 0}, {-1, 0}, {0, 0})),
          Plain("of nothing", kPad, {Spaced(t, {0, 2}, 0, 1), v},
                by({1, 0}, {1, 0}, {3, 0}))};
}

Cases SliceCases(DType t) {
  const auto part = [](Dims start, Dims limit, Dims strides) {
    return Attributes{{"start_indices", start},
                      {"limit_indices", limit},
                      {"strides", strides}};
  };
  const Literal x = Spaced(t, {4, 5}, -3, 3);
  return {Plain("middle", kSlice, {x}, part({1, 2}, {3, 4}, {1, 1})),
          Plain("steps", kSlice, {x}, part({0, 1}, {4, 5}, {3, 2})),
          Plain("step beyond", kSlice, {x}, part({2, 0}, {4, 5}, {9, 4})),
          Plain("nothing", kSlice, {x}, part({2, 0}, {2, 5}, {1, 1})),
          Plain("scalar", kSlice, {Values(t, 2)}, part({}, {}, {}))};
}

Cases DynamicSliceCases(DType t) {
  const Literal x = Spaced(t, {4, 3}, -3, 3);
  Cases cases;
  for (int32_t start : {-7, 0, 1, 9}) {
    cases.push_back(Plain(absl::StrCat("from ", start), kDynamicSlice,
                          {x, Literal::Scalar(start), Literal::Scalar(1)},
                          {{"slice_sizes", Dims{2, 2}}}));
  }
  return cases;
}

Cases DynamicUpdateSliceCases(DType t) {
  const Literal x = Spaced(t, {4, 3}, -3, 3), part = Spaced(t, {2, 2}, -1, 1);
  Cases cases;
  for (int32_t start : {-7, 0, 1, 9}) {
    cases.push_back(
        Plain(absl::StrCat("at ", start), kDynamicUpdateSlice,
              {x, part, Literal::Scalar(start), Literal::Scalar(1)}));
  }
  return cases;
}

// ---- indexed --------------------------------------------------------------

Cases GatherCases(DType t) {
  const Literal x = Spaced(t, {4, 3}, -3, 3);
  return {Plain("rows, some twice, some outside", kGather,
                {x, Index({1, 3, 1, -2, 9}, {5})},
                {{"collapsed_slice_dims", Dims{0}},
                 {"index_vector_dim", int64_t{1}},
                 {"offset_dims", Dims{1}},
                 {"slice_sizes", Dims{1, 3}},
                 {"start_index_map", Dims{0}}}),
          Plain("windows by vectors along axis 0", kGather,
                {x, Index({0, 2, 3, 1, 0, 5}, {2, 3})},
                {{"collapsed_slice_dims", Dims{}},
                 {"index_vector_dim", int64_t{0}},
                 {"offset_dims", Dims{0, 2}},
                 {"slice_sizes", Dims{2, 2}},
                 {"start_index_map", Dims{1, 0}}}),
          Plain("elements by narrow indices", kGather,
                {x, Literal::Of<uint8_t>({0, 1, 200, 2}, {2, 2})},
                {{"collapsed_slice_dims", Dims{0, 1}},
                 {"index_vector_dim", int64_t{1}},
                 {"offset_dims", Dims{}},
                 {"slice_sizes", Dims{1, 1}},
                 {"start_index_map", Dims{0, 1}}})};
}

// A scatter whose computation folds with `op`, or replaces without one. Some
// updates share a place, some fall outside.
OpCase Scattered(std::string name, const OpDef* op, Arguments inputs,
                 Literal indices, Arguments updates, Attributes attributes,
                 bool by_updates = true) {
  const DType t = inputs[0].shape().dtype();
  const int n = static_cast<int>(inputs.size());
  Arguments arguments = inputs;
  arguments.push_back(std::move(indices));
  arguments.insert(arguments.end(), updates.begin(), updates.end());
  std::vector<int> by;
  for (int k = 0; k < n; ++k) {
    by.push_back(k);
    if (by_updates) by.push_back(n + 1 + k);
  }
  return Case(std::move(name), arguments, by,
              [&](ComputationBuilder& b, Ids p) {
                const std::vector<Shape> scalars(2 * n, Shape::Scalar(t));
                const int fold = AddComputation(
                    b.module(), "fold", scalars,
                    [&](ComputationBuilder& f, Ids q) {
                      std::vector<ValueId> results;
                      for (int k = 0; k < n; ++k) {
                        results.push_back(
                            op == nullptr ? q[n + k]
                                          : f.Add(*op, {q[k], q[n + k]}));
                      }
                      return results;
                    });
                const ValueId first = b.Add(kScatter, p, attributes, {fold});
                std::vector<ValueId> results;
                for (int k = 0; k < n; ++k) results.push_back(first + k);
                return results;
              });
}

Cases ScatterCases(DType t) {
  const Attributes rows{{"index_vector_dim", int64_t{1}},
                        {"inserted_window_dims", Dims{0}},
                        {"scatter_dims_to_operand_dims", Dims{0}},
                        {"update_window_dims", Dims{1}}};
  const Attributes windows{{"index_vector_dim", int64_t{0}},
                           {"inserted_window_dims", Dims{}},
                           {"scatter_dims_to_operand_dims", Dims{1, 0}},
                           {"update_window_dims", Dims{0, 2}}};
  const Literal x = Spaced(t, {4, 3}, -2, 0), u = Spaced(t, {5, 3}, 0, 2);
  const Literal starts = Index({1, 3, 1, -2, 9}, {5});
  const Literal vectors = Index({0, 2, 3, -1, 0, 3}, {2, 3});
  const Literal parts = Spaced(t, {2, 3, 2}, 0, 2, 1);
  Cases cases;
  std::vector<const OpDef*> ops = {nullptr, &kAdd};
  if (!IsComplex(t)) ops.insert(ops.end(), {&kMaximum, &kMinimum});
  for (const OpDef* op : ops) {
    const std::string name(op == nullptr ? "replace" : op->name);
    cases.push_back(Scattered(name + " rows", op, {x}, starts, {u}, rows));
    cases.push_back(
        Scattered(name + " windows", op, {x}, vectors, {parts}, windows));
  }
  cases.push_back(
      Scattered("multiply", &kMultiply, {x}, starts, {u}, rows, false));
  cases.push_back(Scattered("two inputs", &kAdd, {x, x}, starts, {u, u}, rows));
  cases.push_back(Scattered("narrow indices", nullptr, {x},
                            Literal::Of<uint8_t>({0, 255, 2, 1, 4}, {5}), {u},
                            rows));
  return cases;
}

// ---- contraction ----------------------------------------------------------

Literal NeutralOf(const OpDef& op, DType t) {
  if (&op == &kMultiply) return ScalarOf(t, 1);
  if (&op == &kMaximum) return ScalarOf(t, -INFINITY);
  if (&op == &kMinimum) return ScalarOf(t, INFINITY);
  return ScalarOf(t, 0);
}

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
  return {Plain("vectors", op, {x({3}), y({3})}, axes({}, {}, {0}, {0})),
          Plain("matrices", op, {x({2, 3}), y({3, 4})},
                axes({}, {}, {1}, {0})),
          Plain("transposed", op, {x({3, 2}), y({4, 3})},
                axes({}, {}, {0}, {1})),
          Plain("outer", op, {x({2}), y({3})}, axes({}, {}, {}, {})),
          Plain("batch", op, {x({2, 3, 2}), y({2, 2, 3})},
                axes({0}, {0}, {2}, {1})),
          Plain("batch in the middle", op, {x({3, 2, 2}), y({3, 4, 2})},
                axes({1}, {2}, {0}, {0})),
          Plain("two contracted, crossed", op, {x({2, 3, 2}), y({3, 2, 2})},
                axes({}, {}, {2, 1}, {1, 0})),
          Plain("two batches, crossed", op, {x({2, 3, 2, 1}), y({3, 2, 2, 2})},
                axes({1, 0}, {0, 1}, {2}, {3})),
          Plain("of nothing", op, {x({2, 0}), y({0, 2})},
                axes({}, {}, {1}, {0}))};
}

// ---- control --------------------------------------------------------------

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

// ---- the table ------------------------------------------------------------

struct Row {
  const OpDef* op;
  Cases (*make)(DType);
};

// Ranges of unary ops are in thirty-seconds.
constexpr Row kRows[] = {
    {&kAbs, UnaryCases<kAbs, -64, 64>},
    {&kAdd, BinaryCases<kAdd, -2, 2, -2, 2>},
    {&kAtan2, BinaryCases<kAtan2, -2, 3, -2, 3>},
    {&kBroadcastInDim, BroadcastCases},
    {&kCase, CaseCases},
    {&kClamp, ClampCases},
    {&kComplex, ComplexCases},
    {&kConcatenate, ConcatenateCases},
    {&kConvert, ConvertCases},
    {&kCosine, UnaryCases<kCosine, -96, 96>},
    {&kDivide, BinaryCases<kDivide, -2, 2, 1, 3>},
    {&kDotGeneral, DotCases},
    {&kDynamicSlice, DynamicSliceCases},
    {&kDynamicUpdateSlice, DynamicUpdateSliceCases},
    {&kExponential, UnaryCases<kExponential, -64, 64>},
    {&kExponentialMinusOne, UnaryCases<kExponentialMinusOne, -64, 64>},
    {&kGather, GatherCases},
    {&kImag, UnaryCases<kImag, -64, 64>},
    {&kLog, UnaryCases<kLog, 8, 96>},
    {&kLogPlusOne, UnaryCases<kLogPlusOne, -24, 96>},
    {&kLogistic, UnaryCases<kLogistic, -96, 96>},
    {&kMaximum, DistinctCases<kMaximum>},
    {&kMinimum, DistinctCases<kMinimum>},
    {&kMultiply, BinaryCases<kMultiply, -2, 2, -2, 2>},
    {&kNegate, UnaryCases<kNegate, -64, 64>},
    {&kPad, PadCases},
    {&kPower, PowerCases},
    {&kReal, UnaryCases<kReal, -64, 64>},
    {&kReduce, ReduceCases},
    {&kRemainder, RemainderCases},
    {&kReshape, ReshapeCases},
    {&kReverse, ReverseCases},
    {&kRsqrt, UnaryCases<kRsqrt, 8, 96>},
    {&kScatter, ScatterCases},
    {&kSelect, SelectCases},
    {&kSign, UnaryCases<kSign, -64, 64>},
    {&kSine, UnaryCases<kSine, -96, 96>},
    {&kSlice, SliceCases},
    {&kSqrt, UnaryCases<kSqrt, 8, 96>},
    {&kSubtract, BinaryCases<kSubtract, -2, 2, -2, 2>},
    {&kTanh, UnaryCases<kTanh, -64, 64>},
    {&kTranspose, TransposeCases},
};

}  // namespace

std::vector<OpCase> CasesOf(const OpDef& op, DType dtype) {
  for (const Row& row : kRows) {
    if (row.op != &op) continue;
    const bool takes = op.dtypes.Has(dtype);
    return takes ? row.make(dtype) : Cases();
  }
  ADD_FAILURE() << op.name << " has a gradient rule but no row in "
                << "tests/core/autodiff/op_cases.cc";
  return {};
}

}  // namespace hawser
