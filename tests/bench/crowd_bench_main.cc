// crowd_bench: prints what many clients of one server do to each other. See
// README.md.
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "core/base/status.h"
#include "tests/bench/crowd/crowd.h"
#include "tests/bench/crowd/neighbour.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/placement.h"
#include "tests/bench/measure/report.h"

ABSL_FLAG(int, rounds, 3, "of each; the medians are printed");
ABSL_FLAG(int, connections, 500, "at a time");
ABSL_FLAG(double, seconds, 2, "of each measurement");
ABSL_FLAG(int, matrix, 768, "rows of what the heavy session multiplies");
ABSL_FLAG(std::string, device, "cpu", "of hawserd");

namespace hawser::bench {
namespace {

absl::StatusOr<Report> MeasureAll() {
  CrowdPlan crowd;
  crowd.rounds = absl::GetFlag(FLAGS_rounds);
  crowd.connections = absl::GetFlag(FLAGS_connections);
  crowd.seconds = absl::GetFlag(FLAGS_seconds);
  NeighbourPlan neighbour;
  neighbour.rounds = crowd.rounds;
  neighbour.seconds = crowd.seconds;
  neighbour.size = absl::GetFlag(FLAGS_matrix);
  Report report;
  HAWSER_ASSIGN_OR_RETURN(
      Peers peers,
      Peers::Start(0, {"--device=" + absl::GetFlag(FLAGS_device)}));
  HAWSER_RETURN_IF_ERROR(MeasureNeighbour(peers, neighbour, "free", &report));
  HAWSER_RETURN_IF_ERROR(MeasureCrowd(peers, crowd, "free", &report));
  const std::vector<int> cores = Cores();
  if (cores.size() < 2) return report;
  // Nothing is shared then but the server's core.
  HAWSER_RETURN_IF_ERROR(peers.Place(cores.front(), cores.back()));
  HAWSER_RETURN_IF_ERROR(MeasureCrowd(peers, crowd, "two cores", &report));
  return report;
}

}  // namespace
}  // namespace hawser::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const auto report = hawser::bench::MeasureAll();
  if (!report.ok()) {
    std::fprintf(stderr, "crowd_bench: %s\n",
                 report.status().ToString().c_str());
    return 1;
  }
  std::fputs(hawser::bench::ToTable(*report).c_str(), stdout);
  return 0;
}
