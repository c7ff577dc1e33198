// hawserd: a hawser server.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "kernels/cpu/cpu_client.h"
#include "server/access/grpc_log.h"
#include "server/flags.h"
#include "server/host.h"

namespace hawser::server {
namespace {

constexpr int kUsage = 2;  // exit code
// A device or disk that hangs does not keep the process from ending.
constexpr absl::Duration kPatience = absl::Seconds(3);

using Device = std::shared_ptr<runtime::Client>;

struct DeviceKind {
  absl::string_view name;
  absl::StatusOr<Device> (*make)();
};

// In the order in which --device=auto tries them.
constexpr DeviceKind kDevices[] = {
    {"cpu", [] { return absl::StatusOr<Device>(cpu::MakeCpuClient()); }},
};

absl::StatusOr<Device> MakeDevice(absl::string_view name) {
  std::vector<absl::string_view> names = {"auto"};
  absl::Status last;
  for (const DeviceKind& kind : kDevices) {
    names.push_back(kind.name);
    if (name != "auto" && name != kind.name) continue;
    absl::StatusOr<Device> device = kind.make();
    if (device.ok()) return device;
    last = Annotate(device.status(), kind.name);
    if (name != "auto") return last;
    HAWSER_LOG(kInfo) << "no device " << kind.name << ": " << last.message();
  }
  if (!last.ok()) return last;
  return InvalidArgument("--device=", name, " is none of ",
                         absl::StrJoin(names, ", "));
}

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "hawserd: %s\n", std::string(status.message()).c_str());
  return code;
}

// Signals that end us, and SIGHUP, blocked in every thread so that main can
// wait for them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

int Serve(const CommandLine& line) {
  const sigset_t signals = BlockSignals();
  LimitGrpcLog();
  absl::StatusOr<Device> device = MakeDevice(line.device);
  if (!device.ok()) {
    return Fail(device.status(),
                absl::IsInvalidArgument(device.status()) ? kUsage : 1);
  }
  auto capabilities = (*device)->capabilities();
  if (!capabilities.ok()) return Fail(capabilities.status(), 1);
  HostOptions options = line.host;
  int64_t& session_memory = options.executor.sessions.limits.handles.bytes;
  if (capabilities->memory_bytes > 0) {
    session_memory = std::min(session_memory, capabilities->memory_bytes);
  }
  auto host = Host::Start(*std::move(device), std::move(options));
  if (!host.ok()) {
    return Fail(host.status(),
                absl::IsInvalidArgument(host.status()) ? kUsage : 1);
  }
  std::printf("hawserd ready on %s device=%s (%s) pid=%d\n",
              (*host)->address().c_str(), capabilities->platform.c_str(),
              capabilities->device.c_str(), static_cast<int>(getpid()));
  std::fflush(stdout);
  int received = 0;
  while (sigwait(&signals, &received) != 0 || received == SIGHUP) {
    (*host)->Reload();
  }
  HAWSER_LOG(kInfo) << "stopping on signal " << received;
  std::thread([] {
    absl::SleepFor(kPatience);
    HAWSER_LOG(kWarning) << "something did not end; leaving without it";
    _exit(0);
  }).detach();
  (*host)->Stop();
  host->reset();
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  if (WantsHelp(argc, argv)) {
    std::fputs(HelpText().c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Fail(line.status(), kUsage);
  return Serve(*line);
}

}  // namespace hawser::server

int main(int argc, char** argv) { return hawser::server::Main(argc, argv); }
