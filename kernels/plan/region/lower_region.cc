// One instruction made a Region: its loops, its points, their order.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/movement/scatter.h"
#include "kernels/plan/library/library_ops.h"
#include "kernels/plan/region/accesses.h"
#include "kernels/plan/region/block_layout.h"
#include "kernels/plan/region/epilogue.h"
#include "kernels/plan/region/node_table.h"
#include "kernels/plan/region/point_graph.h"
#include "kernels/plan/region/work.h"

namespace hawser::plan {
namespace {

// The computation of a region, whether it is a fusion or stands alone.
struct Body {
  const Computation* computation;
  int first, last;  // instructions [first, last)
  std::vector<ValueId> results;
  std::vector<ValueId> operands;     // what the instruction's operands are here
  std::vector<const NodeRow*> rows;  // of instructions from `first` on

  const NodeRow& row(int instruction) const {
    return *rows[instruction - first];
  }
  void FindRows() {
    rows.reserve(last - first);
    for (int k = first; k < last; ++k) {
      rows.push_back(&NodeOf(*computation, computation->instructions()[k]));
    }
  }
};

Body BodyOf(const Module& module, const Computation& computation,
            int instruction) {
  const Instruction& i = computation.instructions()[instruction];
  Body body;
  if (i.op == &kFusion) {
    body.computation = &module.computation(i.called[0]);
    body.first = 0;
    body.last = static_cast<int>(body.computation->instructions().size());
    const auto results = body.computation->results();
    body.results.assign(results.begin(), results.end());
    body.operands.resize(i.operands.size());
    std::iota(body.operands.begin(), body.operands.end(), 0);
    body.FindRows();
    return body;
  }
  body.computation = &computation;
  body.first = instruction;
  body.last = instruction + 1;
  for (int k = 0; k < i.num_results; ++k) {
    body.results.push_back(i.first_result + k);
  }
  body.operands.assign(i.operands.begin(), i.operands.end());
  body.FindRows();
  return body;
}

// The first instruction of its class; nullptr: there is none.
const Instruction* FindOfClass(const Body& body, NodeClass node) {
  for (int k = body.first; k < body.last; ++k) {
    if (body.row(k).node == node) return &body.computation->instructions()[k];
  }
  return nullptr;
}

int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t s : sizes) product *= s;
  return product;
}

// The first axis of the product's that is one of the right factor's own.
int FirstColumn(const Computation& c, const Instruction& dot) {
  if (dot.op != &kDotGeneral) return c.shape(dot.first_result).rank() - 1;
  const auto& a = dot.attributes;
  const size_t shared = a.GetInts("rhs_batching_dimensions").size() +
                        a.GetInts("rhs_contracting_dimensions").size();
  return c.shape(dot.first_result).rank() - c.shape(dot.operands[1]).rank() +
         static_cast<int>(shared);
}

// Demands every result over the loops of the region.
absl::Status DemandResults(const Body& body, const ReduceAxes* axes,
                           PointGraph* graph, Region* region) {
  const IndexMap all =
      axes != nullptr ? axes->InputMap() : IndexMap::Identity(region->domain);
  const Dims all_dims = axes != nullptr ? axes->input : region->domain;
  Dims kept_dims;
  for (int k = 0; k < region->num_kept; ++k) {
    kept_dims.push_back(region->domain[k]);
  }
  const int64_t iterations = Product(all_dims);
  const int64_t kept_turns = Product(kept_dims);
  for (const ValueId v : body.results) {
    const Shape& shape = body.computation->shape(v);
    IndexMap map;
    if (axes != nullptr && shape.num_elements() == kept_turns) {
      map = Reshaped(axes->ResultMap(), kept_dims, shape.dims());
    } else if (shape.num_elements() == iterations) {
      map = Reshaped(all, all_dims, shape.dims());
    } else {
      return Internal("region result ", shape.ToString(),
                      " fits neither its loops nor those kept");
    }
    const MapId m = graph->AddMap(std::move(map));
    region->results.push_back(graph->Demand(v, m, 0, -1));
  }
  return absl::OkStatus();
}

// The points that must be there before each point of a graph: operands,
// symbols, the symbols of predicates.
class Needs {
 public:
  explicit Needs(const PointGraph& graph) : graph_(graph) {
    const auto count = static_cast<PointId>(graph.points().size());
    begins_.reserve(count + 1);
    for (PointId id = 0; id < count; ++id) {
      begins_.push_back(needed_.size());
      Add(graph.point(id));
    }
    begins_.push_back(needed_.size());
  }

