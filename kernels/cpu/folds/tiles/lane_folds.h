// LaneFold: how many lanes of a tile become one.
#ifndef HAWSER_KERNELS_CPU_FOLDS_TILES_LANE_FOLDS_H_
#define HAWSER_KERNELS_CPU_FOLDS_TILES_LANE_FOLDS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/folds/lanes/fold_lanes.h"
#include "kernels/cpu/tile_steps/lane_moves.h"

namespace hawser::cpu {

// Rows of so few lanes are folded side by side, as columns are, where that
// gives the same bits: of 16 floats the index of the least takes a tenth.
inline constexpr int64_t kShortRow = 64;

// Rows of lanes next to each other.
struct LaneRows {
  const char* first = nullptr;
  int64_t stride = 0;  // elements from one to the next
};

// Partial results of `n` kept lanes: a part for each segment of the iterations
// that are folded. Columns: [segments][n], else [n][segments].
struct LaneParts {
  char* parts = nullptr;
  int64_t segments = 0, n = 0;
  bool columns = false;
  int64_t iterations = 0;  // of a segment, but the last one may have fewer
};

// In which order lanes meet.
enum class FoldOrder : uint8_t {
  kAny,  // bits do not depend on it
  kRow,  // of a run that is folded whole: that of the op's row
  kOwn,
};

// Immutable and thread-safe. Bits depend on sizes alone.
class LaneFold {
 public:
  virtual ~LaneFold() = default;
  virtual int64_t part_bytes() const = 0;
  virtual FoldOrder order() const { return FoldOrder::kAny; }
  // Steps for each lane, besides a look at it.
  virtual double lane_steps() const { return 0; }
  // Each of ny rows of nx lanes becomes a part; these are `step` parts apart.
  virtual void Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                    char* parts, int64_t step) const = 0;
  // Each of nx columns goes to the parts there, behind `before` rows, or where
  // there are none becomes one.
  virtual void Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
                       int64_t before, char* parts) const = 0;
  // Combines the parts with the initial values; there is a segment. Parts hold
  // anything afterwards. Null: a result that is not wanted.
  virtual void Finish(const LaneParts& parts,
                      absl::Span<const char* const> initial,
                      absl::Span<char* const> results) const = 0;
};

// Folds by a monoid.
class MonoidFold final : public LaneFold {
 public:
  MonoidFold(const Reduction& reduction, Isa isa);

  int64_t part_bytes() const override {
    return ByteWidth(reduction_.elements.accumulator);
  }
  FoldOrder order() const override {
    return reduction_.ordered ? FoldOrder::kRow : FoldOrder::kAny;
  }
  void Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx, char* parts,
            int64_t step) const override;
  void Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
               int64_t before, char* parts) const override;
  void Finish(const LaneParts& parts, absl::Span<const char* const> initial,
              absl::Span<char* const> results) const override;

 private:
  const Reduction reduction_;
  const LaneMoves elements_, parts_;
};

// Finds the index of an extreme.
class ExtremeFold final : public LaneFold {
 public:
  // `index`: the result's dtype.
  ExtremeFold(const ExtremeFolds& folds, ExtremeKind kind, DType dtype,
              DType index, Isa isa);

  int64_t part_bytes() const override { return 2 * width_; }
  void Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx, char* parts,
            int64_t step) const override;
  void Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
               int64_t before, char* parts) const override;
  void Finish(const LaneParts& parts, absl::Span<const char* const> initial,
              absl::Span<char* const> results) const override;

 private:
  const ExtremeFolds& folds_;
  const ExtremeKind kind_;
  const DType dtype_, index_;
  const int64_t width_;  // of a value, and of its place
  const LaneMoves elements_, parts_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_TILES_LANE_FOLDS_H_
