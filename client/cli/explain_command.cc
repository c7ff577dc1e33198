// hawser explain: what becomes of a printed module.

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/module_file.h"
#include "core/ir/printer.h"
#include "core/passes/optimize.h"

namespace hawser::cli {
namespace {

absl::StatusOr<ExitCode> RunExplain(const Invocation& invocation) {
  HAWSER_ASSIGN_OR_RETURN(Module module,
                          ReadModuleFile(invocation.line.words()[0]));
  const int64_t before = module.num_instructions();
  HAWSER_ASSIGN_OR_RETURN(const Module optimized,
                          Optimize(std::move(module), {.verify = true}));
  const int64_t after = optimized.num_instructions();
  const std::string text = Print(optimized);
  invocation.Print(
      absl::StrCat("// ", before, " instructions, optimized ", after, "\n",
                   text),
      Json::Members{{"instructions_before", before},
                    {"instructions_after", after},
                    {"module", text}});
  return kOk;
}

}  // namespace

constinit const Command kExplainCommand = {
    .name = "explain",
    .arguments = "MODULE.txt",
    .summary = "print a module as it is after optimization",
    .description =
        "Reads a module in its text form (core/ir/README.md) and prints it as "
        "a client\nsends it: optimized, under a line that counts the "
        "instructions before and after.\nThe output is a module again. How an "
        "engine would fuse and schedule it is not\nshown: there is no planner "
        "yet.\n\n"
        "  hawser explain step.txt\n",
    .flags = {},
    .words = {1, 1},
    .run = RunExplain,
};

}  // namespace hawser::cli
