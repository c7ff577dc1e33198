// Splits of what is addressed by values.
#include <algorithm>
#include <utility>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/shape.h"
#include "core/ops/part/split.h"
#include "core/ops/rules.h"

namespace hawser {

Expression SplitContext::BeginOf(size_t cell, size_t operand,
                                 int64_t axis) const {
  const int64_t size = operands[operand].shape().dim(static_cast<int>(axis));
  const Interval part = cells[cell][operand][axis];
  const Expression count(&scope,
                         scope.builder.Add(kIota, {},
                                           {{"dims", Dims{size}},
                                            {"dtype", DType::kS64},
                                            {"iota_dimension", int64_t{0}}},
                                           {}, SourceLocation{}));
  return Reshaped(SliceTo(count, {{0, size}}, {{part.begin, part.begin + 1}}),
                  {});
}

namespace {

// An axis of the operand that is cut, and the component of the index vectors
// that says where on it a slice starts.
struct CutAxis {
  int64_t axis;
  int component;
};

// Component `component` of index vectors that lie along `axis`.
Expression ComponentOf(const Expression& indices, int axis, int component) {
  if (axis >= indices.rank()) return indices;
  const Box all = WholeBox(indices.shape());
  Box one = all;
  one[axis] = {component, component + 1};
  Dims dims = indices.dims();
  dims.erase(dims.begin() + axis);
  return Reshaped(SliceTo(indices, all, one), dims);
}

}  // namespace

// Each cell gathers what of its part is nearest; of those, every slice is
// chosen from the cell that owns its start. Slices of several elements may lie
// in several parts, and are not split.
absl::Status GatherSplit(SplitContext& c) {
  const Attributes& attributes = c.instruction.attributes;
  const auto map = attributes.GetInts("start_index_map");
  const auto sizes = attributes.GetInts("slice_sizes");
  const Shape whole = c.operands[0].shape();
  std::vector<CutAxis> cut;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    if (c.cells[0][0][axis].size() == whole.dim(axis)) continue;
    const auto at = std::find(map.begin(), map.end(), axis);
    if (at == map.end() || sizes[axis] != 1) return absl::OkStatus();
    cut.push_back({axis, static_cast<int>(at - map.begin())});
  }
  std::vector<int64_t> last;
  for (int64_t axis : map) {
    last.push_back(whole.dim(static_cast<int>(axis)) - sizes[axis]);
  }
  const int along = static_cast<int>(attributes.GetInt("index_vector_dim"));
  const Expression starts = ClampedStarts(c.operands[1], along, last);
  for (size_t cell = 0; cell < c.cells.size(); ++cell) {
    Expression within = starts;
    for (const CutAxis& one : cut) {
      within =
          AddedTo(within, along, one.component, -c.BeginOf(cell, 0, one.axis));
    }
    c.partials[cell] = {Apply(kGather, {c.Part(cell, 0), within}, attributes)};
  }
  // The owner is the last cell that begins nowhere behind the start.
  Expression found = c.partials[0][0];
  const Dims dims = found.dims();
  for (size_t cell = 1; cell < c.cells.size(); ++cell) {
    Expression owns;
    for (const CutAxis& one : cut) {
      const Expression start = ComponentOf(starts, along, one.component);
      const Expression begin =
          Spread(ConstantOf(&c.scope, Literal::Scalar<int64_t>(
                                          c.cells[cell][0][one.axis].begin)),
                 start.dims(), OtherAxes(start.rank(), {}));
      const Expression behind = Compare(start, CompareDirection::kGe, begin);
      owns = owns.present() ? Apply(kAnd, {owns, behind}) : behind;
    }
    owns = Spread(owns, dims, attributes.GetInts("offset_dims"));
    found = Choose(owns, c.partials[cell][0], found);
  }
  c.results[0] = found;
  return absl::OkStatus();
}

}  // namespace hawser
