// Batch buckets: arguments padded to one of a few numbers of rows, so that few
// executables serve callers whose batch varies.
#ifndef HAWSER_CLIENT_SDK_JIT_BATCH_H_
#define HAWSER_CLIENT_SDK_JIT_BATCH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/base/values/literal.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

struct Batch {
  int64_t rows = 0;    // what the caller has
  int64_t bucket = 0;  // what the executable takes
};

// The batch of the marked leaves of a call of the function made at `where`.
// They get the shapes of its bucket, while the sizes, which are part of the
// signature, get the marks. Errors: kInvalidArgument for buckets that are not
// positive and ascending, no marked argument, a marked scalar, marked arguments
// of different numbers of rows, more rows than the largest bucket.
absl::StatusOr<Batch> ChooseBucket(absl::Span<const int64_t> buckets,
                                   SourceLocation where, Flat* arguments);

// Gives the marked leaves of fewer rows values of their bucket's shape, the new
// rows zero: a host value here, any other as a recorded expression. Errors:
// what makes a leaf unusable; kResourceExhausted.
absl::Status PadToBucket(const Batch& batch, Flat* arguments,
                         SourceLocation where);

// The shapes of leaves for a batch of this many rows.
Flat WithRows(Flat arguments, int64_t rows);

// The first `rows` rows of a result: of a host value here, of any other as a
// recorded expression. Errors: kResourceExhausted.
absl::StatusOr<Tensor> FirstRows(const Tensor& result, int64_t rows,
                                 SourceLocation where);
absl::StatusOr<Literal> FirstRows(const Literal& result, int64_t rows);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_BATCH_H_
