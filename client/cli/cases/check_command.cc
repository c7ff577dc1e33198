// hawser check: case files against a server or this machine's CPU.

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/cases/case_runner.h"
#include "client/cli/command/command.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--target", "-t", "ADDRESS", "a server, or cpu (if left out)"},
};

absl::StatusOr<Client> Target(const std::string& target,
                              const Environment& environment) {
  if (target == "cpu") return Client(environment.cpu());
  HAWSER_ASSIGN_OR_RETURN(auto client, environment.connect(target));
  HAWSER_RETURN_IF_ERROR(client->capabilities());
  return Client(std::move(client));
}

std::string Describe(const CaseFailure& failure) {
  return failure.name.empty()
             ? absl::StrCat(failure.file, ": ", failure.what, "\n")
             : absl::StrCat(failure.file, ": \"", failure.name,
                            "\": ", failure.what, "\n");
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
  CaseReport report;
  for (const std::string& file : files) RunCaseFile(file, client, &report);

  std::string text;
  Json failures = Json::array();
  for (const CaseFailure& failure : report.failures) {
    absl::StrAppend(&text, Describe(failure));
    failures.push_back(Json::object({{"file", failure.file},
                                     {"case", failure.name},
                                     {"what", failure.what}}));
  }
  const size_t failed = report.failures.size();
  absl::StrAppend(&text, report.passed, " passed, ", failed, " failed\n");
  invocation.Print(text, Json::object({{"target", target},
                                       {"passed", report.passed},
                                       {"failed", failed},
                                       {"failures", std::move(failures)}}));
  return failed == 0 ? kOk : kFailed;
}

}  // namespace

extern constinit const Command kCheckCommand = {
    .name = "check",
    .arguments = "PATH...",
    .summary = "run case files against a server or this CPU",
    .description =
        "Runs case files (*.txtpb; of a folder, all in it and below) and "
        "compares what\ncomes out. Prints each failure, and as its last line "
        "\"N passed, N failed\".\nThe format is described in "
        "proto/case.proto.\n\n"
        "  hawser check tests/vectors\n"
        "  hawser check tests/vectors/add.txtpb --target gpu-1:7070\n",
    .flags = kFlags,
    .words = {1, kMany},
    .run = RunCheck,
};

}  // namespace hawser::cli
