// hawser explain: what becomes of a printed module.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/command/command.h"
#include "client/cli/modules/module_file.h"
#include "core/ir/text/printer.h"
#include "core/passes/optimize.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr absl::string_view kPlannedFlag = "--planned";
constexpr Flag kFlags[] = {
    {kPlannedFlag, "", "", "as a GPU would run it, kernel by kernel"},
};

// The lines, each as a comment of a module's text.
std::string AsComments(absl::string_view lines) {
  std::string out;
  for (absl::string_view line :
       absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&out, "// ", line, "\n");
  }
  return out;
}

absl::StatusOr<ExitCode> RunExplain(const Invocation& invocation) {
  HAWSER_ASSIGN_OR_RETURN(Module module,
                          ReadModuleFile(invocation.line.words()[0]));
  const int64_t before = module.num_instructions();
  HAWSER_ASSIGN_OR_RETURN(Module optimized,
                          Optimize(std::move(module), {.verify = true}));
  const int64_t after = optimized.num_instructions();
  Json members = Json::object(
      {{"instructions_before", before}, {"instructions_after", after}});
  std::string head =
      absl::StrCat("// ", before, " instructions, optimized ", after, "\n");
  if (invocation.line.Has(kPlannedFlag)) {
    HAWSER_ASSIGN_OR_RETURN(Environment::Planned planned,
                            invocation.environment.plan(optimized));
    absl::StrAppend(&head, AsComments(planned.steps));
    members["steps"] = planned.steps;
    optimized = std::move(planned.module);
  }
  const std::string text = Print(optimized);
  members["module"] = text;
  invocation.Print(absl::StrCat(head, text), members);
  return kOk;
}

}  // namespace

extern constinit const Command kExplainCommand = {
    .name = "explain",
    .arguments = "MODULE.txt",
    .summary = "print a module as it is after optimization",
    .description =
        "Reads a module in its text form (core/ir/README.md) and prints it as "
        "a client\nsends it: optimized, under a line that counts the "
        "instructions before and after.\nWith --planned it is fused as for a "
        "GPU, under a line for each kernel: what it\nis, over which loops, how "
        "many bytes it moves. Both are modules again.\n\n"
        "  hawser explain step.txt --planned\n",
    .flags = kFlags,
    .words = {1, 1},
    .run = RunExplain,
};

}  // namespace hawser::cli
