#include "kernels/cpu/folds/tiles/lane_folds.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace hawser::cpu {
namespace {

constexpr int64_t kFewRows = 8;
// Lanes that are transposed at a time, in the nearest cache.
constexpr int64_t kTransposed = 4096;

// Calls fn(first, n, columns) for some rows at a time, from `first` on: n
// columns of nx lanes, n apart, in memory of the thread.
template <typename Fn>
void ForTransposed(const LaneMoves& moves, const LaneRows& in, int64_t width,
                   int64_t ny, int64_t nx, Fn fn) {
  thread_local std::vector<double> memory(kTransposed * 2);  // of the widest
  char* const columns = reinterpret_cast<char*>(memory.data());
  const int64_t most = std::min(kTransposed / nx, kFoldColumns);
  for (int64_t j = 0; j < ny; j += most) {
    const int64_t n = std::min(most, ny - j);
    moves.Load(in.first + j * in.stride * width, {1, in.stride}, nx, n,
               columns);
    fn(j, n, columns);
  }
}

}  // namespace

// ---- by a monoid ------------------------------------------------------------

MonoidFold::MonoidFold(const Reduction& reduction, Isa isa)
    : reduction_(reduction),
      elements_(ByteWidth(reduction.elements.in), isa),
      parts_(ByteWidth(reduction.elements.accumulator), isa) {}

void MonoidFold::Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                      char* parts, int64_t step) const {
  // Few elements of a row are folded one after the other, too.
  const int64_t longest = reduction_.ordered ? kFewElements - 1 : kShortRow;
  if (nx <= longest && ny >= kFewRows) {
    thread_local std::vector<double> memory(kTransposed * 2);
    char* const sums = reinterpret_cast<char*>(memory.data());
    return ForTransposed(elements_, in[0], ByteWidth(reduction_.elements.in),
                         ny, nx,
                         [&](int64_t first, int64_t n, const char* columns) {
                           reduction_.elements.columns(columns, nx, n, n, sums);
                           parts_.Store(sums, {0, step}, 1, n,
                                        parts + first * step * part_bytes());
                         });
  }
  const int64_t stride = in[0].stride * ByteWidth(reduction_.elements.in);
  for (int64_t j = 0; j < ny; ++j) {
    reduction_.elements.run(in[0].first + j * stride, nx,
                            parts + j * step * part_bytes());
  }
}

void MonoidFold::Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                         int64_t before, char* parts) const {
  auto* run = before == 0 ? reduction_.elements.columns
                          : reduction_.elements.accumulate;
  run(in[0].first, ny, in[0].stride, nx, parts);
}

void MonoidFold::Finish(const LaneParts& p,
                        absl::Span<const char* const> initial,
                        absl::Span<char* const> results) const {
  const Folds& folds = reduction_.parts;
  if (p.segments > 1 && p.columns) {
    folds.columns(p.parts, p.segments, p.n, p.n, p.parts);
  } else if (p.segments > 1) {
    // Row j's come to be in the place of part j, which is read by then.
    for (int64_t j = 0; j < p.n; ++j) {
      folds.run(p.parts + j * p.segments * part_bytes(), p.segments,
                p.parts + j * part_bytes());
    }
  }
  reduction_.finish(initial[0], p.parts, p.n, results[0]);
}

// ---- where an extreme stands ------------------------------------------------

namespace {

template <typename C>
using IndexFor = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;

// True if x, which comes later, replaces the best.
template <typename C>
bool Wins(ExtremeKind kind, C x, C best) {
  if (x != x) return kind.last || best == best;
  if (x == best) return kind.last;
  return kind.largest ? x > best : x < best;
}

// The index of each, over all segments.
template <typename C, typename Index>
void JoinIndices(const LaneParts& p, ExtremeKind kind, Index* out) {
  using P = IndexFor<C>;
  const C* values = reinterpret_cast<const C*>(p.parts);
  const P* indices = reinterpret_cast<const P*>(p.parts);
  const int64_t kept = p.columns ? 1 : 2 * p.segments;
  const int64_t segment = p.columns ? 2 * p.n : 2;
  const int64_t to_index = p.columns ? p.n : 1;
  for (int64_t j = 0; j < p.n; ++j) {
    int64_t at = j * kept;
    C best = values[at];
    int64_t index = indices[at + to_index];
    for (int64_t s = 1; s < p.segments; ++s) {
      at += segment;
      if (!Wins(kind, values[at], best)) continue;
      best = values[at];
      index = s * p.iterations + indices[at + to_index];
    }
    out[j] = static_cast<Index>(index);
  }
}

}  // namespace

namespace {

int64_t ExtremeWidth(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> int64_t {
    return sizeof(ExtremeValue<typename decltype(tag)::type>);
  });
}

}  // namespace

ExtremeFold::ExtremeFold(const ExtremeFolds& folds, ExtremeKind kind,
                         DType dtype, DType index, Isa isa)
    : folds_(folds),
      kind_(kind),
      dtype_(dtype),
      index_(index),
      width_(ExtremeWidth(dtype)),
      elements_(ByteWidth(dtype), isa),
      parts_(width_, isa) {}

void ExtremeFold::Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                       char* parts, int64_t step) const {
  if (nx <= kShortRow && ny >= kFewRows) {
    thread_local std::vector<double> memory(kTransposed * 2);
    char* const found = reinterpret_cast<char*>(memory.data());
    return ForTransposed(
        elements_, in[0], ByteWidth(dtype_), ny, nx,
        [&](int64_t first, int64_t n, const char* columns) {
          folds_.columns(columns, nx, n, n, 0, found);
          char* const to = parts + first * step * part_bytes();
          parts_.Store(found, {0, 2 * step}, 1, n, to);
          parts_.Store(found + n * width_, {0, 2 * step}, 1, n, to + width_);
        });
  }
  const int64_t stride = in[0].stride * ByteWidth(dtype_);
  for (int64_t j = 0; j < ny; ++j) {
    folds_.run(in[0].first + j * stride, nx, parts + j * step * part_bytes());
  }
}

void ExtremeFold::Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                          int64_t before, char* parts) const {
  folds_.columns(in[0].first, ny, in[0].stride, nx, before, parts);
}

void ExtremeFold::Finish(const LaneParts& parts,
                         absl::Span<const char* const> initial,
                         absl::Span<char* const> results) const {
  VisitDType(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplex<T>) {
      using C = ExtremeValue<T>;
      // Signed or not, an index has the same bits.
      if (ByteWidth(index_) == 4) {
        JoinIndices<C>(parts, kind_, reinterpret_cast<uint32_t*>(results[0]));
      } else {
        JoinIndices<C>(parts, kind_, reinterpret_cast<uint64_t*>(results[0]));
      }
    }
  });
}

}  // namespace hawser::cpu
