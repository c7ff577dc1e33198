#include "kernels/plan/accesses.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/ops/dot.h"
#include "kernels/plan/node_table.h"

namespace hawser::plan {
namespace {

class AccessFinder {
 public:
  AccessFinder(const Computation& computation, const Target& target,
               Region* region)
      : c_(computation), target_(target), r_(*region) {}

  void Find(absl::Span<const ValueId> operands,
            absl::Span<const ValueId> results) {
    for (size_t k = operands.size(); k-- > 0;) {
      operand_of_[operands[k]] = static_cast<int>(k);
    }
    for (int d = 0; d < static_cast<int>(r_.domain.size()); ++d) {
      turns_ *= r_.domain[d];
      if (d < r_.num_kept) turns_kept_ *= r_.domain[d];
    }
    CollectOffsets(results);
    Merge();
    for (Access& a : r_.accesses) Classify(&a);
    ChooseWidth();
    CountBytes(operands, results);
    CountOperations();
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
    for (const Access& a : r_.accesses) offsets.push_back(a.offset);
    r_.loops = CollapseLoops(r_.domain, offsets, others_, {r_.num_kept - 1});
    // Kept loops are merged with kept ones alone.
    for (int64_t turns = 1; turns != turns_kept_;) {
      turns *= r_.loops.extents[r_.num_kept_loops++];
    }
    for (Access& a : r_.accesses) {
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

  void Classify(Access* a) const {
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

  int64_t ElementBytes(const Access& a) const {
    return ByteWidth(c_.shape(r_.points[a.point].value).dtype());
  }

  void ChooseWidth() {
    const int inner = Innermost();
    int64_t widest = 1;
    for (const Access& a : r_.accesses) {
      if (a.kind == AccessKind::kContiguous) {
        widest = std::max(widest, ElementBytes(a));
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
    for (Access& a : r_.accesses) {
      const bool wide = a.kind == AccessKind::kContiguous && !a.masked &&
                        AlignmentOf(a.offset, inner) % width == 0;
      a.vector_width = wide ? r_.vector_width : 1;
    }
  }

  void CountBytes(absl::Span<const ValueId> operands,
                  absl::Span<const ValueId> results) {
    std::vector<double> read(operands.size(), 0);
    for (Access& a : r_.accesses) {
      const Point& p = r_.points[a.point];
      const Shape& shape = c_.shape(p.value);
      const int64_t turns = p.per_result ? turns_kept_ : turns_;
      a.bytes = std::min(turns, shape.num_elements()) * ElementBytes(a);
      if (a.operand >= 0) read[a.operand] += static_cast<double>(a.bytes);
      if (a.result >= 0) r_.bytes_written += shape.byte_size();
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t whole = c_.shape(operands[k]).byte_size();
      r_.bytes_read += std::min(whole, static_cast<int64_t>(read[k]));
    }
    // A product reads its factors whole, through no point.
    for (const Point& p : r_.points) {
      const Instruction& i = c_.instructions()[p.instruction];
      if (p.kind != Point::kOp || i.op != &kDotGeneral) continue;
      const ValueId left = i.operands[0], right = i.operands[1];
      r_.bytes_read += c_.shape(left).byte_size();
      if (right != left) r_.bytes_read += c_.shape(right).byte_size();
    }
  }

  void CountOperations() {
    double total = 0;
    for (const Point& p : r_.points) {
      if (p.kind == Point::kLoad) continue;
      const Instruction& i = c_.instructions()[p.instruction];
      const bool once = p.per_result && p.kind != Point::kReduce;
      total +=
          NodeOf(*i.op).cost * static_cast<double>(once ? turns_kept_ : turns_);
      if (i.op != &kDotGeneral) continue;
      total += 2.0 * static_cast<double>(turns_) *
               static_cast<double>(ContractedSize(i));
    }
    r_.lane_operations = static_cast<int64_t>(std::min(total, 9e18));
  }

  int64_t ContractedSize(const Instruction& dot) const {
    int64_t size = 1;
    for (const int64_t a :
         dot.attributes.GetInts("lhs_contracting_dimensions")) {
      size *= c_.shape(dot.operands[0]).dim(static_cast<int>(a));
    }
    return size;
  }

  // A large load runs along another loop than the stores.
  bool CrossesWrites() const {
    const int inner = Innermost();
    for (const Access& a : r_.accesses) {
      if (a.kind != AccessKind::kStrided || a.bytes <= target_.cached_bytes) {
        continue;
      }
      for (int d = 0; d < inner; ++d) {
        if (a.offset.CoefficientOf(d) == 1) return true;
      }
    }
    return false;
  }

  const Computation& c_;
  const Target& target_;
  Region& r_;
  absl::flat_hash_map<ValueId, int> operand_of_;
  std::vector<IndexExpr> others_;
  int64_t turns_kept_ = 1, turns_ = 1;
};

}  // namespace

void FindAccesses(const Computation& computation,
                  absl::Span<const ValueId> operands,
                  absl::Span<const ValueId> results, const Target& target,
                  Region* region) {
  AccessFinder(computation, target, region).Find(operands, results);
}

}  // namespace hawser::plan
