// Killing the server in the middle of a program, to see that nothing is lost.
#ifndef HAWSER_CLIENT_EXAMPLES_SERVER_KILL_SERVER_KILL_H_
#define HAWSER_CLIENT_EXAMPLES_SERVER_KILL_SERVER_KILL_H_

#include "absl/status/status.h"

namespace hawser {

// Kills the process --server_pid with -9 if `done` epochs, batches or steps are
// as many as --kill_server_after says; else, and with 0, it does nothing.
// Errors: --server_pid is missing.
absl::Status KillServerAfter(int done);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_SERVER_KILL_SERVER_KILL_H_
