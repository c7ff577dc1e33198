#include "kernels/cpu/movement/strided.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"

namespace hawser::cpu {

namespace {

// Elements of a piece of a one-axis loop, and rows of a piece of a transposing
// one (two cache lines of 4-byte elements), with as many columns as make the
// same number of elements.
constexpr int64_t kRunPiece = int64_t{1} << 16;
constexpr int64_t kTile = 32;
constexpr int64_t kTileColumns = kRunPiece / kTile;

int64_t PiecesOf(int64_t size, int64_t piece) {
  return (size + piece - 1) / piece;
}

}  // namespace

// The innermost loops for elements as wide as W.
template <typename W>
struct StridedLoops {
  struct Piece {
    Piece(const StridedCopy& c, char* to, const char* from, int64_t piece)
        : n(std::min(kRunPiece, c.inner_.size - piece * kRunPiece)),
          to(to + piece * kRunPiece * c.inner_.to),
          from(from + piece * kRunPiece * c.inner_.from) {}
    int64_t n;
    char* to;
    const char* from;
  };

  static void Dense(const StridedCopy& c, char* to, const char* from,
                    int64_t piece) {
    const Piece p(c, to, from, piece);
    std::memcpy(p.to, p.from, p.n * sizeof(W));
  }
  static void Repeat(const StridedCopy& c, char* to, const char* from,
                     int64_t piece) {
    const Piece p(c, to, from, piece);
    std::fill_n(reinterpret_cast<W*>(p.to), p.n,
                *reinterpret_cast<const W*>(p.from));
  }
  static void Strided(const StridedCopy& c, char* to, const char* from,
                      int64_t piece) {
    const Piece p(c, to, from, piece);
    for (int64_t i = 0; i < p.n; ++i) {
      *reinterpret_cast<W*>(p.to + i * c.inner_.to) =
          *reinterpret_cast<const W*>(p.from + i * c.inner_.from);
    }
  }
  // Writes along `inner_`, reads along `across_`: tile by tile, so that both
  // use whole cache lines.
  static void Transpose(const StridedCopy& c, char* to, const char* from,
                        int64_t piece) {
    const int64_t strips = PiecesOf(c.inner_.size, kTileColumns);
    const int64_t row0 = piece / strips * kTile;
    const int64_t column0 = piece % strips * kTileColumns;
    const int64_t columns = std::min(c.inner_.size, column0 + kTileColumns);
    const int64_t rows = std::min(kTile, c.across_.size - row0);
    to += row0 * c.across_.to;
    from += row0 * c.across_.from;
    for (int64_t j0 = column0; j0 < columns; j0 += kTile) {
      const int64_t end = std::min(j0 + kTile, columns);
      for (int64_t i = 0; i < rows; ++i) {
        char* row = to + i * c.across_.to;
        const char* column = from + i * c.across_.from;
        for (int64_t j = j0; j < end; ++j) {
          *reinterpret_cast<W*>(row + j * c.inner_.to) =
              *reinterpret_cast<const W*>(column + j * c.inner_.from);
        }
      }
    }
  }
};

StridedCopy::StridedCopy(int64_t width, absl::Span<const int64_t> dims,
                         absl::Span<const int64_t> to_strides,
                         absl::Span<const int64_t> from_strides)
    : width_(width) {
  for (size_t i = 0; i < dims.size(); ++i) {
    elements_ *= dims[i];
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], to_strides[i] * width, from_strides[i] * width};
    if (!outer_.empty()) {
      Axis& before = outer_.back();
      if (before.to == axis.to * axis.size &&
          before.from == axis.from * axis.size) {
        before = {before.size * axis.size, axis.to, axis.from};
        continue;
      }
    }
    outer_.push_back(axis);
  }
  if (elements_ == 0) {
    strips_ = 0;
    return;
  }
  Plan();
}

void StridedCopy::Plan() {
  if (outer_.empty()) outer_.push_back({1, width_, width_});
  inner_ = outer_.back();
  outer_.pop_back();
  auto across = std::find_if(outer_.begin(), outer_.end(), [&](const Axis& a) {
    return a.from == width_ || a.from == -width_;
  });
  const bool transposes = across != outer_.end() && inner_.from != width_ &&
                          inner_.from != -width_ && inner_.from != 0;
  if (transposes) {
    across_ = *across;
    outer_.erase(across);
    pieces_ = PiecesOf(across_.size, kTile) *
              PiecesOf(inner_.size, kTileColumns);
  } else {
    pieces_ = PiecesOf(inner_.size, kRunPiece);
  }
  loop_ = VisitWidth(width_, [&](auto tag) -> InnerLoop {
    using Loops = StridedLoops<typename decltype(tag)::type>;
    if (transposes) return Loops::Transpose;
    if (inner_.to != width_) return Loops::Strided;
    if (inner_.from == width_) return Loops::Dense;
    if (inner_.from == 0) return Loops::Repeat;
    return Loops::Strided;
  });
  strips_ = pieces_;
  for (const Axis& axis : outer_) strips_ *= axis.size;
}

void StridedCopy::RunStrips(char* to, const char* from, int64_t begin,
                            int64_t end) const {
  if (begin >= end) return;
  // The place of strip `begin`, then an odometer.
  absl::InlinedVector<int64_t, 6> index(outer_.size());
  int64_t rest = begin / pieces_;
  int64_t piece = begin % pieces_;
  for (size_t i = outer_.size(); i-- > 0;) {
    index[i] = rest % outer_[i].size;
    rest /= outer_[i].size;
    to += index[i] * outer_[i].to;
    from += index[i] * outer_[i].from;
  }
  for (int64_t strip = begin; strip < end; ++strip) {
    loop_(*this, to, from, piece);
    if (++piece < pieces_) continue;
    piece = 0;
    for (size_t i = outer_.size(); i-- > 0;) {
      to += outer_[i].to;
      from += outer_[i].from;
      if (++index[i] < outer_[i].size) break;
      to -= outer_[i].size * outer_[i].to;
      from -= outer_[i].size * outer_[i].from;
      index[i] = 0;
    }
  }
}

absl::Status StridedCopy::Run(const KernelContext& context, char* to,
                              const char* from) const {
  if (strips_ == 0) return absl::OkStatus();
  const double strip =
      static_cast<double>(elements_) / static_cast<double>(strips_);
  return context.ForRanges(strips_, strip,
                           [&](int64_t begin, int64_t end) {
                             RunStrips(to, from, begin, end);
                             return absl::OkStatus();
                           });
}

absl::StatusOr<Literal> WritableCopy(const KernelContext& context,
                                     int operand) {
  Literal& from = context.operands[operand];
  if (from.unique()) {
    // unique() reads the count without ordering; this read-modify-write of it
    // makes all reads of the last other holder come before our writes.
    { const Literal acquire = from; }
    return std::move(from);
  }
  const Shape& shape = from.shape();
  HAWSER_ASSIGN_OR_RETURN(Literal out, context.Allocate(shape));
  const StridedCopy copy(ByteWidth(shape.dtype()), shape.dims(),
                         shape.Strides(), shape.Strides());
  HAWSER_RETURN_IF_ERROR(
      copy.Run(context, out.mutable_bytes().data(), from.bytes().data()));
  return out;
}

}  // namespace hawser::cpu
