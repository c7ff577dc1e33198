// hawser rm: datasets go from a server.

#include <string>
#include <utility>

#include "client/cli/command/command.h"
#include "client/cli/datasets/dataset_text.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {kServerFlag};

absl::Status Delete(const std::string& name, runtime::Client* client) {
  HAWSER_ASSIGN_OR_RETURN(const std::string token, TokenNamed(name, client));
  return client->datasets().Ask(DeleteDataset{std::string(token)}, {}).status();
}

absl::StatusOr<ExitCode> RunRm(const Invocation& invocation) {
  // A malformed name is refused before anything is deleted.
  for (const std::string& token : invocation.line.words()) {
    HAWSER_RETURN_IF_ERROR(CheckDatasetName(token));
  }
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  Json deleted = Json::array(), failed = Json::array();
  for (const std::string& token : invocation.line.words()) {
    const absl::Status status = Delete(token, client.get());
    if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
      return status;
    }
    if (status.ok()) {
      deleted.push_back(token);
      continue;
    }
    *invocation.environment.err << "hawser: " << status.message() << "\n";
    failed.push_back(
        Json::object({{"token", token},
                      {"code", absl::StatusCodeToString(status.code())},
                      {"message", status.message()}}));
  }
  const ExitCode code = failed.empty() ? kOk : kFailed;
  invocation.Print("", Json::object({{"deleted", std::move(deleted)},
                                     {"failed", std::move(failed)}}));
  return code;
}

}  // namespace

extern constinit const Command kRmCommand = {
    .name = "rm",
    .arguments = "TOKEN...",
    .summary = "delete datasets from the server",
    .description =
        "Deletes your datasets from the server, in memory and on disk. Bytes "
        "that\nanother dataset holds too stay for that one; programs that run "
        "on a dataset\nkeep it until they end. Goes on after a token that is "
        "not there, and then\nexits with 1.\n\n"
        "  hawser rm hw1-... @old\n"
        "  hawser ls hw1-ab | xargs hawser rm\n",
    .flags = kFlags,
    .words = {1, kMany},
    .run = RunRm,
};

}  // namespace hawser::cli
