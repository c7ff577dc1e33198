#include "client/sdk/probes/index_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/slice.h"

namespace hawser::sdk {
namespace {

// An axis that run-time indices point along, and the last place there at which
// a window still fits.
struct Bound {
  int axis = 0;
  int64_t last = 0;
};

// Returns a bound for each component of the index vectors of a scatter.
std::vector<Bound> ScatterBounds(const Shape& input, const Shape& updates,
                                 const Attributes& attributes) {
  const auto inserted = attributes.GetInts("inserted_window_dims");
  const auto window = attributes.GetInts("update_window_dims");
  std::vector<int64_t> sizes;
  size_t next = 0;
  for (int axis = 0; axis < input.rank(); ++axis) {
    const bool is_inserted =
        std::find(inserted.begin(), inserted.end(), axis) != inserted.end();
    sizes.push_back(
        is_inserted ? 1 : updates.dim(static_cast<int>(window[next++])));
  }
  std::vector<Bound> bounds;
  for (const int64_t axis :
       attributes.GetInts("scatter_dims_to_operand_dims")) {
    const int a = static_cast<int>(axis);
    bounds.push_back({a, input.dim(a) - sizes[a]});
  }
  return bounds;
}

std::vector<Bound> GatherBounds(const Shape& from,
                                const Attributes& attributes) {
  const auto sizes = attributes.GetInts("slice_sizes");
  std::vector<Bound> bounds;
  for (const int64_t axis : attributes.GetInts("start_index_map")) {
    const int a = static_cast<int>(axis);
    bounds.push_back({a, from.dim(a) - sizes[a]});
  }
  return bounds;
}

// Checks that `indices` are within bounds: one for all, or one for each
// position along `axis`.
IndexCheck WithinBounds(const Expression& indices, int64_t axis,
                        const std::vector<Bound>& bounds) {
  // So large that it is negative then: out of range, too.
  const Expression wide = ConvertTo(indices, DType::kS64);
  const int64_t count = static_cast<int64_t>(bounds.size());
  Literal last = Literal::Zeros(Shape::Of(DType::kS64, {count}));
  std::vector<std::string> said;
  for (int64_t b = 0; b < count; ++b) {
    last.mutable_data<int64_t>()[b] = bounds[b].last;
    said.push_back(
        absl::StrCat("0 to ", bounds[b].last, " of axis ", bounds[b].axis));
  }
  Expression limit = ConstantOf(indices.scope(), last);
  if (axis < wide.rank()) {
    limit = Spread(limit, wide.dims(), OtherAxes(wide.rank(), {axis}));
  } else {
    limit =
        Spread(Reshaped(limit, {}), wide.dims(), OtherAxes(wide.rank(), {}));
  }
  const Expression below = Compare(wide, CompareDirection::kLt, Like(wide, 0));
  const Expression above = Compare(wide, CompareDirection::kGt, limit);
  return {Any(Apply(kOr, {below, above})), absl::StrJoin(said, ", ")};
}

}  // namespace

Expression Any(const Expression& flags) {
  return Folded(kOr, flags, Literal::Scalar(false),
                OtherAxes(flags.rank(), {}));
}

std::vector<IndexCheck> IndexChecksOf(const Computation& from,
                                      const Instruction& i,
                                      absl::Span<const Expression> operands) {
  std::vector<IndexCheck> checks;
  const auto add = [&](const Expression& indices, int64_t axis,
                       const std::vector<Bound>& bounds) {
    if (bounds.empty()) return;
    checks.push_back(WithinBounds(indices, axis, bounds));
  };
  if (i.op == &kGather) {
    add(operands[1], i.attributes.GetInt("index_vector_dim"),
        GatherBounds(from.shape(i.operands[0]), i.attributes));
  } else if (i.op == &kScatter) {
    const size_t n = i.operands.size() / 2;
    add(operands[n], i.attributes.GetInt("index_vector_dim"),
        ScatterBounds(from.shape(i.operands[0]), from.shape(i.operands[n + 1]),
                      i.attributes));
  } else if (i.op == &kDynamicSlice || i.op == &kDynamicUpdateSlice) {
    const bool updates = i.op == &kDynamicUpdateSlice;
    const Shape& whole = from.shape(i.operands[0]);
    const Shape& part = from.shape(updates ? i.operands[1] : i.first_result);
    for (int axis = 0; axis < whole.rank(); ++axis) {
      add(operands[1 + updates + axis], 0,
          {{axis, whole.dim(axis) - part.dim(axis)}});
    }
  }
  return checks;
}

}  // namespace hawser::sdk
