// Killing the server in the middle of training, to see that nothing is lost.
#ifndef HAWSER_CLIENT_EXAMPLES_TRAINING_SERVER_KILL_H_
#define HAWSER_CLIENT_EXAMPLES_TRAINING_SERVER_KILL_H_

#include "absl/status/status.h"

namespace hawser {

// Kills the process --server_pid with -9 after epoch --kill_server_after_epoch;
// before that, and with 0, it does nothing. Errors: --server_pid is missing.
absl::Status KillServerAfterEpoch(int epoch);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_TRAINING_SERVER_KILL_H_
