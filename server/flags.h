// The command line of hawserd.
#ifndef HAWSER_SERVER_FLAGS_H_
#define HAWSER_SERVER_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/device.h"
#include "server/host.h"

namespace hawser::server {

struct CommandLine {
  HostOptions host;
  ComputeOptions compute;
};

// Errors: kInvalidArgument in words for the user. Ends the process with exit
// code 2 for what the flag parser refuses.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv);

// True if --help is among the arguments; HelpText is what it asks for.
bool WantsHelp(int argc, char** argv);
std::string HelpText();

// "64KiB", "1.5GiB", "512M" (also binary), "1000". Errors: kInvalidArgument.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_FLAGS_H_
