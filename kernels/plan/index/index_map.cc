#include "kernels/plan/index/index_map.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hawser::plan {
namespace {

// True if loop `i`, of which one iteration stands for `extent` iterations of
// loop i+1, may be merged with it as far as `offset` can tell.
bool MovesAsOne(const IndexExpr& offset, int i, int next, int64_t extent) {
  return !offset.DividesDim(i) && !offset.DividesDim(next) &&
         offset.CoefficientOf(i) == offset.CoefficientOf(next) * extent;
}

// Fewer remainders would make short rows of a long one.
constexpr int64_t kManyRemainders = 32;

// Takes note of what the expression divides loop `d` by.
void MeetDivisor(const IndexExpr& e, int d, int64_t* divisor) {
  for (const IndexExpr::Term& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    if (atom.inner == nullptr || !atom.inner->UsesDim(d)) continue;
    const bool fits = atom.inner->CoefficientOf(d) == 1 &&
                      !atom.inner->DividesDim(d) &&
                      (*divisor == 0 || *divisor == atom.divisor);
    *divisor = fits ? atom.divisor : -1;
  }
}

}  // namespace

IndexMap IndexMap::Identity(absl::Span<const int64_t> dims) {
  IndexMap map;
  map.axes.reserve(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    map.axes.push_back(IndexExpr::Dim(static_cast<int>(i), dims[i]));
  }
  return map;
}

IndexMap IndexMap::Substitute(absl::Span<const IndexExpr> dims) const {
  IndexMap map;
  map.axes.reserve(axes.size());
  for (const IndexExpr& axis : axes) map.axes.push_back(axis.Substitute(dims));
  return map;
}

IndexExpr IndexMap::Linear(absl::Span<const int64_t> dims) const {
  IndexExpr linear;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    linear.AddScaled(axes[i], stride);
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return linear;
}

std::string IndexMap::ToString() const {
  return absl::StrCat(
      "(",
      absl::StrJoin(axes, ", ",
                    [](std::string* out, const IndexExpr& axis) {
                      out->append(axis.ToString());
                    }),
      ")");
}

IndexMap Delinearize(const IndexExpr& linear, absl::Span<const int64_t> dims) {
  IndexMap map;
  map.axes.resize(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t size = std::max<int64_t>(dims[i], 1);
    map.axes[i] = linear.FloorDiv(stride).Mod(size);
    stride *= size;
  }
  return map;
}

IndexMap Reshaped(const IndexMap& map, const Dims& from, const Dims& to) {
  return from == to ? map : Delinearize(map.Linear(from), to);
}

bool Predicate::AlwaysHolds() const {
  const Bounds b = value.bounds();
  return b.min >= bounds.min && b.max <= bounds.max;
}

bool Predicate::NeverHolds() const {
  const Bounds b = value.bounds();
  return b.max < bounds.min || b.min > bounds.max;
}

std::string Predicate::ToString() const {
  return absl::StrCat(bounds.min, " <= ", value.ToString(), " <= ", bounds.max);
}

Collapse CollapseLoops(absl::Span<const int64_t> extents,
                       absl::Span<const IndexExpr> offsets,
                       absl::Span<const IndexExpr> conditions,
                       absl::Span<const int> barriers) {
  const int rank = static_cast<int>(extents.size());
  // Groups of neighbours, as the first loop of each; loops of one iteration are
  // left out and divide nothing, a barrier among them is kept in mind.
  std::vector<std::vector<int>> groups;
  bool barrier = false;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] != 1) {
      const auto merges = [&](const IndexExpr& e) {
        return MovesAsOne(e, groups.back().back(), i, extents[i]);
      };
      const bool join =
          !groups.empty() && !barrier &&
          std::all_of(offsets.begin(), offsets.end(), merges) &&
          std::all_of(conditions.begin(), conditions.end(), merges);
      if (!join) groups.emplace_back();
      groups.back().push_back(i);
      barrier = false;
    }
    barrier |= std::find(barriers.begin(), barriers.end(), i) != barriers.end();
  }
  Collapse collapse;
  collapse.back.resize(rank);
  for (size_t g = 0; g < groups.size(); ++g) {
    int64_t extent = 1;
    for (const int i : groups[g]) extent *= extents[i];
    Dims sizes;
    for (const int i : groups[g]) sizes.push_back(extents[i]);
    const IndexMap parts =
        Delinearize(IndexExpr::Dim(static_cast<int>(g), extent), sizes);
    for (size_t k = 0; k < groups[g].size(); ++k) {
      collapse.back[groups[g][k]] = parts.axes[k];
    }
    collapse.extents.push_back(extent);
  }
  return collapse;
}

Collapse SplitLoops(Collapse collapse, absl::Span<const IndexExpr> expressions,
                    bool innermost) {
  const int loops = static_cast<int>(collapse.extents.size());
  Dims extents;
  std::vector<IndexExpr> loop_of;
  for (int d = 0; d < loops; ++d) {
    int64_t divisor = 0;  // below 0: several, or none that fits
    for (const IndexExpr& e : expressions) MeetDivisor(e, d, &divisor);
    const int64_t extent = collapse.extents[d];
    const int next = static_cast<int>(extents.size());
    const bool splits =
        divisor > 0 && divisor < extent && extent % divisor == 0 &&
        (d + 1 < loops || innermost || divisor >= kManyRemainders);
    if (!splits) {
      extents.push_back(extent);
      loop_of.push_back(IndexExpr::Dim(next, extent));
      continue;
    }
    extents.push_back(extent / divisor);
    extents.push_back(divisor);
    loop_of.push_back(IndexExpr::Dim(next, extent / divisor) * divisor +
                      IndexExpr::Dim(next + 1, divisor));
  }
  if (static_cast<int>(extents.size()) == loops) return collapse;
  for (IndexExpr& index : collapse.back) index = index.Substitute(loop_of);
  collapse.extents = std::move(extents);
  return collapse;
}

int64_t AlignmentOf(const IndexExpr& offset, int innermost) {
  uint64_t bits = static_cast<uint64_t>(offset.constant());
  for (const IndexExpr::Term& t : offset.terms()) {
    if (t.atom.kind == IndexAtom::kDim && t.atom.index == innermost) continue;
    bits |= static_cast<uint64_t>(t.coefficient);
  }
  constexpr int64_t kLargest = 1 << 20;
  if (bits == 0) return kLargest;
  return std::min<int64_t>(kLargest, static_cast<int64_t>(bits & -bits));
}

}  // namespace hawser::plan
