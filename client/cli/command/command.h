// A subcommand, and what it may use of the world around it.
#ifndef HAWSER_CLIENT_CLI_COMMAND_COMMAND_H_
#define HAWSER_CLIENT_CLI_COMMAND_COMMAND_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/cli/command/command_line.h"
#include "client/remote/bare/bare_calls.h"
#include "core/base/threads/cancel.h"
#include "core/ir/module.h"
#include "core/ir/op_def.h"
#include "core/runtime/client.h"
#include "nlohmann/json_fwd.hpp"

namespace hawser::cli {

// Members stay in the order in which they were set.
using Json = nlohmann::ordered_json;

// Part of the interface: scripts rely on the numbers.
enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

// The parts of the world around it that a command uses. main.cc fills it with
// the real one, a test with its own.
struct Environment {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  // Progress bars are drawn here: RunHawser makes it err as it is. The other
  // two lose what a terminal would take for orders.
  std::ostream* progress = nullptr;
  bool err_is_terminal = false;
  std::string servers;  // HAWSER_SERVERS
  // Makes a client of the server at this address without sending anything.
  std::function<absl::StatusOr<std::shared_ptr<runtime::Client>>(
      const std::string& address)>
      connect;
  // Makes bare gRPC calls to that server, which `bench` compares with.
  std::function<absl::StatusOr<std::unique_ptr<BareCalls>>(
      const std::string& address, const CancelToken& cancel)>
      bare;
  // Makes the client of this machine's CPU.
  std::function<std::shared_ptr<runtime::Client>()> cpu;
  // The plan of an optimized module for an engine: a module whose kernels are
  // `fusion` instructions, and a line of text for each kernel.
  enum class Engine { kGpu, kCpu };
  struct Planned {
    Module module;
    std::string steps;
  };
  std::function<absl::StatusOr<Planned>(const Module& optimized, Engine engine)>
      plan;
  // The folder in which digests of files are remembered; "": nowhere.
  std::string cache_folder;
};

// The error of a wrong command line: the command exits with kUsage.
absl::Status UsageError(absl::string_view message);
// The exit code of a command that failed with `status`, which is not OK.
ExitCode ExitCodeOf(const absl::Status& status);

// Prints `json` on one line. NaN and infinities become null, bytes that are not
// UTF-8 become U+FFFD.
void PrintJson(const Json& json, std::ostream* out);

// One run of a subcommand. Both references outlive it.
struct Invocation {
  const CommandLine& line;
  const Environment& environment;
  bool json = false;

  // Prints `text`, which is whole lines, or `result` with --json.
  void Print(absl::string_view text, const Json& result) const;
  // The addresses of --server, without it those of HAWSER_SERVERS; at least
  // one.
  // Errors: UsageError when none is named.
  absl::StatusOr<std::vector<std::string>> Servers() const;
  // A client of the first of Servers(), which has answered. Errors: as Servers;
  // kUnavailable when it does not answer.
  absl::StatusOr<std::shared_ptr<runtime::Client>> Connect() const;
  // A client of the server, or this CPU, that kTargetFlag names; without it of
  // the first of HAWSER_SERVERS, and this CPU where that is empty. Errors:
  // kUnavailable when the server does not answer.
  absl::StatusOr<std::shared_ptr<runtime::Client>> Target() const;
};

// A subcommand: its row in the table of client/cli/hawser.cc.
struct Command {
  absl::string_view name;
  absl::string_view arguments;    // "FILE...", for the help
  absl::string_view summary;      // one line
  absl::string_view description;  // paragraphs, wrapped by hand
  absl::Span<const Flag> flags;   // besides kGlobalFlags
  CountRange words;               // how many words besides flags
  // Runs the subcommand and prints its result. RunHawser prints the error.
  absl::StatusOr<ExitCode> (*run)(const Invocation& invocation);
};

inline constexpr Flag kGlobalFlags[] = {
    {"--json", "", "", "print one JSON object instead of text"},
    {"--help", "-h", "", "print this help"},
};
inline constexpr Flag kServerFlag = {"--server", "-s", "ADDRESS",
                                     "host:port, instead of HAWSER_SERVERS"};
inline constexpr Flag kTargetFlag = {
    "--target", "-t", "ADDRESS",
    "a server, or cpu; else HAWSER_SERVERS, else cpu"};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_COMMAND_H_
