#include "client/cli/hawser.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command/terminal_stream.h"
#include "core/environment/spelling.h"
#include "core/base/process/version.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {

// Each is defined in its own file, <name>_command.cc of a room.
extern const Command kStatusCommand, kPutCommand, kGetCommand, kLsCommand,
    kStatCommand, kTagCommand, kPinCommand, kUnpinCommand, kRmCommand,
    kDuCommand, kCheckCommand, kRunCommand, kExplainCommand, kOpsCommand,
    kBenchCommand;

namespace {

constexpr const Command* kCommands[] = {
    &kStatusCommand,  &kPutCommand, &kGetCommand,   &kLsCommand,
    &kStatCommand,    &kTagCommand, &kPinCommand,   &kUnpinCommand,
    &kRmCommand,      &kDuCommand,  &kCheckCommand, &kRunCommand,
    &kExplainCommand, &kOpsCommand, &kBenchCommand};

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
    "  HAWSER_TRACE       a file that says when each step ran; %p: the "
    "process\n"
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
  absl::StrAppendFormat(&text, "  %-20s %s\n", "version",
                        "which version this is");
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

Json ErrorJson(const absl::Status& status) {
  return Json::object(
      {{"error",
        Json::object({{"code", absl::StatusCodeToString(status.code())},
                      {"message", status.message()}})}});
}

// `command` is the one that was meant, or empty.
int Report(const absl::Status& status, bool json,
           const Environment& environment, absl::string_view command = "") {
  const ExitCode code = ExitCodeOf(status);
  *environment.err << "hawser: " << status.message() << "\n";
  if (code == kUsage) {
    *environment.err << "Try: hawser help" << (command.empty() ? "" : " ")
                     << command << "\n";
  }
  if (json) PrintJson(ErrorJson(status), environment.out);
  return code;
}

absl::string_view NearestCommand(absl::string_view name) {
  std::vector<absl::string_view> names = {"help", "version"};
  for (const Command* command : kCommands) names.push_back(command->name);
  return Nearest(name, names);
}

absl::Status NoCommand(absl::string_view name) {
  const absl::string_view nearest = NearestCommand(name);
  return UsageError(absl::StrCat(
      "there is no command ", name,
      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
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
  // Looked for in the words, so that a line that cannot be parsed has its error
  // as JSON, too.
  const bool json = AsksForJson(words);
  std::vector<Flag> flags(command.flags.begin(), command.flags.end());
  flags.insert(flags.end(), std::begin(kGlobalFlags), std::end(kGlobalFlags));
  const auto line = CommandLine::Parse(flags, words);
  if (!line.ok())
    return Report(UsageError(line.status().message()), json, environment,
                  command.name);
  if (line->Has("--help")) {
    *environment.out << HelpOf(command);
    return kOk;
  }
  const absl::Status counted = CheckWords(command, line->words().size());
  if (!counted.ok()) return Report(counted, json, environment, command.name);
  const auto code = command.run({*line, environment, line->Has("--json")});
  if (code.ok()) return *code;
  return Report(code.status(), json, environment, command.name);
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

int RunHawser(absl::Span<const std::string> words, const Environment& outside) {
  // Whatever is printed goes through these; only progress moves the cursor.
  TerminalStream out(outside.out), err(outside.err);
  Environment environment = outside;
  environment.out = &out;
  environment.err = &err;
  environment.progress = outside.err;
  if (words.empty()) {
    *environment.err << Overview();
    return kUsage;
  }
  const absl::string_view name = words[0];
  const auto rest = words.subspan(1);
  if (name == "help" || name == "--help" || name == "-h") {
    return RunHelp(rest, environment);
  }
  if (name == "version" || name == "--version") {
    *environment.out << "hawser " << kVersion << "\n";
    return kOk;
  }
  const Command* command = FindCommand(name);
  if (command == nullptr) {
    const bool json = AsksForJson(words);
    return Report(NoCommand(name), json, environment);
  }
  return RunCommand(*command, rest, environment);
}

}  // namespace hawser::cli
