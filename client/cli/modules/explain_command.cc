// hawser explain: what becomes of a printed module.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/command/command.h"
#include "client/cli/modules/module_file.h"
#include "core/ir/text/printer.h"
#include "core/ops/part/box.h"
#include "core/passes/optimize.h"
#include "core/sharding/choice/choose.h"
#include "core/sharding/shard.h"
#include "core/sharding/shard_spec.h"
#include "kernels/cpu/evaluator.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr absl::string_view kPlannedFlag = "--planned";
constexpr absl::string_view kEngineFlag = "--target";
constexpr absl::string_view kCutFlag = "--cut";
constexpr absl::string_view kPlacesFlag = "--places";
// More than any list of servers.
constexpr int kMostPlaces = 1024;
constexpr Flag kExplainCommandFlags[] = {
    {kPlannedFlag, "", "", "as an engine would run it, kernel by kernel"},
    {kEngineFlag, "-t", "gpu|cpu", "the engine of --planned, else gpu"},
    {kCutFlag, "", "SPEC", "into which tasks it is cut, and why"},
    {kPlacesFlag, "", "N", "how a client of so many servers would cut it"},
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

Json JsonOf(const Box& box) {
  Json intervals = Json::array();
  for (const Interval& interval : box) {
    intervals.push_back(Json::array({interval.begin, interval.end}));
  }
  return intervals;
}

// Pieces of an argument or a result, `of` which there are `count`, or of a
// value between tasks.
Json JsonOf(const std::vector<Piece>& pieces, absl::string_view of,
            size_t count) {
  Json list = Json::array();
  for (const Piece& piece : pieces) {
    const int between = piece.value - static_cast<int>(count);
    const bool whole = between < 0;
    list.push_back(
        Json::object({{whole ? of : "between", whole ? piece.value : between},
                      {"box", JsonOf(piece.box)}}));
  }
  return list;
}

Json JsonOf(const Sharding& sharding) {
  Json axes = Json::array(), notes = Json::array(), tasks = Json::array();
  Json between = Json::array();
  const auto list = [](const std::vector<ShardAxis::In>& in) {
    Json names = Json::array();
    for (const ShardAxis::In& one : in) {
      names.push_back(Json::array({one.value, one.axis}));
    }
    return names;
  };
  for (const ShardAxis& axis : sharding.axes) {
    axes.push_back(Json::object({{"parameters", list(axis.parameters)},
                                 {"results", list(axis.results)},
                                 {"sizes", axis.sizes}}));
  }
  for (const ShardNote& note : sharding.notes) notes.push_back(note.why);
  for (const ShardTask& task : sharding.tasks) {
    tasks.push_back(Json::object(
        {{"takes",
          JsonOf(task.takes, "argument", sharding.whole.parameters.size())},
         {"gives",
          JsonOf(task.gives, "result", sharding.whole.results.size())}}));
  }
  for (const Shape& shape : sharding.between) {
    between.push_back(shape.ToString());
  }
  const Exchange exchange = ExchangeOf(sharding);
  return Json::object({{"axes", axes},
                       {"notes", notes},
                       {"between", between},
                       {"stages", exchange.stages},
                       {"bytes_between", exchange.bytes},
                       {"tasks", tasks}});
}

// If there are any places, 0 parts are as many as these.
absl::StatusOr<ExitCode> ExplainCut(const Invocation& invocation,
                                    const Module& module, int places) {
  absl::StatusOr<ShardSpec> spec =
      ParseShardSpec(invocation.line.Get(kCutFlag));
  if (!spec.ok()) return UsageError(spec.status().message());
  if (places > 0) spec = ForPlaces(*spec, places);
  HAWSER_ASSIGN_OR_RETURN(const Sharding sharding, Shard(module, *spec));
  invocation.Print(Explain(sharding), JsonOf(sharding));
  return kOk;
}

// Explains the cut that is chosen by cost, for arguments that are host values,
// or one that is given.
absl::StatusOr<ExitCode> ExplainPlaces(const Invocation& invocation,
                                       const Module& module) {
  int places = 0;
  if (!absl::SimpleAtoi(invocation.line.Get(kPlacesFlag), &places) ||
      places < 1 || places > kMostPlaces) {
    return UsageError(
        absl::StrCat("--places is a number from 1 to ", kMostPlaces));
  }
  if (invocation.line.Has(kCutFlag)) {
    return ExplainCut(invocation, module, places);
  }
  const std::vector<PlaceFigures> figures(places);
  const std::vector<ArgumentLayout> here(module.entry().num_parameters());
  HAWSER_ASSIGN_OR_RETURN(const ShardChoice choice,
                          ChooseSpec(module, figures, here));
  Json members = JsonOf(choice.sharding);
  members["why"] = choice.why;
  members["spec"] = ToString(choice.spec);
  invocation.Print(absl::StrCat(choice.why, "\n", Explain(choice.sharding)),
                   members);
  return kOk;
}

// The engine of --planned. Errors: UsageError.
absl::StatusOr<Environment::Engine> EngineOf(const CommandLine& line) {
  if (!line.Has(kEngineFlag)) return Environment::Engine::kGpu;
  if (!line.Has(kPlannedFlag)) {
    return UsageError("explain takes --target with --planned alone");
  }
  const std::string name = line.Get(kEngineFlag);
  if (name == "gpu") return Environment::Engine::kGpu;
  if (name == "cpu") return Environment::Engine::kCpu;
  return UsageError(absl::StrCat("--planned is for gpu or cpu, not ", name));
}

absl::StatusOr<ExitCode> RunExplain(const Invocation& invocation) {
  HAWSER_ASSIGN_OR_RETURN(const Environment::Engine engine,
                          EngineOf(invocation.line));
  HAWSER_ASSIGN_OR_RETURN(ModuleFile file,
                          ReadModuleFile(invocation.line.words()[0]));
  Module& module = file.module;
  const bool places = invocation.line.Has(kPlacesFlag);
  if (places || invocation.line.Has(kCutFlag)) {
    if (invocation.line.Has(kPlannedFlag)) {
      return UsageError("explain takes --planned or --cut, not both");
    }
    if (places) return ExplainPlaces(invocation, module);
    return ExplainCut(invocation, module, /*places=*/0);
  }
  const int64_t before = module.num_instructions();
  HAWSER_ASSIGN_OR_RETURN(
      Module optimized,
      Optimize(std::move(module),
               {.evaluate = cpu::EvaluateConstants, .verify = true}));
  const int64_t after = optimized.num_instructions();
  Json members = Json::object(
      {{"instructions_before", before}, {"instructions_after", after}});
  std::string head =
      absl::StrCat("// ", before, " instructions, optimized ", after, "\n");
  if (invocation.line.Has(kPlannedFlag)) {
    HAWSER_ASSIGN_OR_RETURN(Environment::Planned planned,
                            invocation.environment.plan(optimized, engine));
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
    .arguments = "MODULE",
    .summary = "print a module as it is after optimization",
    .description =
        "Reads a module in its text form (core/ir/README.md), or a StableHLO "
        "program\n(*.mlir, or a portable artifact), and prints it as a client "
        "sends it:\noptimized, under a line that counts the instructions "
        "before "
        "and after.\n"
        "With --planned it is fused as for a "
        "GPU, under a line for each kernel: what it\nis, over which loops, how "
        "many bytes it moves; with --target=cpu as for this\nCPU, with what "
        "runs by tiles, by the row of its op or by a library. Both "
        "are\nmodules "
        "again.\n\n"
        "With --cut it says into which tasks the module is cut: SPEC names "
        "axes of\narguments and how they are cut, 0.0/4 (argument 0, axis 0, "
        "4 parts), 1.4=1+1\n(sizes), 2.0* (every index) or 3.1. (whole); an "
        "r in front is for results.\nAxes that are not named are cut at every "
        "index. The word split: what contracts\nnamed axes gives partial "
        "values, "
        "which go between tasks; refuse: it is an error.\n\n"
        "  hawser explain step.txt --planned --target=cpu\n"
        "  hawser explain step.txt --cut='0.0/4 1.0.'\n\n"
        "With --places it says how a client of so many servers would cut it, "
        "by what\nthat costs, and why.\n\n"
        "  hawser explain step.txt --places=3\n",
    .flags = kExplainCommandFlags,
    .words = {1, 1},
    .run = RunExplain,
};

}  // namespace hawser::cli
