// FindBatchedResults: a function that works row by row may be given more rows
// than the caller has.
#ifndef HAWSER_CLIENT_SDK_JIT_ROW_WISE_H_
#define HAWSER_CLIENT_SDK_JIT_ROW_WISE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sdk/jit/traced_module.h"

namespace hawser::sdk {

// Returns which results of a function have the batch as their leading axis.
// `small` and `large` are the function traced for `rows` (at least 2) and for
// `rows` + 1 rows: an axis that grows with them is the batch, and every
// instruction must carry it from operands to results as a parallel axis. Then
// row i of a result depends on row i of the arguments alone, and results
// without the batch on none of them. One trace, and so `Cuts` of it, does not
// tell: a constant that was made of the number of rows looks like any other
// there, and cuts are advice.
// Errors: kInvalidArgument naming the first instruction that breaks this (a
// sum over the batch, a slice of it, the number of rows used as a value, an op
// that cannot be seen through) and where the user made it; a result with the
// batch in another place than its leading axis.
absl::StatusOr<std::vector<bool>> FindBatchedResults(const TracedModule& small,
                                                     const TracedModule& large,
                                                     int64_t rows);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_ROW_WISE_H_