  absl::Span<const PointId> Of(PointId id) const {
    return absl::MakeConstSpan(needed_).subspan(begins_[id],
                                                begins_[id + 1] - begins_[id]);
  }

 private:
  void Add(const Point& p) {
    needed_.insert(needed_.end(), p.operands.begin(), p.operands.end());
    if (graph_.symbols().empty()) return;
    std::vector<int> symbols;
    for (const IndexExpr& e : graph_.map(p.map).axes) {
      e.CollectSymbols(&symbols);
    }
    for (const ScopeId scope : p.cases) CollectSymbols(scope, &symbols);
    CollectSymbols(p.scope, &symbols);
    for (const int s : symbols) needed_.push_back(graph_.symbols()[s].point);
  }

  void CollectSymbols(ScopeId scope, std::vector<int>* symbols) const {
    for (; scope > 0; scope = graph_.scopes()[scope].parent) {
      for (const Predicate& q : graph_.scopes()[scope].predicates) {
        q.value.CollectSymbols(symbols);
      }
    }
  }

  const PointGraph& graph_;
  std::vector<PointId> needed_;  // point by point
  std::vector<size_t> begins_;   // of each point's
};

// The roots and all that they need, each after what it needs.
std::vector<PointId> Sorted(const Needs& needs, size_t count,
                            absl::Span<const PointId> roots) {
  std::vector<PointId> order;
  order.reserve(count);
  std::vector<bool> met(count, false);
  std::vector<std::pair<PointId, size_t>> stack;  // with how many are left
  const auto open = [&](PointId id) {
    if (met[id]) return;
    met[id] = true;
    stack.emplace_back(id, needs.Of(id).size());
  };
  for (const PointId root : roots) {
    open(root);
    while (!stack.empty()) {
      auto& [id, left] = stack.back();
      if (left > 0) {
        open(needs.Of(id)[--left]);
      } else {
        order.push_back(id);
        stack.pop_back();
      }
    }
  }
  return order;
}

// Takes the points over in order, numbered anew, with their stages.
void TakePoints(PointGraph graph, Region* region) {
  const Needs needs(graph);
  std::vector<Point> points = std::move(graph).TakePoints();
  const std::vector<PointId> order =
      Sorted(needs, points.size(), region->results);
  std::vector<PointId> renumbered(points.size(), -1);
  region->points.reserve(order.size());
  for (size_t n = 0; n < order.size(); ++n) {
    renumbered[order[n]] = static_cast<PointId>(n);
    Point& p = region->points.emplace_back(std::move(points[order[n]]));
    for (PointId& o : p.operands) o = renumbered[o];
    for (const PointId needed : needs.Of(order[n])) {
      const Point& before = region->points[renumbered[needed]];
      const int passed = before.kind == Point::kReduce ? 1 : 0;
      p.stage = std::max(p.stage, before.stage + passed);
    }
  }
  for (PointId& r : region->results) r = renumbered[r];
  region->maps = std::move(graph).TakeMaps();
  region->scopes = std::move(graph).TakeScopes();
  region->symbols = std::move(graph).TakeSymbols();
  for (Symbol& s : region->symbols) s.point = renumbered[s.point];
}

// A reduction's own stage is the pass it sums in.
void CountStages(Region* region) {
  int last = 0;
  for (const Point& p : region->points) {
    // Work that is done per iteration needs a pass; what comes after the last
    // one once per result does not.
    if (!p.per_result || p.kind == Point::kReduce) {
      last = std::max(last, p.stage);
    }
  }
  region->stages = last + 1;
}

int MostAlive(const Region& region) {
  const auto& points = region.points;
  std::vector<int> last_use(points.size(), -1);
  for (size_t n = 0; n < points.size(); ++n) {
    for (const PointId o : points[n].operands) {
      last_use[o] = static_cast<int>(n);
    }
  }
  std::vector<int> ends(points.size(), 0);
  for (const int use : last_use) {
    if (use >= 0) ++ends[use];
  }
  int alive = 0, most = 0;
  for (size_t n = 0; n < points.size(); ++n) {
    most = std::max(most, ++alive);
    alive -= ends[n];
  }
  return most;
}

