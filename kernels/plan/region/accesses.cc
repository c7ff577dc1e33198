#include "kernels/plan/region/accesses.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "kernels/plan/region/work.h"

namespace hawser::plan {
namespace {

// Invariant: `others_` are the indices and predicates that depend on loops
// beside the offsets of the region's accesses.
class AccessFinder {
 public:
  AccessFinder(const Computation& computation, const Target& target,
               Region* region)
      : c_(computation), target_(target), r_(*region) {}

  void Find(absl::Span<const ValueId> operands,
            absl::Span<const ValueId> results) {
    operand_of_.reserve(operands.size());
    for (size_t k = operands.size(); k-- > 0;) {
      operand_of_[operands[k]] = static_cast<int>(k);
    }
    r_.accesses.reserve(operands.size() + results.size());
    CollectOffsets(results);
    Merge();
    for (MemoryAccess& a : r_.accesses) Classify(&a);
    ChooseWidth();
    CountWork(c_, target_, operands, &r_);
    if (r_.kind == RegionKind::kLoop && CrossesWrites()) {
      r_.kind = RegionKind::kTiledTranspose;
    }
  }

 private:
  void CollectOffsets(absl::Span<const ValueId> results) {
    for (size_t n = 0; n < r_.points.size(); ++n) {
      const Point& p = r_.points[n];
      const Dims& dims = c_.shape(p.value).dims();
      if (p.kind == Point::kLoad) {
        r_.accesses.push_back({.point = static_cast<PointId>(n),
                               .operand = operand_of_.at(p.value),
                               .offset = r_.maps[p.map].Linear(dims),
                               .masked = p.scope != 0});
      } else if (p.kind == Point::kIota) {
        others_.push_back(r_.maps[p.map].axes[p.axis]);
      }
    }
    for (size_t k = 0; k < results.size(); ++k) {
      const Point& p = r_.points[r_.results[k]];
      r_.accesses.push_back(
          {.point = r_.results[k],
           .result = static_cast<int>(k),
           .offset = r_.maps[p.map].Linear(c_.shape(results[k]).dims())});
    }
    for (const Scope& s : r_.scopes) {
      for (const Predicate& p : s.predicates) others_.push_back(p.value);
    }
  }

  void Merge() {
    std::vector<IndexExpr> offsets;
    offsets.reserve(r_.accesses.size());
    for (const MemoryAccess& a : r_.accesses) offsets.push_back(a.offset);
    const bool by_boxes = target_.epilogues == EpilogueSupport::kAny;
    const int barriers[] = {r_.num_kept - 1,
                            by_boxes ? r_.epilogue.first_column - 1 : -1};
    r_.loops = CollapseLoops(r_.domain, offsets, others_, barriers);
    if (target_.splits_loops && IsOfPoints(r_.kind)) {
      offsets.insert(offsets.end(), others_.begin(), others_.end());
      for (IndexExpr& e : offsets) e = e.Substitute(r_.loops.back);
      const int last = static_cast<int>(r_.loops.extents.size()) - 1;
      const bool steps = std::any_of(
          r_.accesses.begin(), r_.accesses.end(), [&](const MemoryAccess& a) {
            return a.operand >= 0 &&
                   a.offset.Substitute(r_.loops.back).CoefficientOf(last) != 0;
          });
      r_.loops = SplitLoops(std::move(r_.loops), offsets,
                            /*innermost=*/!steps);
    }
    // Kept loops are merged with kept ones alone.
    const int64_t iterations_kept = IterationsOf(r_, r_.num_kept);
    for (int64_t iterations = 1; iterations != iterations_kept;) {
      iterations *= r_.loops.extents[r_.num_kept_loops++];
    }
    for (MemoryAccess& a : r_.accesses) {
      a.offset = a.offset.Substitute(r_.loops.back);
      const Bounds b = a.offset.bounds();
      r_.fits_u32 = r_.fits_u32 && b.max < (int64_t{1} << 31);
    }
  }

  // The loop that neighbouring lanes run over.
  int Innermost() const {
    const bool column = r_.kind == RegionKind::kColumnReduction;
    return column ? r_.num_kept_loops - 1
                  : static_cast<int>(r_.loops.extents.size()) - 1;
  }

  void Classify(MemoryAccess* a) const {
    const int inner = Innermost();
    const bool divided = a->offset.DividesDim(inner);
    const int64_t step = a->offset.CoefficientOf(inner);
    if (a->offset.UsesSymbol()) {
      a->kind = AccessKind::kIndexed;
    } else if (divided || (step != 0 && step != 1)) {
      a->kind = AccessKind::kStrided;
    } else {
      a->kind = step == 1 ? AccessKind::kContiguous : AccessKind::kUniform;
    }
  }

  void ChooseWidth() {
    const int inner = Innermost();
    int64_t widest = 1;
    for (const MemoryAccess& a : r_.accesses) {
      if (a.kind == AccessKind::kContiguous) {
        widest = std::max(widest, ElementBytes(c_, r_, a));
      }
    }
    int64_t width = std::max<int64_t>(1, target_.vector_bytes / widest);
    const int64_t extent = inner >= 0 ? r_.loops.extents[inner] : 1;
    const bool only_loop = r_.loops.extents.size() == 1;
    // One long loop has a ragged tail; rows must divide.
    while (width > 1 && (only_loop ? extent < width : extent % width != 0)) {
      width /= 2;
    }
    r_.vector_width = static_cast<int>(width);
    for (MemoryAccess& a : r_.accesses) {
      const bool wide = a.kind == AccessKind::kContiguous && !a.masked &&
                        AlignmentOf(a.offset, inner) % width == 0;
      a.vector_width = wide ? r_.vector_width : 1;
    }
  }

  // A large load runs along another loop than the stores.
  bool CrossesWrites() const {
    const int inner = Innermost();
    const auto is_long = [&](int d) {
      return d >= 0 && r_.loops.extents[d] >= target_.least_transposed;
    };
    if (!is_long(inner)) return false;
    for (const MemoryAccess& a : r_.accesses) {
      if (a.kind != AccessKind::kStrided || a.bytes <= target_.cached_bytes) {
        continue;
      }
      for (int d = 0; d < inner; ++d) {
        if (a.offset.CoefficientOf(d) == 1 && is_long(d)) return true;
      }
    }
    return false;
  }

  const Computation& c_;
  const Target& target_;
  Region& r_;
  absl::flat_hash_map<ValueId, int> operand_of_;
  std::vector<IndexExpr> others_;
};

}  // namespace

void FindAccesses(const Computation& computation,
                  absl::Span<const ValueId> operands,
                  absl::Span<const ValueId> results, const Target& target,
                  Region* region) {
  AccessFinder(computation, target, region).Find(operands, results);
}

}  // namespace hawser::plan
