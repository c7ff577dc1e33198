// The `hawser` command, but for its main function.
#ifndef HAWSER_CLIENT_CLI_HAWSER_H_
#define HAWSER_CLIENT_CLI_HAWSER_H_

#include <string>

#include "absl/types/span.h"
#include "client/cli/command/command.h"

namespace hawser::cli {

// Runs `hawser words...` and returns its exit code.
int RunHawser(absl::Span<const std::string> words,
              const Environment& environment);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_HAWSER_H_
