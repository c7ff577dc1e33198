// Region: one kernel of a planned module, as an emitter needs it. A function
// of one instruction and a Target alone: LowerRegion makes it again from a
// module that was printed and parsed.
// FIXED: emitters are written over this header; fields may be added.
#ifndef HAWSER_KERNELS_PLAN_REGION_REGION_H_
#define HAWSER_KERNELS_PLAN_REGION_REGION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/index/index_map.h"
#include "kernels/plan/parallel/scatter_way.h"
#include "kernels/plan/target/product_call.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

enum class RegionKind : uint8_t {
  kNone,             // parameter: nothing runs
  kConstant,         // a value put in place once
  kView,             // the operand's bytes under another shape
  kLoop,             // every element on its own
  kTiledTranspose,   // a loop that reads along another axis than it writes
  kRow,              // reductions over the innermost axes, rows resident
  kColumnReduction,  // reductions over other axes
  kFullReduction,    // reductions over everything
  kLibraryDot,       // dot_general, maybe with an epilogue
  kUpdate,           // dynamic_update_slice, scatter: in place if it may be
  kBlock,            // scan, sort: kernels of their own (block_layout.h)
  kLibraryCall,      // a call of the device's library (library/)
  kHost,             // no kernel is planned: run by the engine's own row
  kControl,          // while, case: computations planned on their own
};
absl::string_view RegionKindName(RegionKind kind);
// True if points are all there is to it: it reads loads of these and no more.
inline bool IsOfPoints(RegionKind kind) {
  return kind == RegionKind::kLoop || kind == RegionKind::kTiledTranspose ||
         kind == RegionKind::kRow || kind == RegionKind::kColumnReduction ||
         kind == RegionKind::kFullReduction;
}

using PointId = int;
using MapId = int;
using ScopeId = int;

// One evaluation: value `value` of the region's computation at the element
// maps[map], under the predicates of scopes[scope]. Points stand in an order
// in which operands come first, so one pass over them is the kernel's body:
//
//   kLoad    parameter: element maps[map] of it. kOp: the instruction over the
//            operand points. kMove: operand 0. kChoose: operand k where scope
//            scopes[cases[k]] holds, the first that does; the last operand
//            else. kIota: element `axis` of the map, converted. kReduce: the
//            instruction's fold over the reduced loops of the N operand points
//            after N initial points; result `result` of it.
struct Point {
  enum Kind : uint8_t { kLoad, kOp, kMove, kChoose, kIota, kReduce };
  Kind kind = kOp;
  ValueId value = kNoValue;
  int instruction = -1;  // in `computation`; its op says what to compute
  int result = 0;        // of the instruction
  MapId map = 0;
  ScopeId scope = 0;
  // Passes over the loops that must be done before: 0 before any reduction, a
  // user of a reduction is one more. Only of kRow may it pass 1.
  int stage = 0;
  // Needs no reduced loop index: once per result of the reductions.
  bool per_result = false;
  absl::InlinedVector<PointId, 3> operands;
  absl::InlinedVector<ScopeId, 2> cases;  // kChoose
  int axis = 0;                           // kIota
};

// Predicates that hold together; those of `parent` come first, and must be
// looked at first. Scope 0 is empty.
struct Scope {
  ScopeId parent = -1;
  std::vector<Predicate> predicates;  // this scope's own
  int depth = 0;
};

// A run-time number in an IndexExpr: the integer at `point`, clamped to
// `bounds`, which begin at 0. It must be computed before any point whose map
// uses it.
struct Symbol {
  PointId point = -1;
  Bounds bounds;
};

// Says how neighbouring iterations of the innermost loop meet memory.
enum class AccessKind : uint8_t {
  kContiguous,  // next element
  kUniform,     // the same element
  kStrided,     // elements apart, or behind a division
  kIndexed,     // wherever a symbol says
};

