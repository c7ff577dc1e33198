#include "client/cli/command.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr const Command* kCommands[] = {
    &kStatusCommand,  &kPutCommand,  &kGetCommand,   &kLsCommand,
    &kStatCommand,    &kTagCommand,  &kPinCommand,   &kUnpinCommand,
    &kRmCommand,      &kDuCommand,   &kCheckCommand, &kRunCommand,
    &kExplainCommand, &kBenchCommand};

constexpr absl::string_view kAbout =
    "hawser: use a GPU on another machine as if it were in this one.\n";
constexpr absl::string_view kFooter =
    "\nEnvironment:\n"
    "  HAWSER_SERVERS     the servers, host:port or unix:/path[,...]\n"
    "  HAWSER_TLS_CA      certificates to trust, in PEM form: uses TLS\n"
    "  HAWSER_TLS_CERT, HAWSER_TLS_KEY\n"
    "                     the client's own, for servers that ask for one\n"
    "  HAWSER_TOKEN_FILE  a file with the token, for servers that want one\n"
    "  HAWSER_CACHE       where digests of files are remembered, or off\n"
    "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 server unreachable.\n";

std::string Overview() {
  std::string text =
      absl::StrCat(kAbout, "\nUsage: hawser COMMAND [ARGUMENT]...\n\n");
  for (const Command* command : kCommands) {
    absl::StrAppendFormat(&text, "  %-20s %s\n",
                          absl::StrCat(command->name, " ", command->arguments),
                          command->summary);
  }
  absl::StrAppendFormat(&text, "  %-20s %s\n", "help [COMMAND]",
                        "how to use a command");
  return text + std::string(kFooter);
}

std::string HelpOf(const Command& command) {
  std::string text =
      absl::StrCat("Usage: hawser ", command.name, " ", command.arguments,
                   "\n\n", command.description, "\nFlags:\n");
  for (const auto& flags : {command.flags, absl::MakeConstSpan(kGlobalFlags)}) {
    for (const Flag& flag : flags) {
      std::string spelling(flag.shorthand);
      const bool needs_value = flag.implied.empty();
      absl::StrAppend(&spelling, spelling.empty() ? "" : ", ", flag.name,
                      flag.value.empty() ? ""
                      : needs_value      ? " "
                                         : "[=",
                      flag.value, needs_value ? "" : "]");
      absl::StrAppendFormat(&text, "  %-22s %s\n", spelling, flag.summary);
    }
  }
  return text + std::string(kFooter);
}

const Command* FindCommand(absl::string_view name) {
  for (const Command* command : kCommands) {
    if (command->name == name) return command;
  }
  return nullptr;
}

std::string OneLine(const Json& json) {
  // With an indent of 0 lines end between members and nowhere else.
  return absl::StrReplaceAll(
      json.dump(0, ' ', false, Json::error_handler_t::replace),
      {{",\n", ", "}, {"\n", ""}});
}

Json ErrorJson(const absl::Status& status) {
  return Json::object(
      {{"error",
        Json::object({{"code", absl::StatusCodeToString(status.code())},
                      {"message", status.message()}})}});
}

constexpr absl::string_view kUsagePayload = "hawser.usage";

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.GetPayload(kUsagePayload).has_value()) return kUsage;
  return status.code() == absl::StatusCode::kUnavailable ||
                 status.code() == absl::StatusCode::kDeadlineExceeded
             ? kUnreachable
             : kFailed;
}

int Report(const absl::Status& status, bool json,
           const Environment& environment) {
  const ExitCode code = ExitCodeOf(status);
  *environment.err << "hawser: " << status.message() << "\n";
  if (code == kUsage) *environment.err << "Try: hawser help\n";
  if (json) *environment.out << OneLine(ErrorJson(status)) << "\n";
  return code;
}

absl::Status NoCommand(absl::string_view name) {
  return UsageError(absl::StrCat("there is no command ", name));
}

bool AsksForJson(absl::Span<const std::string> words) {
  return std::find(words.begin(), words.end(), "--json") != words.end();
}

absl::Status CheckWords(const Command& command, size_t count) {
  const int n = static_cast<int>(count);
  if (n >= command.words.min && n <= command.words.max) {
    return absl::OkStatus();
  }
  return UsageError(absl::StrCat(command.name, " takes ", command.arguments,
                                 ", got ", n, n == 1 ? " word" : " words"));
}

int RunCommand(const Command& command, absl::Span<const std::string> words,
               const Environment& environment) {
  // Also when the line cannot be parsed, a script gets its JSON.
  const bool json = AsksForJson(words);
  std::vector<Flag> flags(command.flags.begin(), command.flags.end());
  flags.insert(flags.end(), std::begin(kGlobalFlags), std::end(kGlobalFlags));
  const auto line = CommandLine::Parse(flags, words);
  if (!line.ok())
    return Report(UsageError(line.status().message()), json, environment);
  if (line->Has("--help")) {
    *environment.out << HelpOf(command);
    return kOk;
  }
  const absl::Status counted = CheckWords(command, line->words().size());
  if (!counted.ok()) return Report(counted, json, environment);
  const auto code = command.run({*line, environment, line->Has("--json")});
  if (code.ok()) return *code;
  return Report(code.status(), json, environment);
}

int RunHelp(absl::Span<const std::string> words,
            const Environment& environment) {
  if (words.empty()) {
    *environment.out << Overview();
    return kOk;
  }
  const Command* command = FindCommand(words[0]);
  if (command == nullptr) {
    return Report(NoCommand(words[0]), false, environment);
  }
  *environment.out << HelpOf(*command);
  return kOk;
}

}  // namespace

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

void Invocation::Print(absl::string_view text, const Json& result) const {
  if (json) {
    *environment.out << OneLine(result) << std::endl;
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
  // Says so at once, and not after a file was read and hashed.
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

int RunHawser(absl::Span<const std::string> words,
              const Environment& environment) {
  if (words.empty()) {
    *environment.err << Overview();
    return kUsage;
  }
  const absl::string_view name = words[0];
  const auto rest = words.subspan(1);
  if (name == "help" || name == "--help" || name == "-h") {
    return RunHelp(rest, environment);
  }
  const Command* command = FindCommand(name);
  if (command == nullptr) {
    const bool json = AsksForJson(words);
    return Report(NoCommand(name), json, environment);
  }
  return RunCommand(*command, rest, environment);
}

}  // namespace hawser::cli
