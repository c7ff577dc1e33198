#include "client/examples/training/server_kill.h"

#include <signal.h>

#include <cstdio>

#include "absl/flags/flag.h"
#include "core/base/status.h"

ABSL_FLAG(int, kill_server_after_epoch, 0,
          "kill the server with -9 after this many epochs; 0: never");
ABSL_FLAG(int, server_pid, 0,
          "the server that --kill_server_after_epoch kills");

namespace hawser {

absl::Status KillServerAfterEpoch(int epoch) {
  if (epoch != absl::GetFlag(FLAGS_kill_server_after_epoch)) {
    return absl::OkStatus();
  }
  const int pid = absl::GetFlag(FLAGS_server_pid);
  if (pid <= 0) return InvalidArgument("--server_pid is missing");
  kill(pid, SIGKILL);
  std::printf("killed the server (pid %d)\n", pid);
  return absl::OkStatus();
}

}  // namespace hawser
