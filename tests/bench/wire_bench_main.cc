// wire_bench: prints what hawser costs beyond bare gRPC. See README.md.
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "tests/bench/wire/wire_bench.h"

ABSL_FLAG(int, rounds, 15, "of everything but puts; the medians are printed");
ABSL_FLAG(int, iterations, 500, "steps per round");
ABSL_FLAG(int, put_rounds, 5, "puts");
ABSL_FLAG(int, put_mib, 256, "size of a put, at most 256");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  hawser::bench::WirePlan plan;
  plan.latency.rounds = absl::GetFlag(FLAGS_rounds);
  plan.latency.iterations = absl::GetFlag(FLAGS_iterations);
  plan.throughput.rounds = absl::GetFlag(FLAGS_put_rounds);
  plan.throughput.bytes = int64_t{absl::GetFlag(FLAGS_put_mib)} << 20;
  const auto report = hawser::bench::MeasureWire(plan);
  if (!report.ok()) {
    std::fprintf(stderr, "wire_bench: %s\n",
                 report.status().ToString().c_str());
    return 1;
  }
  std::fputs(hawser::bench::ToTable(*report).c_str(), stdout);
  return 0;
}
