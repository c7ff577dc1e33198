// hawserd: a hawser server.
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/log.h"
#include "core/base/process/version.h"
#include "core/base/status.h"
#include "core/environment/environment.h"
#include "server/access/connections/connection_guard.h"
#include "server/access/exposure.h"
#include "server/access/grpc_log.h"
#include "server/device.h"
#include "server/flags.h"
#include "server/host.h"

namespace hawser::server {
namespace {

// Exit codes. The second is sysexits.h's EX_UNAVAILABLE: a supervisor starts
// the server again, which may find the device well.
constexpr int kUsage = 2;
constexpr int kDeviceLost = 69;
// A device or disk that hangs does not keep the process from ending.
constexpr absl::Duration kPatience = absl::Seconds(3);
// Between two looks at the device.
constexpr absl::Duration kLookEvery = absl::Milliseconds(250);

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "hawserd: %s\n", std::string(status.message()).c_str());
  return code;
}

// Signals that end the server, SIGHUP and SIGUSR1, blocked in every thread so
// that main can wait for them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Allocated and not freed; without large values, which are mapped.
int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

// Shows leaks: with no client and all leases over, the first number is 0 and
// the next two are equal. `bad_files` counts files below data_dir; what is held
// is what clients are charged for.
void PrintState(const ComputeDevice& device, Host& host) {
  const Executor& executor = host.executor();
  const std::string line = absl::StrCat(
      "hawserd state sessions=", executor.sessions.size(),
      " buffers=", device.live_buffers(),
      " dataset_arrays=", executor.arrays.kept(),
      " bad_files=", host.datasets().statistics().bad_files,
      " resident_bytes=", ResidentBytes(), " heap_bytes=", HeapBytes(),
      " held_bytes=", host.account() == nullptr ? 0 : host.account()->held());
  std::puts(line.c_str());
  if (host.account() != nullptr) {
    std::printf("hawserd memory %s\n", host.account()->ToString().c_str());
  }
  std::fflush(stdout);
}

void WarnOfExposure(const HostOptions& options) {
  const std::string privilege = OwnPrivilege();
  if (!privilege.empty()) {
    HAWSER_LOG(kWarning) << privilege;
  }
  const AccessOptions& access = options.access;
  for (const std::string& line :
       Exposures({{"--data_dir", options.datasets.data_dir},
                  {"--tokens_file", access.tokens_file},
                  {"--tls_key", access.tls_key},
                  {"--tls_cert", access.tls_cert, /*secret=*/false},
                  {"--tls_client_ca", access.tls_client_ca, false}})) {
    HAWSER_LOG(kWarning) << line;
  }
}

// Serves until a signal ends us or the device is lost. The exit code.
int ServeUntilTheEnd(const sigset_t& signals, const ComputeDevice& device,
                     Host& host) {
  const timespec look = absl::ToTimespec(kLookEvery);
  while (true) {
    const int received = sigtimedwait(&signals, nullptr, &look);
    if (received == SIGUSR1) {
      PrintState(device, host);
    } else if (received == SIGHUP) {
      host.Reload();
    } else if (received > 0) {
      HAWSER_LOG(kInfo) << "stopping on signal " << received;
      return 0;
    }
    const absl::Status health = device.client->Ping({});
    if (!absl::IsUnavailable(health)) continue;
    HAWSER_LOG(kError) << "stopping: " << health.message();
    return kDeviceLost;
  }
}

int Serve(const CommandLine& line) {
  WarnOfEnvironment();
  RenouncePrivileges();  // of the threads that follow, too
  const sigset_t signals = BlockSignals();
  LimitGrpcLog();
  absl::StatusOr<ComputeDevice> device = MakeComputeDevice(line.compute);
  if (!device.ok()) {
    return Fail(device.status(),
                absl::IsInvalidArgument(device.status()) ? kUsage : 1);
  }
  auto capabilities = device->client->capabilities();
  if (!capabilities.ok()) return Fail(capabilities.status(), 1);
  HostOptions options = line.host;
  options.executor.version = kVersion;
  options.let_go = device->let_go;
  int64_t& session_memory = options.executor.sessions.limits.handles.bytes;
  if (capabilities->memory_bytes > 0) {
    session_memory = std::min(session_memory, capabilities->memory_bytes);
  }
  auto host = Host::Start(device->client, std::move(options));
  if (!host.ok()) {
    return Fail(host.status(),
                absl::IsInvalidArgument(host.status()) ? kUsage : 1);
  }
  WarnOfExposure(line.host);
  std::printf("hawserd ready on %s device=%s (%s) pid=%d\n",
              (*host)->address().c_str(), capabilities->platform.c_str(),
              capabilities->device.c_str(), static_cast<int>(getpid()));
  std::fflush(stdout);
  const int code = ServeUntilTheEnd(signals, *device, **host);
  std::thread([code] {
    absl::SleepFor(kPatience);
    HAWSER_LOG(kWarning) << "something did not end; leaving without it";
    _exit(code);
  }).detach();
  (*host)->Stop();
  host->reset();
  // Memory of a lost device may never be given back.
  if (code == kDeviceLost) _exit(code);
  return code;
}

}  // namespace

int Main(int argc, char** argv) {
  if (WantsHelp(argc, argv)) {
    std::fputs(HelpText().c_str(), stdout);
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    if (absl::string_view(argv[i]) != "--version") continue;
    std::printf("hawserd %s\n", kVersion);
    return 0;
  }
  const absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Fail(line.status(), kUsage);
  return Serve(*line);
}

}  // namespace hawser::server

int main(int argc, char** argv) { return hawser::server::Main(argc, argv); }
