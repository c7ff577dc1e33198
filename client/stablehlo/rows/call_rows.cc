// Calls: of functions, which are inlined, of composites, and custom calls by
// their targets; and the checks of programs that check themselves.

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/checks.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

absl::StatusOr<Values> LowerCall(OpContext& context) {
  const absl::string_view name = CalleeOf(context.op);
  const Op* function = context.program.functions().Find(name);
  if (function == nullptr) {
    return InvalidArgument("there is no function ", Quoted(name));
  }
  const Region& region = function->regions[0];
  if (region.arguments.size() != context.operands.size()) {
    return InvalidArgument(Quoted(name), " takes ", region.arguments.size(),
                           " arguments, gets ", context.operands.size());
  }
  Body callee(&context.program, &context.builder());
  for (size_t i = 0; i < region.arguments.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(const Shape shape,
                            ShapeOf(region.arguments[i].type));
    if (context.operand_shape(i) != shape) {
      return InvalidArgument("argument ", i, " of ", Quoted(name), " is ",
                             shape.ToString(), ", gets ",
                             context.operand_shape(i).ToString());
    }
    HAWSER_RETURN_IF_ERROR(
        callee.Bind(region.arguments[i].name, {context.operands[i]}));
  }
  return callee.Lower(region);
}

// Targets that say something to a compiler only, and give their operand.
constexpr absl::string_view kIdentities[] = {
    "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
    "LayoutConstraint", "annotate_device_placement"};

bool IsIdentity(absl::string_view target) {
  return absl::c_linear_search(kIdentities, target);
}

absl::string_view TargetOf(const Op& op) {
  const Attribute* target = FindAttribute(op, "call_target_name");
  return target == nullptr ? "" : target->text;
}

// "mhlo.erf" is what an exporter makes of "chlo.erf"; others have rows of their
// own, "@ApproxTopK".
const Row* RowOfTarget(absl::string_view target) {
  const Row* row = FindRow(absl::StrCat("@", target));
  if (row != nullptr) return row;
  return absl::ConsumePrefix(&target, "mhlo.")
             ? FindRow(absl::StrCat("chlo.", target))
             : nullptr;
}

absl::StatusOr<Values> LowerCustomCall(OpContext& context) {
  const absl::string_view target = TargetOf(context.op);
  if (IsIdentity(target)) return context.operands;
  if (IsCheck(target)) return AddCheck(context, target);
  const Row* row = RowOfTarget(target);
  if (row == nullptr) return Unimplemented("no target ", Quoted(target));
  OpContext inner{context.program,  context.body,   context.op, *row,
                  context.operands, context.results};
  return row->lower(inner);
}

std::string MissingTarget(const Op& op) {
  const absl::string_view target = TargetOf(op);
  if (IsIdentity(target) || IsCheck(target) || RowOfTarget(target) != nullptr) {
    return "";
  }
  return absl::StrCat("@", Quoted(target));
}

// A field of the dictionary that jax.ffi's attributes become.
absl::StatusOr<std::string> FieldOf(const Op& op, absl::string_view name) {
  const Attribute* config = FindAttribute(op, "mhlo.backend_config");
  if (config == nullptr) config = FindAttribute(op, "backend_config");
  if (config != nullptr) {
    for (const NamedAttribute& field : config->fields) {
      if (field.name != name) continue;
      if (field.value->kind == Attribute::kString &&
          !absl::StrContains(field.value->text, '\\')) {
        return std::string(field.value->text);
      }
      return InvalidArgument(name, " is no string, or has a backslash in it");
    }
  }
  return InvalidArgument("has no ", name);
}

absl::StatusOr<Values> LowerDataset(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(0, 0));
  if (context.results.size() != 1) return InvalidArgument("gives one array");
  Program& program = context.program;
  const ValueId known = program.arrays().Find(context.builder(), context.op);
  if (known != kNoValue) return Values{known};
  HAWSER_ASSIGN_OR_RETURN(std::string token, FieldOf(context.op, "token"));
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(token));
  HAWSER_ASSIGN_OR_RETURN(std::string name, FieldOf(context.op, "name"));
  const ValueId value = program.ArrayOfDataset(
      {{std::move(token), std::move(name)}, context.results[0]},
      &context.builder());
  program.arrays().Set(context.builder(), context.op, value);
  return Values{value};
}

absl::StatusOr<Values> LowerCheck(OpContext& context) {
  return AddCheck(context, context.op.name);
}

constexpr Row kCallRows[] = {
    {"func.call", LowerCall},
    {"stablehlo.composite", LowerCall},
    {"stablehlo.custom_call", LowerCustomCall, nullptr, MissingTarget},
    {"@hawser.dataset", LowerDataset},
    {"check.expect_eq", LowerCheck},
    {"check.expect_eq_const", LowerCheck},
    {"check.expect_close", LowerCheck},
    {"check.expect_almost_eq", LowerCheck},
    {"check.expect_almost_eq_const", LowerCheck},
};

}  // namespace

absl::Span<const Row> CallRows() { return kCallRows; }

}  // namespace hawser::stablehlo
