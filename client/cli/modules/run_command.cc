// hawser run: a printed module, on files, arrays of datasets and numbers.

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"
#include "client/cli/datasets/dataset_text.h"
#include "client/cli/modules/module_file.h"
#include "client/cli/modules/run_argument.h"
#include "client/formats/numpy/npy.h"
#include "client/formats/numpy/npy_header.h"
#include "client/stablehlo/lower/bind.h"
#include "core/base/trace/trace.h"
#include "core/passes/optimize.h"
#include "kernels/cpu/evaluator.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

// The most elements of a result that are printed if it goes to no file.
constexpr int64_t kShown = 16;

constexpr absl::string_view kTraceFlag = "--trace";
constexpr Flag kRunCommandFlags[] = {
    {"--arg", "-a", "VALUE", "an argument; once per parameter, in order"},
    {"--out", "-o", "FILE", "an npy file; once per result, in order"},
    {kTraceFlag, "", "FILE", "what took how long, for ui.perfetto.dev"},
    kTargetFlag,
};

// Reads the arguments of the command line.
absl::StatusOr<std::vector<RunArgument>> ReadArguments(const CommandLine& line,
                                                       const ModuleFile& file) {
  const Signature& signature = file.module.signature();
  const std::vector<std::string> words = line.All("--arg");
  const size_t own = signature.parameters.size() - file.bound.size();
  if (words.size() != own) {
    return UsageError(absl::StrCat(
        "--arg is given ", words.size(), " times, the module takes ", own, ": ",
        ShapesToString(absl::MakeConstSpan(signature.parameters).first(own))));
  }
  std::vector<RunArgument> arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    auto argument = ReadRunArgument(words[i], signature.parameters[i]);
    if (!argument.ok()) {
      return Annotate(argument.status(),
                      absl::StrCat("argument ", i, ", ", words[i]));
    }
    arguments.push_back(*std::move(argument));
  }
  return arguments;
}

// Refuses, before anything is computed, results that could not be written.
absl::Status CheckOuts(const std::vector<std::string>& outs,
                       const Signature& signature) {
  if (outs.empty()) return absl::OkStatus();
  if (outs.size() != signature.results.size()) {
    return UsageError(
        absl::StrCat("--out is given ", outs.size(), " times, the module has ",
                     signature.results.size(),
                     " results: ", ShapesToString(signature.results)));
  }
  for (size_t i = 0; i < outs.size(); ++i) {
    const auto header = NpyHeaderOf(signature.results[i]);
    if (!header.ok()) return Annotate(header.status(), outs[i]);
  }
  return absl::OkStatus();
}

struct RunOutcome {
  std::vector<Literal> values;
  std::string ran_on;
};

absl::StatusOr<RunOutcome> Execute(ModuleFile file,
                                   absl::Span<const RunArgument> arguments,
                                   runtime::Client* client) {
  std::vector<runtime::Argument> resolved;
  for (const RunArgument& argument : arguments) {
    HAWSER_ASSIGN_OR_RETURN(runtime::Argument value, Resolve(argument, client));
    resolved.push_back(std::move(value));
  }
  HAWSER_ASSIGN_OR_RETURN(const auto bound,
                          stablehlo::Bind(file.bound, *client));
  resolved.insert(resolved.end(), bound.begin(), bound.end());
  HAWSER_ASSIGN_OR_RETURN(
      Module optimized,
      Optimize(std::move(file.module), {.evaluate = cpu::EvaluateConstants}));
  HAWSER_ASSIGN_OR_RETURN(
      const auto executable,
      client->Compile(std::make_shared<const Module>(std::move(optimized)), {},
                      {}));
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          executable->Execute(resolved, {}));
  std::vector<Future<Literal>> fetched;
  for (const auto& result : results) fetched.push_back(result->Fetch({}));
  RunOutcome outcome{{}, client->name()};
  for (size_t i = 0; i < results.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, fetched[i].Await());
    outcome.values.push_back(std::move(value));
    outcome.ran_on = results[i]->ran_on().where;
  }
  return outcome;
}

absl::StatusOr<ExitCode> RunModule(const Invocation& invocation) {
  const std::vector<std::string> outs = invocation.line.All("--out");
  HAWSER_ASSIGN_OR_RETURN(ModuleFile file,
                          ReadModuleFile(invocation.line.words()[0]));
  HAWSER_RETURN_IF_ERROR(CheckOuts(outs, file.module.signature()));
  HAWSER_ASSIGN_OR_RETURN(const auto arguments,
                          ReadArguments(invocation.line, file));
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Target());
  HAWSER_ASSIGN_OR_RETURN(const RunOutcome outcome,
                          Execute(std::move(file), arguments, client.get()));
  *invocation.environment.err << "ran on " << outcome.ran_on << std::endl;

  std::string text;
  Json results = Json::array();
  for (size_t i = 0; i < outcome.values.size(); ++i) {
    const Literal& value = outcome.values[i];
    Json result = ShapeJson(value.shape());
    if (outs.empty()) {
      result["value"] = value.ToString(kShown);
      absl::StrAppend(&text, value.ToString(kShown), "\n");
    } else {
      HAWSER_RETURN_IF_ERROR(WriteNpy(outs[i], value));
      result["path"] = outs[i];
      absl::StrAppend(&text, outs[i], ": ", value.shape().ToString(), "\n");
    }
    results.push_back(std::move(result));
  }
  invocation.Print(text, Json::object({{"ran_on", outcome.ran_on},
                                       {"results", std::move(results)}}));
  return kOk;
}

absl::StatusOr<ExitCode> RunRun(const Invocation& invocation) {
  if (!invocation.line.Has(kTraceFlag)) return RunModule(invocation);
  HAWSER_RETURN_IF_ERROR(StartTrace(invocation.line.Get(kTraceFlag)));
  const auto code = RunModule(invocation);
  const absl::Status written = StopTrace();
  if (!written.ok() && code.ok()) return written;
  return code;
}

}  // namespace

extern constinit const Command kRunCommand = {
    .name = "run",
    .arguments = "MODULE",
    .summary = "run a printed module",
    .description =
        "Runs a module in its text form (core/ir/README.md), as `hawser "
        "explain` prints\nit, or a StableHLO program (*.mlir or an artifact, "
        "its function main). An\nargument is an npy or IDX file, TOKEN[:ARRAY] "
        "of a dataset, or a number: 3.5,\n-2, true, (1, -2), nan; ./3 is a "
        "file. Behind an array, [BEGIN:END] takes\nthose rows of it, and "
        "loads no others. Results go to the --out files, or the\nfirst "
        "elements of each are printed. Where it ran is printed on stderr.\n"
        "\n"
        "  hawser run step.txt --arg w.npy --arg hw1-...:images[0:256] "
        "--out y.npy\n\n"
        "With --trace, a file for ui.perfetto.dev or chrome://tracing says "
        "when each step\nran and for how long: planning, compiling, each "
        "region with its bytes, requests.\n\n"
        "  hawser run step.txt --arg 3 --trace=out.json\n",
    .flags = kRunCommandFlags,
    .words = {1, 1},
    .run = RunRun,
};

}  // namespace hawser::cli
