// Cases of what moves elements to and from places that are values.
#include <string>
#include <utility>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "tests/core/autodiff/case_families.h"

namespace hawser {
namespace {

Literal Index(std::initializer_list<int32_t> values, Dims dims) {
  return Literal::Of<int32_t>(values, dims);
}

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
  cases.push_back(Scattered("multiply two inputs", &kMultiply, {x, x}, starts,
                            {u, u}, rows, false));
  cases.push_back(Scattered("two inputs", &kAdd, {x, x}, starts, {u, u}, rows));
  cases.push_back(Scattered("narrow indices", nullptr, {x},
                            Literal::Of<uint8_t>({0, 255, 2, 1, 4}, {5}), {u},
                            rows));
  return cases;
}

constexpr CaseRow kIndexedRows[] = {
    {&kGather, GatherCases},
    {&kScatter, ScatterCases},
};

}  // namespace

absl::Span<const CaseRow> IndexedCases() { return kIndexedRows; }

}  // namespace hawser
