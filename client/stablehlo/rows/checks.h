// The ops by which programs check themselves.
#ifndef HAWSER_CLIENT_STABLEHLO_ROWS_CHECKS_H_
#define HAWSER_CLIENT_STABLEHLO_ROWS_CHECKS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// True if it names a check: "check.expect_eq", "check.expect_close",
// "check.expect_almost_eq", or one of a constant, "check.expect_eq_const".
bool IsCheck(absl::string_view name);
// True if the op is one, by its name or as the target of a custom call.
bool IsCheckOp(const Op& op);
// Notes the check down for the program; it has no results. Errors:
// kUnimplemented for a check inside a region, or in a program that is run.
absl::StatusOr<Values> AddCheck(OpContext& context, absl::string_view name);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_ROWS_CHECKS_H_
