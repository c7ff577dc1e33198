#include "client/cli/command/command.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr absl::string_view kUsagePayload = "hawser.usage";

// JSON as it is, but for the control characters that it allows in a string: DEL
// and U+0080 to U+009F, which are escaped like the others.
std::string WithoutControls(absl::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const auto c = static_cast<unsigned char>(json[i]);
    const unsigned char next =
        i + 1 < json.size() ? static_cast<unsigned char>(json[i + 1]) : 0;
    if (c == 0x7f) {
      out += "\\u007f";
    } else if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
      absl::StrAppendFormat(&out, "\\u%04x", next);
      ++i;
    } else {
      out += json[i];
    }
  }
  return out;
}

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
  const std::string text = absl::StrReplaceAll(
      json.dump(0, ' ', false, Json::error_handler_t::replace),
      {{",\n", ", "}, {"\n", ""}});
  *out << WithoutControls(text) << std::endl;
}

void Invocation::Print(absl::string_view text, const Json& result) const {
  if (json) {
    PrintJson(result, environment.out);
  } else {
    *environment.out << text << std::flush;
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