// Splits a reduction that would leave most of the device idle.
void DecideSplit(const Target& target, Region* region) {
  if (region->kind != RegionKind::kRow &&
      region->kind != RegionKind::kColumnReduction &&
      region->kind != RegionKind::kFullReduction) {
    return;
  }
  const auto& domain = region->domain;
  const int64_t kept =
      Product(absl::MakeConstSpan(domain).subspan(0, region->num_kept));
  const int64_t reduced =
      Product(absl::MakeConstSpan(domain).subspan(region->num_kept));
  int64_t bytes = 0;
  for (const Point& p : region->points) {
    if (p.kind == Point::kReduce) bytes += 16;
  }
  // If there is one stage, no result of full size waits for a reduction.
  if (region->stages > 1 || kept == 0) return;
  const bool columns = region->kind == RegionKind::kColumnReduction;
  const int64_t blocks =
      columns ? (kept - 1) / target.columns_per_block + 1 : kept;
  constexpr int64_t kBlocksPerUnit = 4;
  // A block of columns goes along many rows at once, so fewer make a part.
  constexpr int64_t kFewColumns = 8, kMostRowsAtOnce = 32;
  const int64_t rows_at_once =
      columns ? std::clamp<int64_t>(
                    std::min(kept, target.columns_per_block) / kFewColumns, 1,
                    kMostRowsAtOnce)
              : 1;
  const int64_t least =
      std::max<int64_t>(1, target.split_above_elements / rows_at_once);
  region->splits =
      std::clamp<int64_t>(target.parallel_units * kBlocksPerUnit / blocks, 1,
                          std::max<int64_t>(1, reduced / least));
  if (region->splits < 2) return;
  region->launches = 2;
  region->scratch_bytes = region->splits * kept * bytes;
}

RegionKind KindOfReduction(const Region& region, const ReduceAxes& axes) {
  int64_t kept = 1;
  for (int k = 0; k < region.num_kept; ++k) kept *= region.domain[k];
  if (kept == 1 && region.stages == 1) return RegionKind::kFullReduction;
  return axes.IsInnermost() ? RegionKind::kRow : RegionKind::kColumnReduction;
}

absl::StatusOr<Region> LowerLoops(const Body& body, Region region,
                                  const Target& target) {
  const Instruction* reduce = FindOfClass(body, NodeClass::kReduce);
  const Instruction* dot = FindOfClass(body, NodeClass::kDot);
  ReduceAxes axes;
  if (reduce != nullptr) {
    axes = AxesOfReduce(*body.computation, *reduce);
    region.domain = axes.Domain();
    region.num_kept = static_cast<int>(axes.kept.size());
  } else {
    const ValueId lead = dot != nullptr         ? dot->first_result
                         : body.results.empty() ? kNoValue
                                                : body.results[0];
    if (lead != kNoValue) region.domain = body.computation->shape(lead).dims();
    region.num_kept = static_cast<int>(region.domain.size());
  }
  if (dot != nullptr) {
    region.epilogue.first_column = FirstColumn(*body.computation, *dot);
  }
  PointGraph graph(*body.computation, region.domain, region.num_kept);
  graph.Reserve(body.rows.size() + body.operands.size());
  HAWSER_RETURN_IF_ERROR(DemandResults(
      body, reduce != nullptr ? &axes : nullptr, &graph, &region));
  for (int k = body.last; k-- > body.first;) {
    const Instruction& i = body.computation->instructions()[k];
    if (i.op == &kParameter) continue;
    const NodeRow& row = body.row(k);
    if (row.expand == nullptr) {
      return Internal(i.op->name, " inside a fusion is no part of a region");
    }
    if (row.node == NodeClass::kReduce) {
      const bool same = AxesOfReduce(*body.computation, i) == axes;
      for (int r = 0; r < i.num_results; ++r) {
        for (const PointId p : graph.PointsOf(i.first_result + r)) {
          const Point& point = graph.point(p);
          if (same && point.scope == 0 &&
              graph.map(point.map) == axes.ResultMap()) {
            continue;
          }
          return Internal("a fusion folds a part, or over other axes");
        }
      }
    }
    graph.Expand(k);
  }
  TakePoints(std::move(graph), &region);
  CountStages(&region);
  region.kind = dot != nullptr      ? RegionKind::kLibraryDot
                : reduce != nullptr ? KindOfReduction(region, axes)
                                    : RegionKind::kLoop;
  FindAccesses(*body.computation, body.operands, body.results, target, &region);
  region.live_points = MostAlive(region);
  DecideSplit(target, &region);
  if (dot != nullptr) DescribeEpilogue(*body.computation, &region);
  if (region.epilogue.call) {
    region.launches = static_cast<int>(region.epilogue.call->calls.size());
  }
  return region;
}

