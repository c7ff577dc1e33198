#include "kernels/gpu/emit/scatter_loops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/rules.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {

using plan::IndexExpr;
using plan::IndexMap;

namespace {

enum Loop { kVector, kWindow };

}  // namespace

absl::StatusOr<ScatterLoops> FindScatterLoops(const Computation& c,
                                              const Instruction& i) {
  const size_t count = i.operands.size() / 2;
  const Shape& input = c.shape(i.operands[0]);
  const Shape& indices = c.shape(i.operands[count]);
  const Shape& updates = c.shape(i.operands[count + 1]);
  const auto inserted = i.attributes.GetInts("inserted_window_dims");
  const auto window = i.attributes.GetInts("update_window_dims");
  const auto map = i.attributes.GetInts("scatter_dims_to_operand_dims");
  const int64_t vector_axis = i.attributes.GetInt("index_vector_dim");
  Dims batch_sizes, window_sizes;
  std::vector<int> axis_of(updates.rank(), -1);  // of the input
  for (int a = 0, next = 0; a < input.rank(); ++a) {
    if (!Contains(inserted, a)) axis_of[window[next++]] = a;
  }
  for (int u = 0; u < updates.rank(); ++u) {
    (axis_of[u] < 0 ? batch_sizes : window_sizes).push_back(updates.dim(u));
    if (Contains(map, axis_of[u]) && updates.dim(u) > 1) {
      return Unimplemented("no kernel scatters windows that overlap");
    }
  }
  ScatterLoops loops;
  loops.vectors = ProductOf(batch_sizes);
  loops.window = ProductOf(window_sizes);
  const IndexMap batch =
      plan::Delinearize(IndexExpr::Dim(kVector, loops.vectors), batch_sizes);
  const IndexMap inside =
      plan::Delinearize(IndexExpr::Dim(kWindow, loops.window), window_sizes);
  IndexMap update;
  const Dims strides = input.Strides();
  for (int u = 0, b = 0, w = 0; u < updates.rank(); ++u) {
    if (axis_of[u] < 0) {
      update.axes.push_back(batch.axes[b++]);
      continue;
    }
    update.axes.push_back(inside.axes[w]);
    loops.window_offset =
        loops.window_offset + inside.axes[w++] * strides[axis_of[u]];
  }
  loops.update_offset = update.Linear(updates.dims());
  for (size_t k = 0; k < map.size(); ++k) {
    IndexMap at = batch;
    if (vector_axis < indices.rank()) {
      at.axes.insert(at.axes.begin() + vector_axis,
                     IndexExpr::Constant(static_cast<int64_t>(k)));
    }
    const int axis = static_cast<int>(map[k]);
    loops.moved.push_back(
        {input.dim(axis), strides[axis], at.Linear(indices.dims())});
    loops.places *= input.dim(axis);
  }
  return loops;
}

IndexNames NamesOfScatter(const Computation& c, const Instruction& scatter) {
  IndexNames names;
  names.loops = {"n", "w"};
  for (const ValueId v : scatter.operands) {
    names.wide |= c.shape(v).num_elements() >= int64_t{1} << 31;
  }
  return names;
}

void ScatterLoops::WriteComponents(const std::string& indices,
                                   const IndexNames& names,
                                   TextWriter* body) const {
  for (size_t k = 0; k < moved.size(); ++k) {
    body->Line("const s64 i", k, " = (s64)Load(", indices, " + (",
               IndexText(moved[k].component, names), "));");
  }
}

std::string ScatterLoops::InsideText() const {
  std::string inside = "true";
  for (size_t k = 0; k < moved.size(); ++k) {
    absl::StrAppend(&inside, " && (u64)i", k, " < ", moved[k].size, "ull");
  }
  return inside;
}

std::string ScatterLoops::PlaceText(const IndexNames& names) const {
  std::string place = names.Number(0);
  for (size_t k = 0; k < moved.size(); ++k) {
    place = absl::StrCat("(", place, ") * ", names.Number(moved[k].size),
                         " + (", names.type(), ")i", k);
  }
  return place;
}

void ScatterLoops::WriteOffsets(const IndexNames& names,
                                TextWriter* body) const {
  std::string at = names.Number(0);
  for (size_t k = 0; k < moved.size(); ++k) {
    absl::StrAppend(&at, " + (", names.type(), ")i", k, " * ",
                    names.Number(moved[k].stride));
  }
  body->Line("const ", names.type(), " at = ", at, " + ",
             IndexText(window_offset, names), ";");
  body->Line("const ", names.type(),
             " from = ", IndexText(update_offset, names), ";");
}

}  // namespace hawser::gpu
