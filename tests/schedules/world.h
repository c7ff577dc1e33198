// World: a server, its link and its accidents, drawn from a seed.
#ifndef HAWSER_TESTS_SCHEDULES_WORLD_H_
#define HAWSER_TESTS_SCHEDULES_WORLD_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "client/fallback/fallback_client.h"
#include "client/remote/link/options.h"
#include "core/runtime/client.h"
#include "tests/testing/in_process/faults.h"
#include "tests/testing/in_process/server.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {

class World {
 public:
  // `options.executor` and the faults are drawn; three in five worlds are
  // gentle: a client that reattaches and repeats loses nothing.
  explicit World(uint64_t seed, InProcessOptions options = {});

  bool gentle() const { return gentle_; }
  InProcessServer& server() { return server_; }
  FaultPlan& plan() const { return *plan_; }
  std::shared_ptr<runtime::Client> Connect();
  // With this machine's CPU behind it.
  std::shared_ptr<runtime::Client> ConnectWithFallback();

  // After the last client has gone: nothing is left of its sessions once the
  // leases are over, and nothing at all once the server has ended.
  absl::Status CheckNothingIsLeft();

 private:
  InProcessOptions DrawServer(InProcessOptions options);
  FaultOptions DrawFaults();
  void DrawAccidents();
  void DrawAccident(int after);

  Random random_;
  const bool gentle_;
  InProcessServer server_;
  const std::shared_ptr<FaultPlan> plan_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_SCHEDULES_WORLD_H_