// Regions that no loops are planned for: operands and results as a whole.
void CountWholeBytes(const Computation& c, const Instruction& i,
                     const Target& target, Region* region) {
  if (region->kind == RegionKind::kView ||
      region->kind == RegionKind::kConstant ||
      region->kind == RegionKind::kNone) {
    region->launches = 0;
    return;
  }
  for (const ValueId v : i.operands) {
    region->bytes_read += c.shape(v).byte_size();
  }
  for (int k = 0; k < i.num_results; ++k) {
    region->bytes_written += c.shape(i.first_result + k).byte_size();
  }
  if (i.op == &kLibraryConvolution) CountConvolution(c, i, target, region);
  if (region->kind != RegionKind::kUpdate) return;
  // In place only what is written moves: the updates.
  const int64_t whole = c.shape(i.operands[0]).byte_size();
  region->bytes_read -= whole;
  region->bytes_written = region->bytes_read;
}

// How a scatter is shared, and what that launches, keeps, reads and writes.
void LayOutScatter(const Module& module, const Computation& c,
                   const Instruction& i, const Target& target, Region* region) {
  const int64_t elements = c.shape(i.operands[0]).num_elements();
  region->scatter_way = WayOfScatter(module, c, i, target);
  region->launches = LaunchesOf(region->scatter_way);
  region->scratch_bytes = ScratchBytesOf(region->scatter_way, elements);
  const int64_t whole = c.shape(i.operands[0]).byte_size();
  if (region->scatter_way == ScatterWay::kOrdered) {
    region->bytes_read += 2 * whole;
    region->bytes_written += 2 * whole;
  } else if (region->scatter_way == ScatterWay::kFixedPoint) {
    region->bytes_read *= 2;
    region->bytes_read += whole + region->scratch_bytes;
    region->bytes_written += whole + region->scratch_bytes;
  }
}

RegionKind KindAlone(const Computation& c, const Instruction& i,
                     const Target& target) {
  if (i.op == &kParameter) return RegionKind::kNone;
  if (i.op == &kConstant) return RegionKind::kConstant;
  const NodeRow& row = NodeOf(c, i);
  if (row.view) return RegionKind::kView;
  switch (row.node) {
    case NodeClass::kLoop:
    case NodeClass::kReduce:
      return RegionKind::kLoop;
    case NodeClass::kDot:
      return RegionKind::kLibraryDot;
    case NodeClass::kUpdate:
      return RegionKind::kUpdate;
    case NodeClass::kControl:
      return RegionKind::kControl;
    case NodeClass::kBlock:
      return target.block_kernels ? RegionKind::kBlock : RegionKind::kHost;
    case NodeClass::kLibrary:
      return RegionKind::kLibraryCall;
    case NodeClass::kBytes:
    case NodeClass::kHost:
      break;
  }
  return RegionKind::kHost;
}

}  // namespace

absl::StatusOr<Region> LowerRegion(const Module& module, int computation,
                                   int instruction, const Target& target) {
  const Computation& c = module.computation(computation);
  const Instruction& i = c.instructions()[instruction];
  Region region{.computation = computation,
                .instruction = instruction,
                .body = i.op == &kFusion ? i.called[0] : computation};
  region.kind = i.op == &kFusion ? RegionKind::kLoop : KindAlone(c, i, target);
  if (region.kind == RegionKind::kLoop ||
      region.kind == RegionKind::kLibraryDot) {
    auto lowered = LowerLoops(BodyOf(module, c, instruction), region, target);
    if (lowered.ok() || i.op != &kFusion) return lowered;
    // A fusion that another planner made: its computation is called.
    region.kind = RegionKind::kHost;
  }
  CountWholeBytes(c, i, target, &region);
  if (region.kind == RegionKind::kBlock)
    LayOutBlocks(module, i, target, &region);
  if (i.op == &kScatter && region.kind == RegionKind::kUpdate)
    LayOutScatter(module, c, i, target, &region);
  return region;
}

}  // namespace hawser::plan
