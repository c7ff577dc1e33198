// IndexMap: which element of a value each iteration of a region's loops needs.
// FIXED: emitters are written over this header.
#ifndef HAWSER_KERNELS_PLAN_INDEX_INDEX_MAP_H_
#define HAWSER_KERNELS_PLAN_INDEX_INDEX_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/base/values/shape.h"
#include "kernels/plan/index/index_expr.h"

namespace hawser::plan {

// Maps loop indices to one index per axis of a value. A value type.
struct IndexMap {
  std::vector<IndexExpr> axes;

  // Loop i is axis i of a value of these sizes.
  static IndexMap Identity(absl::Span<const int64_t> dims);
  // Returns the map that this one becomes once every loop index i is `dims[i]`:
  // composition.
  IndexMap Substitute(absl::Span<const IndexExpr> dims) const;
  // The row-major offset, in elements, into a value of sizes `dims`.
  IndexExpr Linear(absl::Span<const int64_t> dims) const;
  std::string ToString() const;  // "(d0, d1 + 3)"
  bool operator==(const IndexMap& other) const = default;
};

// The axes' indices at row-major offset `linear` of a value of sizes `dims`:
// the inverse of Linear.
IndexMap Delinearize(const IndexExpr& linear, absl::Span<const int64_t> dims);

// A map to a value of sizes `from`, for the same elements under sizes `to`.
IndexMap Reshaped(const IndexMap& map, const Dims& from, const Dims& to);

// `value` lies within `bounds`. If a predicate fails, the element is not read.
struct Predicate {
  IndexExpr value;
  Bounds bounds;

  // True if the loops' bounds already say it.
  bool AlwaysHolds() const;
  bool NeverHolds() const;
  std::string ToString() const;  // "0 <= d0 - 2 <= 7"
  bool operator==(const Predicate& other) const = default;
};

// The result of merging loops that always run together: fewer loops, longer
// vectors. `extents` are the new loops; `back` gives each old index in the new
// ones.
struct Collapse {
  Dims extents;
  std::vector<IndexExpr> back;
};
// Merges neighbouring loops wherever none of `offsets` and `conditions` can
// tell: there loop i moves as loop i+1 would after its last iteration, and
// neither stands under a division. Loops of one iteration go. Loop i is never
// merged with loop i+1 where i is in `barriers` (the last kept axis of a
// reduction).
Collapse CollapseLoops(absl::Span<const int64_t> extents,
                       absl::Span<const IndexExpr> offsets,
                       absl::Span<const IndexExpr> conditions,
                       absl::Span<const int> barriers = {});

// Makes two loops of each that every division in `expressions`, which count the
// loops of `collapse`, divides by one number: quotient and remainder are
// indices then. The innermost loop stays unless `innermost` or its remainders
// are many.
Collapse SplitLoops(Collapse collapse, absl::Span<const IndexExpr> expressions,
                    bool innermost);

// The largest power of two that divides the offset whatever the loops' indices
// and symbols; the innermost loop `innermost` is left out (-1: none is). For
// choosing vector widths: a load of V elements is aligned when V divides it.
int64_t AlignmentOf(const IndexExpr& offset, int innermost);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_INDEX_INDEX_MAP_H_
