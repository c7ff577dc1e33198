#include "tests/bench/wire/wire_bench.h"

#include <vector>

#include "core/base/status.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/placement.h"

namespace hawser::bench {

absl::StatusOr<Report> MeasureWire(const WirePlan& plan) {
  const std::vector<int> cores = Cores();
  if (cores.empty()) return Internal("there is no core to run on");
  const int client = cores.front(), server = cores.back();
  const bool two = client != server;
  Report report;
  HAWSER_ASSIGN_OR_RETURN(
      Peers peers,
      Peers::StartOn(server, plan.throughput.rounds * plan.throughput.bytes));
  HAWSER_RETURN_IF_ERROR(peers.Place(client, server));
  HAWSER_RETURN_IF_ERROR(MeasureThroughput(
      peers, plan.throughput, two ? "two cores" : "one core", &report));
  if (two) {
    HAWSER_RETURN_IF_ERROR(
        MeasureLatency(peers, plan.latency, "two cores", &report));
    HAWSER_RETURN_IF_ERROR(peers.Place(client, client));
  }
  HAWSER_RETURN_IF_ERROR(
      MeasureLatency(peers, plan.latency, "one core", &report));
  return report;
}

}  // namespace hawser::bench
