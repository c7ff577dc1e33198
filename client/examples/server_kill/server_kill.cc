#include "client/examples/server_kill/server_kill.h"

#include <signal.h>

#include <cstdio>

#include "absl/flags/flag.h"
#include "core/base/status.h"

ABSL_FLAG(int, kill_server_after, 0,
          "kill the server with -9 after this many epochs, batches or steps, "
          "whichever the program counts; 0: never");
ABSL_FLAG(int, server_pid, 0, "the server that --kill_server_after kills");

namespace hawser {

absl::Status KillServerAfter(int done) {
  if (done == 0 || done != absl::GetFlag(FLAGS_kill_server_after)) {
    return absl::OkStatus();
  }
  const int pid = absl::GetFlag(FLAGS_server_pid);
  if (pid <= 0) return InvalidArgument("--server_pid is missing");
  kill(pid, SIGKILL);
  std::printf("killed the server (pid %d)\n", pid);
  return absl::OkStatus();
}

}  // namespace hawser
