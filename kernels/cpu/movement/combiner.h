// Combiner: rows of elements combined in place with rows of others by a called
// computation of scalars, as scatter does it.
#ifndef HAWSER_KERNELS_CPU_MOVEMENT_COMBINER_H_
#define HAWSER_KERNELS_CPU_MOVEMENT_COMBINER_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/lane_program.h"

namespace hawser::cpu {

// N tensors to write, N of the same dtypes to read.
struct CombinedTensors {
  absl::InlinedVector<char*, 1> to;
  absl::InlinedVector<const char*, 1> from;
  absl::InlinedVector<DType, 1> dtypes;
  int64_t apart = 0;  // N = 1: of kCombineTables of them, which join to one
};

// The position of a row, in elements; the same in each of the N tensors.
struct CombinedRow {
  int64_t to, to_stride;
  int64_t from, from_stride;
  int64_t size;
};

// Dense rows, one after the other: row k lies at offsets[k] of the tensor that
// is written, if that is in [0, end), and at from + k * step.
struct PlacedRows {
  absl::Span<const int32_t> offsets;
  int32_t end;
  int64_t from, step;
  int64_t size;  // of a row, at least 1
};

// Takes called computation 0 of the instruction: 2N scalars to N. Known ops on
// dense rows run on the memory itself, other scalar bodies over lanes, the
// rest goes through the evaluator, element by element. Not thread-safe: one
// per thread.
class Combiner {
 public:
  // All must outlive it.
  Combiner(const KernelContext& context, const CombinedTensors& tensors);

  // True if it may run on several threads at once, and that pays.
  bool parallel() const { return program_ != nullptr; }
  // Steps of an element if known ops run on memory itself; 0: they do not.
  double direct_cost() const {
    return direct_ == nullptr ? 0 : program_->cost();
  }
  // Only then. Takes kLookSteps at most: the caller tells a meter.
  void Run(const PlacedRows& rows) const;
  // Elements of one row must not meet. Errors: what the computation or the
  // meter says.
  absl::Status Run(const CombinedRow& row, WorkMeter* meter);

 private:
  int64_t width(int k) const { return ByteWidth(tensors_.dtypes[k]); }
  absl::Status RunDense(const CombinedRow& row, WorkMeter* meter);
  absl::Status RunLanes(const CombinedRow& row, WorkMeter* meter);
  absl::Status RunCalls(const CombinedRow& row, WorkMeter* meter);

  const KernelContext& c_;
  const CombinedTensors& tensors_;
  const int n_;
  ElementFn direct_ = nullptr;
  CombineFn combine_ = nullptr;  // of single elements, where direct_ is
  const LaneProgram* const program_;  // null: calls
  LaneColumns columns_;
  bool prepared_ = false;  // these
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MOVEMENT_COMBINER_H_