// One kLoad point or one stored result, over the collapsed loops.
struct MemoryAccess {
  PointId point = -1;
  int operand = -1;  // load: parameter of the region; -1 of a store
  int result = -1;   // store: result of the region; -1 of a load
  IndexExpr offset;  // in elements, over `loops`
  AccessKind kind = AccessKind::kContiguous;
  bool masked = false;   // under predicates
  int vector_width = 1;  // elements per access, at most Region::vector_width
  int64_t bytes = 0;     // of distinct elements, moved once
};

// A product's tail, by structure. Absent operands are -1.
struct Epilogue {
  int dot_instruction = -1;  // in `computation`
  PointId dot_point = -1;
  // Loops of the domain from here on are the product's columns. If the target
  // takes any tail, they are merged with no others, so that a box of the
  // product is one of the merged loops.
  int first_column = -1;
  int bias_operand = -1;  // parameter of the region, one per column
  int residual_operand = -1;
  Activation activation = Activation::kIdentity;
  bool present = false;
  // The product with its tail as a library's call; nullopt where there is none.
  std::optional<ProductCall> call;
};

struct Region {
  RegionKind kind = RegionKind::kNone;
  // The computation of the instruction, in Plan::module; if fusions share a
  // body, of the first: operands and results of all have the same shapes.
  int computation = -1;
  int instruction = -1;
  // The computation of the points' values and instructions: the fusion's, or
  // `computation` itself for an instruction that stands alone.
  int body = -1;

  // Loops as points' maps count them: a reduction's kept axes, then its
  // reduced ones; else the axes of the results.
  Dims domain;
  int num_kept = 0;  // loops [num_kept, rank) are reduced; rank: none is
  std::vector<IndexMap> maps;
  std::vector<Scope> scopes;
  std::vector<Symbol> symbols;
  std::vector<Point> points;
  std::vector<PointId> results;  // one per result of the instruction

  // The same loops merged where nothing can tell; `accesses` count them.
  // Emit with maps[m].Substitute(collapse.back).
  Collapse loops;
  int num_kept_loops = 0;
  int vector_width = 1;  // iterations of the innermost loop done at once
  bool fits_u32 = true;  // every offset is below 2^31
  std::vector<MemoryAccess> accesses;
  int stages = 1;      // passes over the domain (1 + deepest reduction chain)
  int launches = 1;    // 2: partial results, then the rest
  int64_t splits = 1;  // blocks per result of a split reduction; of kBlock:
                       // parts of a scan's run
  int64_t scratch_bytes = 0;                     // for partial results
  ScatterWay scatter_way = ScatterWay::kOwners;  // of a scatter
  int live_points = 0;  // most values alive at once: registers, about
  Epilogue epilogue;    // kLibraryDot

  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  int64_t lane_operations = 0;
  double lane_seconds = 0;       // what these take, by the target's costs
  std::string ToString() const;  // a line
};

// The regions of a computation, one per instruction. Immutable but for Add;
// fusions of one body have one Region in memory.
class Regions {
 public:
  using Ptr = std::shared_ptr<const Region>;
  class Iterator {
   public:
    explicit Iterator(const Ptr* at) : at_(at) {}
    const Region& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Ptr* at_;
  };

  void Reserve(size_t size) { regions_.reserve(size); }
  void Add(Ptr region) { regions_.push_back(std::move(region)); }
  size_t size() const { return regions_.size(); }
  const Region& operator[](size_t instruction) const {
    return *regions_[instruction];
  }
  const Region& back() const { return *regions_.back(); }
  Iterator begin() const { return Iterator(regions_.data()); }
  Iterator end() const { return Iterator(regions_.data() + size()); }

 private:
  std::vector<Ptr> regions_;
};

// The region of one instruction of `module`. A fusion whose computation is not
// one region (another planner's) is kHost: call the computation. Errors:
// kInternal, a bug.
absl::StatusOr<Region> LowerRegion(const Module& module, int computation,
                                   int instruction, const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_REGION_H_
