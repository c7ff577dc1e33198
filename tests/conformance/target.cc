#include "tests/conformance/target.h"

#include <map>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/fallback/fallback_client.h"
#include "client/sharded/sharded_client.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/emu/emu_device.h"
#include "tests/client/pjrt/plugin_client.h"
#include "tests/server/access/credential_files.h"

namespace hawser {
namespace {

cpu::CpuClientOptions Device() {
  return {.threads = 2, .memory_limit = kTargetMemory};
}

std::unique_ptr<Target> MakeCpu() {
  auto target = std::make_unique<Target>();
  target->local = cpu::MakeCpuClient(Device());
  target->client = target->local;
  target->another = [client = target->client] { return client; };
  target->where = "cpu";
  return target;
}

std::shared_ptr<runtime::HostEvaluator> HostFor(runtime::Numerics numerics) {
  cpu::CpuEvaluator::Options options;
  options.numerics = numerics;
  return std::make_shared<cpu::CpuEvaluator>(options);
}

std::unique_ptr<Target> MakeGpu(std::shared_ptr<gpu::Device> device) {
  auto client = gpu::GpuClient::Make(
      std::move(device), {.host = {HostFor(runtime::Numerics::kFast),
                                   HostFor(runtime::Numerics::kStrict)}});
  if (!client.ok()) return nullptr;
  auto target = std::make_unique<Target>();
  target->gpu = *std::move(client);
  target->client = target->gpu;
  target->another = [client = target->client] { return client; };
  target->where = target->platform = target->gpu->name();
  return target;
}

std::unique_ptr<Target> MakeEmu() {
  return MakeGpu(emu::MakeEmuDevice({.memory_bytes = kTargetMemory}));
}

std::unique_ptr<Target> MakeCuda() {
  auto device = cuda::MakeCudaDevice(0, {.memory_limit = kTargetMemory});
  return device.ok() ? MakeGpu(*std::move(device)) : nullptr;
}

// Null when the server does not start, which the caller's test reports.
std::unique_ptr<Target> MakeServer(LoopbackOptions options) {
  auto target = std::make_unique<Target>();
  options.device = Device();
  auto server = LoopbackServer::Start(std::move(options));
  if (!server.ok()) return nullptr;
  target->server = *std::move(server);
  target->client = target->server->Connect();
  target->another = [at = target->server.get()] { return at->Connect(); };
  target->where = target->server->address();
  return target;
}

std::unique_ptr<Target> MakeLoopback() { return MakeServer({}); }

// The PJRT plugin over a server. Its C ABI has no deadlines and no datasets.
std::unique_ptr<Target> MakePlugin() {
  std::unique_ptr<Target> target = MakeLoopback();
  if (target == nullptr) return nullptr;
  target->client = pjrt::MakePluginClient(target->where);
  target->another = [address = target->where] {
    return pjrt::MakePluginClient(address);
  };
  // What the server has no memory for is computed here, with all there is.
  target->memory = int64_t{1} << 41;
  return target;
}

// Mutual TLS and a token, with files as an operator makes them.
LoopbackOptions MakeTlsOptions() {
  const std::string folder = testing::NewFolder();
  const auto certificates = testing::MakeCertificates(folder);
  const testing::Token token = testing::MakeToken(folder, "conformance");
  const std::string tokens = certificates.File("tokens.txt");
  testing::WriteFile(tokens, token.line);
  LoopbackOptions options = {.access = certificates.Server(),
                             .credentials = certificates.Client()};
  options.access.tokens_file = tokens;
  options.credentials.token_file = token.file;
  return options;
}

std::unique_ptr<Target> MakeLoopbackTls() {
  static const auto& options = *new LoopbackOptions(MakeTlsOptions());
  return MakeServer(options);
}

// No probes: a killed server does not come back here.
FallbackPolicy Policy() {
  FallbackPolicy policy;
  policy.probe_first = absl::InfiniteDuration();
  return policy;
}

std::unique_ptr<Target> WithCpuBehind(std::unique_ptr<Target> target) {
  if (target == nullptr) return nullptr;
  target->local = cpu::MakeCpuClient(Device());
  target->client = MakeFallbackClient(target->client, target->local, Policy());
  target->another = [remote = target->another, local = target->local] {
    return MakeFallbackClient(remote(), local, Policy());
  };
  return target;
}

std::unique_ptr<Target> MakeFallback() { return WithCpuBehind(MakeLoopback()); }

std::unique_ptr<Target> MakeFallbackTls() {
  return WithCpuBehind(MakeLoopbackTls());
}

// The client has worked with the server before that died.
std::unique_ptr<Target> MakeFallbackAfterKill() {
  std::unique_ptr<Target> target = MakeFallback();
  if (target == nullptr) return nullptr;
  const auto warm = target->client->Upload(Literal::Scalar(1.0f), {});
  if (!warm.ok() || !(*warm)->Fetch({}).Await().ok()) return nullptr;
  target->server->Kill();
  target->where = "cpu (fallback";
  return target;
}

// Over three servers. `eager`: whatever can be cut is.
std::unique_ptr<Target> MakeShardedOver(bool eager) {
  std::unique_ptr<Target> target = MakeLoopback();
  if (target == nullptr) return nullptr;
  std::vector<std::shared_ptr<runtime::Client>> places = {target->client};
  for (int i = 1; i < 3; ++i) {
    auto server = LoopbackServer::Start({.device = Device()});
    if (!server.ok()) return nullptr;
    places.push_back((*server)->Connect());
    target->other_servers.push_back(*std::move(server));
  }
  ShardedPolicy policy = {.probe_first = absl::InfiniteDuration()};
  if (eager) {
    policy.figures = PlaceFigures{.steps = 1, .bytes = 1, .link = 1e18, .round_trip = 0};
  }
  target->client = *MakeShardedClient(places, policy);
  target->another = [client = target->client] { return client; };
  target->uploads_at_once = false;
  target->where = "127.0.0.1";
  return target;
}

std::unique_ptr<Target> MakeSharded() { return MakeShardedOver(false); }
std::unique_ptr<Target> MakeShardedEagerly() { return MakeShardedOver(true); }

// It has worked with all three before one of them died.
std::unique_ptr<Target> MakeShardedAfterKill() {
  std::unique_ptr<Target> target = MakeShardedOver(true);
  if (target == nullptr || !target->client->capabilities().ok()) return nullptr;
  target->other_servers[0]->Kill();
  return target;
}

using SharedTargets = std::map<std::string, std::unique_ptr<Target>>;

SharedTargets& Shared() {
  static auto& targets = *new SharedTargets();
  return targets;
}

// Threads and sockets end before main does.
class EndSharedTargets : public ::testing::Environment {
 public:
  void TearDown() override { Shared().clear(); }
};

const auto* const registered =
    ::testing::AddGlobalTestEnvironment(new EndSharedTargets());

}  // namespace

int64_t Target::AwaitLiveBuffers(int64_t want) const {
  const absl::Time end = absl::Now() + absl::Seconds(20);
  while (true) {
    int64_t live = 0;
    if (server != nullptr && server->alive()) {
      live += server->device().live_buffers();
    }
    for (const auto& other : other_servers) {
      if (other->alive()) live += other->device().live_buffers();
    }
    if (local != nullptr) live += local->live_buffers();
    if (gpu != nullptr) live += gpu->live_buffers();
    if (live == want || absl::Now() > end) return live;
    absl::SleepFor(absl::Milliseconds(1));
  }
}

const std::vector<TargetRow>& AllTargets() {
  static const auto& rows = *new std::vector<TargetRow>([] {
    std::vector<TargetRow> all = {
        {"cpu", MakeCpu},
        {"loopback", MakeLoopback},
        {"loopback_tls", MakeLoopbackTls},
        {"fallback", MakeFallback},
        {"fallback_tls", MakeFallbackTls},
        {"fallback_after_kill", MakeFallbackAfterKill},
        {"sharded", MakeSharded},
        {"sharded_eagerly", MakeShardedEagerly, false},
        {"sharded_after_kill", MakeShardedAfterKill, false},
        {"emu", MakeEmu, false, false},
    };
    if (pjrt::HasPlugin()) {
      all.push_back({"plugin", MakePlugin, true, true, false, false});
    }
    if (cuda::CudaDeviceCount().ok()) {
      all.push_back({"cuda", MakeCuda, false, true});
    }
    return all;
  }());
  return rows;
}

std::vector<TargetRow> TargetsThat(bool TargetRow::*property) {
  std::vector<TargetRow> rows;
  for (const TargetRow& row : AllTargets()) {
    if (row.*property) rows.push_back(row);
  }
  return rows;
}

const Target& SharedTarget(const TargetRow& row) {
  std::unique_ptr<Target>& target = Shared()[row.name];
  if (target == nullptr) target = row.make();
  HAWSER_CHECK(target != nullptr);
  return *target;
}

std::string TargetName(const ::testing::TestParamInfo<TargetRow>& info) {
  return info.param.name;
}

}  // namespace hawser
