#include "tests/conformance/target.h"

#include <map>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/fallback/fallback_client.h"

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

// Null when the server does not start, which the caller's test reports.
std::unique_ptr<Target> MakeLoopback() {
  auto target = std::make_unique<Target>();
  auto server = LoopbackServer::Start({.device = Device()});
  if (!server.ok()) return nullptr;
  target->server = *std::move(server);
  target->client = target->server->Connect();
  target->another = [at = target->server.get()] { return at->Connect(); };
  target->where = target->server->address();
  return target;
}

// No probes: a killed server does not come back here.
FallbackPolicy Policy() {
  FallbackPolicy policy;
  policy.probe_first = absl::InfiniteDuration();
  return policy;
}

std::unique_ptr<Target> MakeFallback() {
  std::unique_ptr<Target> target = MakeLoopback();
  if (target == nullptr) return nullptr;
  target->local = cpu::MakeCpuClient(Device());
  target->client = MakeFallbackClient(target->client, target->local, Policy());
  target->another = [remote = target->another, local = target->local] {
    return MakeFallbackClient(remote(), local, Policy());
  };
  return target;
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
    if (local != nullptr) live += local->live_buffers();
    if (live == want || absl::Now() > end) return live;
    absl::SleepFor(absl::Milliseconds(1));
  }
}

const std::vector<TargetRow>& AllTargets() {
  static const auto& rows = *new std::vector<TargetRow>{
      {"cpu", MakeCpu},
      {"loopback", MakeLoopback},
      {"fallback", MakeFallback},
      {"fallback_after_kill", MakeFallbackAfterKill},
  };
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
