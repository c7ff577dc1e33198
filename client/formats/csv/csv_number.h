// Fields of a CSV file as numbers.
#ifndef HAWSER_CLIENT_FORMATS_CSV_CSV_NUMBER_H_
#define HAWSER_CLIENT_FORMATS_CSV_CSV_NUMBER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/values/dtype.h"

namespace hawser {

// Reads all of `text` as an element and stores it at `to`, which is aligned for
// it. Returns false for a text that is no value of the dtype or does not fit
// it.
using StoreNumber = bool (*)(absl::string_view text, char* to);

// The function for elements of `dtype`. Errors: kInvalidArgument for complex
// dtypes, for which CSV has no form.
absl::StatusOr<StoreNumber> NumberStore(DType dtype);

// Stores NaN. `dtype` is a float.
void StoreNan(DType dtype, char* to);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_CSV_CSV_NUMBER_H_
