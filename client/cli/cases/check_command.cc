// hawser check: case files against a server or this machine's CPU.

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/cases/case_runner.h"
#include "client/cli/cases/program_file.h"
#include "client/cli/command/command.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--target", "-t", "ADDRESS", "a server, or cpu (if left out)"},
};

absl::StatusOr<std::shared_ptr<runtime::Client>> Target(
    const std::string& target, const Environment& environment) {
  if (target == "cpu") return environment.cpu();
  HAWSER_ASSIGN_OR_RETURN(auto client, environment.connect(target));
  HAWSER_RETURN_IF_ERROR(client->capabilities());
  return client;
}

std::string Describe(const CaseFailure& failure) {
  return failure.name.empty()
             ? absl::StrCat(failure.file, ": ", failure.what, "\n")
             : absl::StrCat(failure.file, ": \"", failure.name,
                            "\": ", failure.what, "\n");
}

// Counts how many files lack what, the most frequent first.
std::vector<std::pair<std::string, int>> Lacking(const CaseReport& report) {
  std::map<std::string, int> counts;
  for (const CaseLeftOut& file : report.left_out) {
    for (const std::string& what : file.missing) ++counts[what];
  }
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

CaseReport RunFiles(const std::vector<std::string>& files,
                    const std::shared_ptr<runtime::Client>& target) {
  const Client client(target);
  CaseReport report;
  for (const std::string& file : files) {
    if (!absl::EndsWith(file, ".txtpb")) {
      RunProgramFile(file, *target, &report);
    } else {
      RunCaseFile(file, client, &report);
    }
  }
  return report;
}

absl::StatusOr<ExitCode> RunCheck(const Invocation& invocation) {
  std::vector<std::string> files;
  for (const std::string& path : invocation.line.words()) {
    HAWSER_ASSIGN_OR_RETURN(const auto found, FindCaseFiles(path));
    files.insert(files.end(), found.begin(), found.end());
  }
  const std::string target =
      invocation.line.Has("--target") ? invocation.line.Get("--target") : "cpu";
  HAWSER_ASSIGN_OR_RETURN(const auto client,
                          Target(target, invocation.environment));
  const CaseReport report = RunFiles(files, client);

  std::string text;
  Json failures = Json::array();
  for (const CaseFailure& failure : report.failures) {
    absl::StrAppend(&text, Describe(failure));
    failures.push_back(Json::object({{"file", failure.file},
                                     {"case", failure.name},
                                     {"what", failure.what}}));
  }
  Json lacking = Json::object();
  for (const auto& [what, count] : Lacking(report)) {
    absl::StrAppend(&text, "left out: ", count,
                    count == 1 ? " file lacks " : " files lack ", what, "\n");
    lacking[what] = count;
  }
  const size_t failed = report.failures.size();
  const size_t left_out = report.left_out.size();
  absl::StrAppend(
      &text, report.passed, " passed, ", failed, " failed",
      left_out == 0 ? "" : absl::StrCat(", ", left_out, " left out"), "\n");
  invocation.Print(text, Json::object({{"target", target},
                                       {"passed", report.passed},
                                       {"failed", failed},
                                       {"failures", std::move(failures)},
                                       {"left_out", left_out},
                                       {"lacking", std::move(lacking)}}));
  return failed == 0 ? kOk : kFailed;
}

}  // namespace

extern constinit const Command kCheckCommand = {
    .name = "check",
    .arguments = "PATH...",
    .summary =
        "run case files and checking programs against a server or this CPU",
    .description =
        "Runs case files (*.txtpb; of a folder, all in it and below) and "
        "compares what\ncomes out. Prints each failure, and as its last line "
        "\"N passed, N failed\".\nThe format is described in "
        "proto/case.proto.\n\n"
        "StableHLO programs that check themselves (*.mlir, *.mlirbc) are run, "
        "too: each\nfunction without arguments, whose checks must hold. What "
        "needs an op that hawser\nlacks is left out, and counted.\n\n"
        "  hawser check tests/vectors\n"
        "  hawser check tests/vectors/add.txtpb --target gpu-1:7070\n",
    .flags = kFlags,
    .words = {1, kMany},
    .run = RunCheck,
};

}  // namespace hawser::cli
