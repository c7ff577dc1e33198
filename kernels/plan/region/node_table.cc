#include "kernels/plan/region/node_table.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/rules.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/unfold.h"
#include "core/ops/windows/windows.h"
#include "kernels/plan/library/library_ops.h"
#include "kernels/plan/parallel/first_places.h"

namespace hawser::plan {
namespace {

// Demands operand `k` at `map`, under `scope`.
void Take(PointGraph& g, const Instruction& i, int k, IndexMap map,
          ScopeId scope, PointId id, Point* p) {
  const MapId m = g.AddMap(std::move(map));
  p->operands.push_back(g.Demand(i.operands[k], m, scope, id));
}

const Dims& DimsOf(const PointGraph& g, ValueId v) {
  return g.computation().shape(v).dims();
}

void ExpandElementwise(PointGraph& g, const Instruction& i, PointId id,
                       Point* p) {
  const size_t rank = DimsOf(g, i.first_result).size();
  for (const ValueId v : i.operands) {
    // Scalars among larger operands go with every element.
    const bool scalar = DimsOf(g, v).empty() && rank > 0;
    const MapId m = scalar ? g.AddMap({}) : p->map;
    p->operands.push_back(g.Demand(v, m, p->scope, id));
  }
}

void ExpandConstant(PointGraph& g, const Instruction& i, PointId id, Point* p) {
}

void ExpandIota(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kIota;
  p->axis = static_cast<int>(i.attributes.GetInt("iota_dimension"));
}

void ExpandBroadcast(PointGraph& g, const Instruction& i, PointId id,
                     Point* p) {
  p->kind = Point::kMove;
  const auto to = i.attributes.GetInts("broadcast_dimensions");
  const Dims& from = DimsOf(g, i.operands[0]);
  IndexMap map;
  map.axes.reserve(from.size());
  for (size_t a = 0; a < from.size(); ++a) {
    map.axes.push_back(from[a] == 1 ? IndexExpr() : g.map(p->map).axes[to[a]]);
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

void ExpandReshape(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kMove;
  Take(g, i, 0,
       Reshaped(g.map(p->map), DimsOf(g, i.first_result),
                DimsOf(g, i.operands[0])),
       p->scope, id, p);
}

void ExpandTranspose(PointGraph& g, const Instruction& i, PointId id,
                     Point* p) {
  p->kind = Point::kMove;
  const auto permutation = i.attributes.GetInts("permutation");
  IndexMap map;
  map.axes.resize(permutation.size());
  for (size_t a = 0; a < permutation.size(); ++a) {
    map.axes[permutation[a]] = g.map(p->map).axes[a];
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

void ExpandSlice(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kMove;
  const auto starts = i.attributes.GetInts("start_indices");
  const auto strides = i.attributes.GetInts("strides");
  IndexMap map = g.map(p->map);
  for (size_t a = 0; a < map.axes.size(); ++a) {
    map.axes[a] = map.axes[a] * strides[a] + starts[a];
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

void ExpandReverse(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kMove;
  IndexMap map = g.map(p->map);
  for (const int64_t a : i.attributes.GetInts("dimensions")) {
    map.axes[a] = map.axes[a] * -1 + (DimsOf(g, i.first_result)[a] - 1);
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

// The symbol that starts a slice of `size` elements of an axis of `extent`, at
// what operand `k` holds at `map`.
IndexExpr StartOf(PointGraph& g, const Instruction& i, int k, IndexMap map,
                  int64_t extent, int64_t size, PointId id, Point* p) {
  if (extent <= size) return IndexExpr();
  const MapId m = g.AddMap(std::move(map));
  const PointId start = g.Demand(i.operands[k], m, p->scope, id);
  return g.AddSymbol(start, {0, extent - size});
}

void ExpandDynamicSlice(PointGraph& g, const Instruction& i, PointId id,
                        Point* p) {
  p->kind = Point::kMove;
  const Dims from = DimsOf(g, i.operands[0]);
  const auto sizes = i.attributes.GetInts("slice_sizes");
  IndexMap map = g.map(p->map);
  for (size_t a = 0; a < from.size(); ++a) {
    map.axes[a] = map.axes[a] + StartOf(g, i, 1 + static_cast<int>(a), {},
                                        from[a], sizes[a], id, p);
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

void ExpandGather(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kMove;
  const Attributes& a = i.attributes;
  const auto offset = a.GetInts("offset_dims");
  const auto collapsed = a.GetInts("collapsed_slice_dims");
  const auto start_map = a.GetInts("start_index_map");
  const auto sizes = a.GetInts("slice_sizes");
  const int64_t vector_axis = a.GetInt("index_vector_dim");
  const Dims from = DimsOf(g, i.operands[0]);
  const int index_rank = g.computation().shape(i.operands[1]).rank();
  const std::vector<IndexExpr> at = g.map(p->map).axes;

  IndexMap map;
  map.axes.resize(from.size());
  std::vector<IndexExpr> batch;
  size_t axis = 0;
  for (size_t r = 0; r < at.size(); ++r) {
    if (!Contains(offset, static_cast<int64_t>(r))) {
      batch.push_back(at[r]);
      continue;
    }
    while (Contains(collapsed, static_cast<int64_t>(axis))) ++axis;
    map.axes[axis++] = at[r];
  }
  for (size_t c = 0; c < start_map.size(); ++c) {
    IndexMap where{batch};
    if (vector_axis < index_rank) {
      where.axes.insert(where.axes.begin() + vector_axis,
                        IndexExpr::Constant(static_cast<int64_t>(c)));
    }
    const int64_t to = start_map[c];
    map.axes[to] = map.axes[to] + StartOf(g, i, 1, std::move(where), from[to],
                                          sizes[to], id, p);
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

void ExpandPad(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kChoose;
  const auto low = i.attributes.GetInts("edge_padding_low");
  const auto interior = i.attributes.GetInts("interior_padding");
  const Dims from = DimsOf(g, i.operands[0]);
  IndexMap map = g.map(p->map);
  std::vector<Predicate> inside;
  for (size_t a = 0; a < from.size(); ++a) {
    const int64_t step = interior[a] + 1;
    const IndexExpr shifted = map.axes[a] + -low[a];
    inside.push_back({shifted, {0, (from[a] - 1) * step}});
    if (step > 1) inside.push_back({shifted.Mod(step), {0, 0}});
    map.axes[a] = shifted.FloorDiv(step);
  }
  const ScopeId scope = g.AddScope(p->scope, std::move(inside));
  p->cases.push_back(scope);
  Take(g, i, 0, std::move(map), scope, id, p);
  Take(g, i, 1, {}, p->scope, id, p);
}

void ExpandUnfold(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kMove;
  const std::vector<IndexExpr> at = g.map(p->map).axes;
  size_t place = DimsOf(g, i.operands[0]).size();
  IndexMap map{{at.begin(), at.begin() + static_cast<int64_t>(place)}};
  for (const SlidingWindow& w : SlidingWindowsOf(i.attributes)) {
    map.axes[w.axis] = map.axes[w.axis] * w.stride + at[place++] * w.dilation;
  }
  Take(g, i, 0, std::move(map), p->scope, id, p);
}

void ExpandConcatenate(PointGraph& g, const Instruction& i, PointId id,
                       Point* p) {
  p->kind = Point::kChoose;
  const int64_t axis = i.attributes.GetInt("dimension");
  int64_t start = 0;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const int64_t size = DimsOf(g, i.operands[k])[axis];
    IndexMap map = g.map(p->map);
    map.axes[axis] = map.axes[axis] + -start;
    const ScopeId scope =
        g.AddScope(p->scope, {{map.axes[axis], {0, size - 1}}});
    if (k + 1 < i.operands.size()) p->cases.push_back(scope);
    Take(g, i, static_cast<int>(k), std::move(map), scope, id, p);
    start += size;
  }
}

void ExpandReduce(PointGraph& g, const Instruction& i, PointId id, Point* p) {
  p->kind = Point::kReduce;
  const ReduceAxes axes = AxesOfReduce(g.computation(), i);
  const bool extreme = i.op != &kReduce;
  const size_t inputs = extreme ? 1 : i.operands.size() / 2;
  for (size_t k = inputs; k < i.operands.size(); ++k) {
    Take(g, i, static_cast<int>(k), {}, p->scope, id, p);
  }
  for (size_t k = 0; k < inputs; ++k) {
    Take(g, i, static_cast<int>(k), axes.InputMap(), p->scope, id, p);
  }
}

// A library reads its operands whole: no points.
void ExpandDot(PointGraph& g, const Instruction& i, PointId id, Point* p) {}

constexpr NodeRow kRows[] = {
    {&kConstant, NodeClass::kLoop, 0, ExpandConstant, true},
    {&kIota, NodeClass::kLoop, 1, ExpandIota, true},
    {&kBroadcastInDim, NodeClass::kLoop, 0, ExpandBroadcast},
    {&kReshape, NodeClass::kLoop, 0, ExpandReshape, true, true},
    {&kStopGradient, NodeClass::kLoop, 0, ExpandElementwise, true, true},
    {&kBitcastConvert, NodeClass::kLoop, 0, ExpandElementwise, true, true},
    {&kTranspose, NodeClass::kLoop, 1, ExpandTranspose},
    {&kSlice, NodeClass::kLoop, 1, ExpandSlice},
    {&kReverse, NodeClass::kLoop, 1, ExpandReverse},
    {&kDynamicSlice, NodeClass::kLoop, 2, ExpandDynamicSlice},
    {&kGather, NodeClass::kLoop, 6, ExpandGather},
    {&kPad, NodeClass::kLoop, 4, ExpandPad},
    {&kUnfold, NodeClass::kLoop, 1, ExpandUnfold},
    {&kConcatenate, NodeClass::kLoop, 4, ExpandConcatenate},
    {&kReduce, NodeClass::kReduce, 2, ExpandReduce},
    {&kArgMax, NodeClass::kReduce, 3, ExpandReduce},
    {&kArgMin, NodeClass::kReduce, 3, ExpandReduce},
    {&kDotGeneral, NodeClass::kDot, 0, ExpandDot},
    {&kConvolution, NodeClass::kDot, 0, ExpandDot},
    {&kDynamicUpdateSlice, NodeClass::kUpdate},
    {&kScatter, NodeClass::kUpdate},
    {&kScan, NodeClass::kBlock, 2},
    {&kSort, NodeClass::kBlock, 8},
    {&kFirstPlaces, NodeClass::kBlock, 8},
    {&kLibraryFft, NodeClass::kLibrary},
    {&kLibraryCholesky, NodeClass::kLibrary},
    {&kLibraryTriangularSolve, NodeClass::kLibrary},
    {&kLibraryEigh, NodeClass::kLibrary},
    {&kLibraryLu, NodeClass::kLibrary},
    {&kLibraryQr, NodeClass::kLibrary},
    {&kLibraryConvolution, NodeClass::kLibrary},
};
// An op that has no row gets one by its traits.
constexpr NodeRow Elementwise(double cost) {
  return {nullptr, NodeClass::kLoop, cost, ExpandElementwise};
}
constexpr NodeRow kElementwiseRows[] = {  // by CostClass
    Elementwise(1), Elementwise(8), Elementwise(12), Elementwise(40)};
constexpr NodeRow kControlRow = {nullptr, NodeClass::kControl};
constexpr NodeRow kBytesRow = {nullptr, NodeClass::kBytes, 0, nullptr,
                               false,   /*view=*/true};
constexpr NodeRow kUnknownRow = {};

}  // namespace

const NodeRow& NodeOf(const OpDef& op) {
  static const auto& rows = *[] {
    auto* map = new absl::flat_hash_map<const OpDef*, const NodeRow*>();
    for (const NodeRow& row : kRows) map->emplace(row.op, &row);
    return map;
  }();
  const auto at = rows.find(&op);
  if (at != rows.end()) return *at->second;
  if (op.Is(kElementwise)) return kElementwiseRows[static_cast<int>(op.cost)];
  return op.Is(kControlFlow) ? kControlRow : kUnknownRow;
}

DType WidestDType(const Computation& computation,
                  const Instruction& instruction) {
  DType widest = computation.shape(instruction.first_result).dtype();
  for (const ValueId v : instruction.operands) {
    const DType dtype = computation.shape(v).dtype();
    if (ByteWidth(dtype) > ByteWidth(widest)) widest = dtype;
  }
  return widest;
}

const NodeRow& NodeOf(const Computation& computation, const Instruction& i) {
  if (i.op != &kBitcastConvert) return NodeOf(*i.op);
  const DType from = computation.shape(i.operands[0]).dtype();
  const DType to = computation.shape(i.first_result).dtype();
  if (SameWidth(from, to)) return NodeOf(*i.op);
  // A bool is a byte in memory, and one bit of a number.
  return IsBool(from) || IsBool(to) ? kUnknownRow : kBytesRow;
}

Dims ReduceAxes::Domain() const {
  Dims domain;
  for (const int64_t a : kept) domain.push_back(input[a]);
  for (const int64_t a : reduced) domain.push_back(input[a]);
  return domain;
}

IndexMap ReduceAxes::InputMap() const {
  IndexMap map;
  map.axes.resize(input.size());
  int loop = 0;
  for (const Dims* axes : {&kept, &reduced}) {
    for (const int64_t a : *axes) {
      map.axes[a] = IndexExpr::Dim(loop++, input[a]);
    }
  }
  return map;
}

IndexMap ReduceAxes::ResultMap() const {
  IndexMap map;
  map.axes.reserve(kept.size());
  for (size_t k = 0; k < kept.size(); ++k) {
    map.axes.push_back(IndexExpr::Dim(static_cast<int>(k), input[kept[k]]));
  }
  return map;
}

bool ReduceAxes::IsInnermost() const {
  if (reduced.empty()) return true;
  const auto is_long = [&](int64_t axis) { return input[axis] != 1; };
  // If all have one element, rows of one would be slower than columns.
  const auto found = std::find_if(reduced.begin(), reduced.end(), is_long);
  const int64_t first = found == reduced.end() ? reduced[0] : *found;
  return std::all_of(kept.begin(), kept.end(),
                     [&](int64_t a) { return a < first || !is_long(a); });
}

ReduceAxes AxesOfReduce(const Computation& computation, const Instruction& i) {
  ReduceAxes axes{.input = computation.shape(i.operands[0]).dims()};
  const auto& a = i.attributes;
  const Dims reduced = i.op == &kReduce ? Dims(a.GetInts("dimensions").begin(),
                                               a.GetInts("dimensions").end())
                                        : Dims{a.GetInt("dimension")};
  for (size_t axis = 0; axis < axes.input.size(); ++axis) {
    const bool folds = Contains(reduced, static_cast<int64_t>(axis));
    (folds ? axes.reduced : axes.kept).push_back(static_cast<int64_t>(axis));
  }
  return axes;
}

}  // namespace hawser::plan
