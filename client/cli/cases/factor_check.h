// CheckFactors: whether results are factors of a matrix, whichever they are.
#ifndef HAWSER_CLIENT_CLI_CASES_FACTOR_CHECK_H_
#define HAWSER_CLIENT_CLI_CASES_FACTOR_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "proto/case.pb.h"

namespace hawser::cli {

// Checks what proto/case.proto says of a property: products of the factors are
// those of `a`, of finite numbers, but for the roundings of so many rows and
// columns, and what is orthonormal is so likewise. Errors: kInternal naming the
// matrix, the element and how far it is off; kInvalidArgument for factors of
// other sizes.
absl::Status CheckFactors(v1::Case::Property property, const Literal& a,
                          absl::Span<const Literal> factors);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_CASES_FACTOR_CHECK_H_
