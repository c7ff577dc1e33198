// hawser ops: what modules are made of.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command/command.h"
#include "core/base/status.h"
#include "core/ops/registry.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

absl::StatusOr<std::vector<const OpDef*>> OpsOf(
    const std::vector<std::string>& names) {
  if (names.empty()) return std::vector(AllOps().begin(), AllOps().end());
  std::vector<const OpDef*> ops;
  for (const std::string& name : names) {
    ops.push_back(FindOp(name));
    if (ops.back() == nullptr) {
      return NotFound("opset ", kOpset, " has no op \"", name, "\"");
    }
  }
  return ops;
}

absl::StatusOr<ExitCode> RunOps(const Invocation& invocation) {
  HAWSER_ASSIGN_OR_RETURN(const auto ops, OpsOf(invocation.line.words()));
  std::string text;
  Json rows = Json::array();
  for (const OpDef* op : ops) {
    Json attributes = Json::object();
    std::string named;
    for (const AttributeSpec& spec : op->attributes) {
      const absl::string_view kind = AttributeKindName(spec.kind);
      absl::StrAppend(&named, " ", spec.name, spec.required ? "=" : "?=", kind);
      attributes[std::string(spec.name)] = {{"kind", kind},
                                            {"required", spec.required}};
    }
    absl::StrAppendFormat(&text, "%-22s %s\n", op->name, op->summary);
    if (!named.empty()) absl::StrAppendFormat(&text, "%22s%s\n", "", named);
    rows.push_back(Json::object({{"name", op->name},
                                 {"since", op->since},
                                 {"attributes", attributes},
                                 {"what", op->summary},
                                 {"source", op->source}}));
  }
  invocation.Print(text, Json::object({{"opset", kOpset}, {"ops", rows}}));
  return kOk;
}

}  // namespace

extern constinit const Command kOpsCommand = {
    .name = "ops",
    .arguments = "[NAME]...",
    .summary = "what modules are made of",
    .description =
        "Prints the ops of this command's opset, or those named: what each\n"
        "computes and the attributes it takes, those with ?= may be left out.\n"
        "`hawser status` says which opset a server knows.\n",
    .flags = {},
    .words = {0, kMany},
    .run = RunOps,
};

}  // namespace hawser::cli
