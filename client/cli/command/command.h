// What a subcommand is, and what it may use of the world around it.
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
#include "client/remote/bare_calls.h"
#include "core/base/cancel.h"
#include "core/ir/module.h"
#include "core/ir/op_def.h"
#include "core/runtime/client.h"
#include "nlohmann/json_fwd.hpp"

namespace hawser::cli {

// Members stay in the order in which they were set.
using Json = nlohmann::ordered_json;

// Part of the interface: scripts rely on the numbers.
enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

// A test brings its own.
struct Environment {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool err_is_terminal = false;
  std::string servers;  // HAWSER_SERVERS
  // A client of the server at this address; nothing is sent yet.
  std::function<absl::StatusOr<std::shared_ptr<runtime::Client>>(
      const std::string& address)>
      connect;
  // gRPC's own calls to that server, to be compared with.
  std::function<absl::StatusOr<std::unique_ptr<BareCalls>>(
      const std::string& address, const CancelToken& cancel)>
      bare;
  // This process's own client.
  std::function<std::shared_ptr<runtime::Client>()> cpu;
  // What a GPU would run of an optimized module: kernels as `fusion`
  // instructions, and a line for each of them.
  struct Planned {
    Module module;
    std::string steps;
  };
  std::function<absl::StatusOr<Planned>(const Module& optimized)> plan;
  // Where digests of files are remembered; "": nowhere.
  std::string cache_folder;
};

// A command line that makes no sense, as opposed to work that failed: the
// command exits with kUsage.
absl::Status UsageError(absl::string_view message);
// Of a command that failed so. `status` is not OK.
ExitCode ExitCodeOf(const absl::Status& status);

// One line. JSON has no NaN and no infinities: they become null; bytes that are
// not UTF-8 become U+FFFD.
void PrintJson(const Json& json, std::ostream* out);

// One run of a subcommand.
struct Invocation {
  const CommandLine& line;
  const Environment& environment;
  bool json = false;

  // The result: `text` (whole lines) for people, or with --json the other.
  void Print(absl::string_view text, const Json& result) const;
  // HAWSER_SERVERS, or --server. Errors: UsageError when none is named.
  absl::StatusOr<std::vector<std::string>> Servers() const;
  // The first of them. Errors: as Servers; kUnavailable when it does not
  // answer.
  absl::StatusOr<std::shared_ptr<runtime::Client>> Connect() const;
  // Where kTargetFlag says; without it the first of HAWSER_SERVERS, and this
  // CPU where that names none. Errors: kUnavailable when it does not answer.
  absl::StatusOr<std::shared_ptr<runtime::Client>> Target() const;
};

struct Command {
  absl::string_view name;
  absl::string_view arguments;    // "FILE...", for the help
  absl::string_view summary;      // one line
  absl::string_view description;  // paragraphs, wrapped by hand
  absl::Span<const Flag> flags;   // beside kGlobalFlags
  Range words;                    // how many words beside flags
  // Prints its result. A failed Status is printed by the caller.
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
