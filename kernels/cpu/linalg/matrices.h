// What the rows of this room share: batches of matrices of one type, one after
// the other, and what decides by which loops each is computed.
#ifndef HAWSER_KERNELS_CPU_LINALG_MATRICES_H_
#define HAWSER_KERNELS_CPU_LINALG_MATRICES_H_

#include <complex>
#include <cstdint>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "core/base/values/shape.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/libraries/lapack.h"
#include "kernels/cpu/linalg/dense_calls.h"
#include "kernels/cpu/linalg/view.h"

namespace hawser::cpu {

// Rows of matrices up to which own loops are faster than a library's calls.
inline constexpr int64_t kOwnRows = 24;
// Rows of the blocks that larger ones are factored by.
inline constexpr int64_t kBlockRows = 128;
// Steps to copy an element or to look at it.
inline constexpr double kElementSteps = 1;

// The matrices that the last two axes of a shape are.
struct Batch {
  explicit Batch(const Shape& shape)
      : rows(shape.dim(shape.rank() - 2)),
        columns(shape.dim(shape.rank() - 1)),
        count(1) {
    for (int i = 0; i + 2 < shape.rank(); ++i) count *= shape.dim(i);
  }
  int64_t elements() const { return rows * columns; }

  template <typename T>
  View<T> At(T* data, int64_t i) const {
    return {data + i * elements(), rows, columns, columns};
  }

  int64_t rows, columns, count;
};

// The library for matrices of so many rows, none of which has more than
// `longest` elements in a row or column; null: own loops.
const Lapack* LapackFor(const KernelContext& context, int64_t rows,
                        int64_t longest, int64_t own_rows = kOwnRows);

// Steps of one product and its addition, in matrices of so many rows.
double ProductSteps(DType dtype, int64_t rows, int64_t own_rows = kOwnRows);

// Calls fn(TypeTag<T>) with the type of the dtypes that have one here.
template <typename Fn>
absl::Status VisitFactored(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kF32:
      return fn(TypeTag<float>{});
    case DType::kF64:
      return fn(TypeTag<double>{});
    case DType::kC64:
      return fn(TypeTag<std::complex<float>>{});
    case DType::kC128:
      return fn(TypeTag<std::complex<double>>{});
    default:
      return Internal("no factorization of ", DTypeName(dtype));
  }
}

// Calls fn(number, meter) for each of `count` matrices, each of so many steps,
// on the threads that there are.
template <typename Fn>
absl::Status ForEachMatrix(const KernelContext& c, int64_t count, double steps,
                           Fn fn) {
  return c.ForMetered(
      count, steps,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        for (int64_t i = begin; i < end; ++i) {
          HAWSER_RETURN_IF_ERROR(fn(i, meter));
        }
        return meter->End();
      });
}

// Tells `meter` of each row's elements.
template <typename T, typename Fn>
absl::Status ForRows(View<T> a, WorkMeter* meter, Fn fn) {
  for (int64_t i = 0; i < a.rows; ++i) {
    HAWSER_RETURN_IF_ERROR(
        meter->Begin(kElementSteps * static_cast<double>(a.columns)));
    fn(i);
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_MATRICES_H_
