#include "client/stablehlo/rows/checks.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

constexpr std::pair<absl::string_view, Check::Kind> kKinds[] = {
    {"check.expect_eq", Check::kEqual},
    {"check.expect_close", Check::kClose},
    {"check.expect_almost_eq", Check::kAlmostEqual},
};

const Check::Kind* KindOf(absl::string_view name) {
  name = absl::StripSuffix(name, "_const");
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return &kind;
  }
  return nullptr;
}

// The value that a check of a constant brings along.
absl::StatusOr<ValueId> ExpectedConstant(OpContext& context) {
  OpContext constant{context.program,
                     context.body,
                     context.op,
                     *FindRow("stablehlo.constant"),
                     {},
                     {context.operand_shape(0)}};
  HAWSER_ASSIGN_OR_RETURN(const Values values, constant.row.lower(constant));
  HAWSER_RETURN_IF_ERROR(context.builder().status());
  return values[0];
}

}  // namespace

bool IsCheck(absl::string_view name) { return KindOf(name) != nullptr; }

bool IsCheckOp(const Op& op) {
  if (op.name != "stablehlo.custom_call") return IsCheck(op.name);
  const Attribute* target = FindAttribute(op, "call_target_name");
  return target != nullptr && IsCheck(target->text);
}

absl::StatusOr<Values> AddCheck(OpContext& context, absl::string_view name) {
  if (context.program.checks == nullptr) {
    return Unimplemented("a check, which `hawser check` alone runs");
  }
  if (context.program.entry != &context.builder()) {
    return Unimplemented("a check inside a region");
  }
  const bool constant = FindAttribute(context.op, "value") != nullptr;
  HAWSER_RETURN_IF_ERROR(
      context.ExpectOperands(constant ? 1 : 2, constant ? 1 : 2));
  Check check;
  check.kind = *KindOf(name);
  check.where = context.op.where;
  HAWSER_ASSIGN_OR_RETURN(check.ulps,
                          context.Int("max_ulp_difference", check.ulps));
  if (check.ulps < 0) {
    return InvalidArgument("max_ulp_difference is ", check.ulps,
                           ", must not be negative");
  }
  const absl::string_view tolerance = context.Text("tolerance");
  if (!tolerance.empty() && !absl::SimpleAtod(tolerance, &check.tolerance)) {
    return InvalidArgument("the tolerance ", Quoted(tolerance),
                           " is no number");
  }
  check.actual = context.operands[0];
  if (constant) {
    HAWSER_ASSIGN_OR_RETURN(check.expected, ExpectedConstant(context));
  } else {
    check.expected = context.operands[1];
  }
  if (context.shape(check.actual) != context.shape(check.expected)) {
    return InvalidArgument("compares ", context.shape(check.actual).ToString(),
                           " with ", context.shape(check.expected).ToString());
  }
  context.program.checks->push_back(check);
  return Values();
}

}  // namespace hawser::stablehlo
