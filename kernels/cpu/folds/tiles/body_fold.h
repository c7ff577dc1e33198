// BodyFold: lanes of several values folded at once by a called computation.
#ifndef HAWSER_KERNELS_CPU_FOLDS_TILES_BODY_FOLD_H_
#define HAWSER_KERNELS_CPU_FOLDS_TILES_BODY_FOLD_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/folds/tiles/lane_folds.h"
#include "kernels/cpu/lane_program.h"
#include "kernels/cpu/tile_steps/lane_moves.h"

namespace hawser::cpu {

// Folds by a computation of N running values and N elements, which is taken to
// be associative and commutative. Lanes are folded into as many partial results
// as a column of the program has; then the first half takes the second half,
// until one is left. Short rows and columns are folded one element after the
// other.
//
// A part is N values, each in as many bytes as the widest takes. The parts of
// columns are stored value by value: first the first value of all columns.
class BodyFold final : public LaneFold {
 public:
  // `dtypes`: of the N values. `rounds`: another order gives other bits.
  BodyFold(LaneProgram body, std::vector<DType> dtypes, bool rounds, Isa isa);

  int64_t part_bytes() const override { return n_ * widest_; }
  FoldOrder order() const override {
    return rounds_ ? FoldOrder::kOwn : FoldOrder::kAny;
  }
  double lane_steps() const override { return body_.cost(); }
  void Rows(absl::Span<const LaneRows> in, int64_t ny, int64_t nx, char* parts,
            int64_t step) const override;
  void Columns(absl::Span<const LaneRows> in, int64_t ny, int64_t nx,
               int64_t before, char* parts) const override;
  void Finish(const LaneParts& parts, absl::Span<const char* const> initial,
              absl::Span<char* const> results) const override;

 private:
  // Rows of lanes of one value: elements from one row to the next one, and from
  // lane to lane.
  struct Walk {
    const char* first;
    int64_t row, lane;
  };
  using Walks = absl::InlinedVector<Walk, 2>;

  int64_t width(int k) const { return ByteWidth(dtypes_[k]); }
  // The columns of this thread, in which parameters 0 to N-1 are what has been
  // folded so far.
  LaneColumns& Begin() const;
  // Lanes [0, n) become the first row; then others are folded into them. At
  // most as many as a column has.
  void Take(const Walks& in, int64_t n, LaneColumns& columns) const;
  void Fold(const Walks& in, int64_t begin, int64_t rows, int64_t n,
            LaneColumns& columns) const;
  // Lane 0 takes lanes [1, n).
  void Halve(int64_t n, LaneColumns& columns) const;
  // All of a row of n lanes becomes lane 0.
  void FoldRow(const Walks& in, int64_t n, LaneColumns& columns) const;
  // One step: lanes [0, n) take what parameters N to 2N-1 are.
  void Run(int64_t n, LaneColumns& columns) const;
  // Lanes [0, n) behind the initial values.
  void TakeInitial(absl::Span<const char* const> initial, int64_t n,
                   LaneColumns& columns) const;
  // Distances are in bytes.
  Walk PartWalk(const char* first, int k, int64_t row, int64_t lane) const;

  const LaneProgram body_;
  const std::vector<DType> dtypes_;
  const bool rounds_;
  const int n_;
  int64_t widest_ = 0;
  bool passes_on_ = false;        // some result is a parameter
  std::vector<LaneMoves> moves_;  // by value
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_TILES_BODY_FOLD_H_
