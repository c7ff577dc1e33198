// The rows of the family that are in files of their own.
#ifndef HAWSER_TESTS_REFERENCE_ROWS_LINALG_ROWS_H_
#define HAWSER_TESTS_REFERENCE_ROWS_LINALG_ROWS_H_

#include "absl/status/statusor.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {

absl::StatusOr<Values> Lu(const Context& context);
absl::StatusOr<Values> Qr(const Context& context);
absl::StatusOr<Values> Geqrf(const Context& context);
absl::StatusOr<Values> HouseholderProduct(const Context& context);
absl::StatusOr<Values> Eig(const Context& context);
absl::StatusOr<Values> Eigh(const Context& context);
absl::StatusOr<Values> Svd(const Context& context);

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_ROWS_LINALG_ROWS_H_
