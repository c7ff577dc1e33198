#include "client/cli/command/command.h"

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/text/terminal_text.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr absl::string_view kUsagePayload = "hawser.usage";

}  // namespace

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.GetPayload(kUsagePayload).has_value()) return kUsage;
  return status.code() == absl::StatusCode::kUnavailable ||
                 status.code() == absl::StatusCode::kDeadlineExceeded
             ? kUnreachable
             : kFailed;
}

void PrintJson(const Json& json, std::ostream* out) {
  // If the indent is 0, a line ends between members and nowhere else.
  *out << absl::StrReplaceAll(
              json.dump(0, ' ', false, Json::error_handler_t::replace),
              {{",\n", ", "}, {"\n", ""}})
       << std::endl;
}

void Invocation::Print(absl::string_view text, const Json& result) const {
  if (json) {
    PrintJson(result, environment.out);
  } else {
    *environment.out << TerminalText(text) << std::flush;
  }
}

absl::StatusOr<std::vector<std::string>> Invocation::Servers() const {
  std::vector<std::string> servers = line.All(kServerFlag.name);
  if (servers.empty()) {
    servers = absl::StrSplit(environment.servers, absl::ByAnyChar(", "),
                             absl::SkipEmpty());
  }
  if (servers.empty()) {
    return UsageError(
        "no server is named: set HAWSER_SERVERS=host:port or give one");
  }
  return servers;
}

absl::StatusOr<std::shared_ptr<runtime::Client>> Invocation::Connect() const {
  HAWSER_ASSIGN_OR_RETURN(const auto servers, Servers());
  HAWSER_ASSIGN_OR_RETURN(auto client, environment.connect(servers[0]));
  // A server out of reach is reported before any file is read and hashed.
  const auto reached = client->capabilities();
  if (!reached.ok()) return reached.status();
  return client;
}

absl::StatusOr<std::shared_ptr<runtime::Client>> Invocation::Target() const {
  std::string target = line.Get(kTargetFlag.name);
  if (target.empty()) {
    const auto servers = Servers();
    target = servers.ok() ? servers->front() : "cpu";
  }
  if (target == "cpu") return environment.cpu();
  HAWSER_ASSIGN_OR_RETURN(auto client, environment.connect(target));
  const auto reached = client->capabilities();
  if (!reached.ok()) return reached.status();
  return client;
}

}  // namespace hawser::cli
