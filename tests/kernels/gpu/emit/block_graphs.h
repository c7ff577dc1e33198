// Modules of one scan or one sort, for tests of their kernels.
#ifndef HAWSER_TESTS_KERNELS_GPU_EMIT_BLOCK_GRAPHS_H_
#define HAWSER_TESTS_KERNELS_GPU_EMIT_BLOCK_GRAPHS_H_

#include <cstdint>
#include <vector>

#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"
#include "core/ir/module.h"
#include "core/ir/op_def.h"

namespace hawser::gpu {

// What a scan folds by.
enum class ScanBody {
  kSum,
  kProduct,
  kLargest,
  // (a, x), (b, y) -> a b, x b + y: linear recurrences. Of two inputs.
  kRecurrence,
  // Sums of the first input and the largest of the second, of any dtypes.
  kSumAndLargest,
  // The second of two: it does not commute.
  kLast,
};
// Of inputs of these dtypes, as many as the body takes.
Module ScanModule(ScanBody body, const std::vector<DType>& dtypes,
                  const Dims& dims, int64_t axis, bool reverse);

// What a sort goes by.
enum class SortBody {
  kAscending,  // of the first input, by AddComparator
  kDescending,
  kLess,           // compare(LT) alone: with NaN no order at all
  kTurned,         // compare(LT) of the right one and the left one: descending
  kBySum,          // ascending, by the sum of the first two inputs
  kLexicographic,  // by the first input, then by the second one
  kNever,          // false: all stay where they are
};
Module SortModule(SortBody body, const std::vector<DType>& dtypes,
                  const Dims& dims, int64_t axis);
// The same along the last axis, of which the first `count` elements are read.
Module FirstOfSortModule(SortBody body, const std::vector<DType>& dtypes,
                         const Dims& dims, int64_t count);

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_EMIT_BLOCK_GRAPHS_H_
