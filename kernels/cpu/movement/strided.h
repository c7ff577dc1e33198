// StridedCopy: moves elements between two strided arrays. Broadcast,
// transpose, slice, reverse, concatenate, pad and gather are all this.
#ifndef HAWSER_KERNELS_CPU_MOVEMENT_STRIDED_H_
#define HAWSER_KERNELS_CPU_MOVEMENT_STRIDED_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/shape.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// A copy of `dims` elements, planned once: axes of size 1 are dropped, axes
// that run on into the next are merged, and the innermost loop is chosen.
// Strides are in elements; those read may be 0 or negative, those written must
// not make two elements meet.
class StridedCopy {
 public:
  StridedCopy(int64_t width, absl::Span<const int64_t> dims,
              absl::Span<const int64_t> to_strides,
              absl::Span<const int64_t> from_strides);

  // All of it, on this thread. The pointers are those of element (0, ..., 0).
  void Run(char* to, const char* from) const { RunStrips(to, from, 0, strips_); }
  // All of it, on several threads when it is large.
  absl::Status Run(const KernelContext& context, char* to,
                   const char* from) const;
  int64_t num_elements() const { return elements_; }

 private:
  // `strips_`: the iterations of the outer axes times the pieces of the inner.
  using InnerLoop = void (*)(const StridedCopy&, char* to, const char* from,
                             int64_t piece);
  struct Axis {
    int64_t size;
    int64_t to;  // bytes
    int64_t from;
  };
  template <typename W>
  friend struct StridedLoops;

  void Plan();
  void RunStrips(char* to, const char* from, int64_t begin, int64_t end) const;

  int64_t width_;
  int64_t elements_ = 1;
  int64_t strips_ = 1;
  int64_t pieces_ = 1;  // of the inner axes
  absl::InlinedVector<Axis, 6> outer_;
  // The innermost axis, and for transposing loops the one before it.
  Axis inner_{1, 0, 0};
  Axis across_{1, 0, 0};
  InnerLoop loop_ = nullptr;
};

// An operand's elements in memory that may be written: its own when it has no
// other holder, else a copy. Errors: kResourceExhausted.
absl::StatusOr<Literal> WritableCopy(const KernelContext& context,
                                     int operand);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MOVEMENT_STRIDED_H_
