// CheckFactors: whether results of a factorization are of its operands.
#ifndef HAWSER_TESTS_REFERENCE_ROWS_LINALG_PROPERTIES_H_
#define HAWSER_TESTS_REFERENCE_ROWS_LINALG_PROPERTIES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"

namespace hawser::reference {

// True for the ops whose results are told by what they satisfy: other elements
// than the reference's may be as right.
bool HasFactors(const OpDef& op);

// Errors: kInternal naming the matrix, the element and how far it is off, where
// results satisfy what they must by more than the rounding of a computation of
// so many rows. What is not finite there is not looked at.
absl::Status CheckFactors(const OpDef& op, const Attributes& attributes,
                          absl::Span<const Literal> operands,
                          absl::Span<const Literal> results);

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_ROWS_LINALG_PROPERTIES_H_
