#include "tests/schedules/world.h"

#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/remote/remote_client.h"
#include "core/base/status.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/schedules/schedules.h"

namespace hawser {
namespace {

double PickChance(Random& random, std::vector<double> chances) {
  return random.Pick(chances);
}

}  // namespace

World::World(uint64_t seed, InProcessOptions options)
    : random_(seed),
      gentle_(random_.Below(5) < 3),
      server_(DrawServer(std::move(options))),
      plan_(std::make_shared<FaultPlan>(seed, DrawFaults())) {
  if (!gentle_) DrawAccidents();
}

InProcessOptions World::DrawServer(InProcessOptions options) {
  options.device.threads = static_cast<int>(random_.Between(1, 2));
  // Steps that end in Execute itself, and steps that never do.
  if (random_.OneIn(2)) options.device.inline_cost = 0;
  options.executor.workers = static_cast<int>(random_.Between(1, 3));
  options.executor.device_arrays_bytes = 0;
  return options;
}

FaultOptions World::DrawFaults() {
  FaultOptions faults;
  faults.faulty = static_cast<int>(random_.Between(2, 6));
  faults.cut_stream = PickChance(random_, {0, 0.6, 1});
  faults.first_opens = gentle_;
  faults.stream_bytes = random_.Pick(std::vector<int64_t>{500, 4000, 40000});
  faults.cut_call = PickChance(random_, {0, 0.3, 0.7});
  faults.call_bytes = random_.Pick(std::vector<int64_t>{100, 80000, 300000});
  faults.lose_answer = PickChance(random_, {0, 0.3});
  faults.refuse = PickChance(random_, {0, 0.5});
  faults.delay = PickChance(random_, {0, 0.2, 0.6});
  faults.duplicate = PickChance(random_, {0, 0.4, 1});
  faults.reorder = PickChance(random_, {0, 0.3, 0.8});
  if (!gentle_ && random_.OneIn(8)) faults.silent = 0.3;
  return faults;
}

void World::DrawAccidents() {
  for (int64_t left = random_.Between(1, 3); left > 0; --left) {
    DrawAccident(static_cast<int>(random_.Between(1, 40)));
  }
}

void World::DrawAccident(int after) {
  InProcessServer* server = &server_;
  const absl::Duration pause = absl::Milliseconds(random_.Below(60));
  switch (random_.Below(6)) {
    case 0:  // killed, another comes
      return server->AfterMessages(after, [server, pause] {
        server->Kill();
        absl::SleepFor(pause);
        server->Start();
      });
    case 1:  // stopped for good
      return server->AfterMessages(after, [server] { server->Stop(); });
    case 2:  // restarted in good order
      return server->AfterMessages(after, [server] {
        server->Stop();
        server->Start();
      });
    case 3:  // the client is away for longer than its lease
      return server->AfterMessages(after, [server, pause] {
        server->Refuse(true);
        server->CutStreams();
        absl::SleepFor(pause);
        server->Refuse(false);
        server->EndLeases();
      });
    case 4:  // cut off for a while, perhaps too long
      return server->AfterMessages(after, [server, pause] {
        server->Refuse(true);
        server->CutStreams();
        absl::SleepFor(2 * pause);
        server->Refuse(false);
      });
    default:  // cut, and only cut
      return server->AfterMessages(after, [server] { server->CutStreams(); });
  }
}

std::shared_ptr<runtime::Client> World::Connect() {
  RemoteOptions options;
  options.client_name = "schedule";
  if (plan_->options().silent > 0) {
    options.connect_timeout = absl::Milliseconds(80);
  }
  return MakeRemoteClient(server_.NewTransport(plan_), options);
}

std::shared_ptr<runtime::Client> World::ConnectWithFallback() {
  FallbackPolicy policy;
  policy.probe_first = absl::Milliseconds(2);
  policy.probe_longest = absl::Milliseconds(20);
  policy.wait_for_primary = absl::Milliseconds(200);
  return MakeFallbackClient(Connect(), cpu::MakeCpuClient({.threads = 1}),
                            policy);
}

absl::Status World::CheckNothingIsLeft() {
  server_.EndAccidents();
  InProcessServer::Remains left;
  const bool nothing = Eventually([&] {
    left = server_.remains();
    return left == InProcessServer::Remains();
  });
  if (!nothing) {
    return Internal("left: ", left.sessions, " sessions, ", left.buffers,
                    " buffers, ", left.upload_bytes, " bytes of uploads");
  }
  server_.Kill();
  if (server_.leaked() == 0) return absl::OkStatus();
  return Internal(server_.leaked(), " buffers outlived their server");
}

}  // namespace hawser
