// bulk_bench: prints how fast large values move. See README.md.
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "tests/bench/bulk.h"

ABSL_FLAG(int, rounds, 5, "of each; the medians are printed");
ABSL_FLAG(std::string, folder, "/tmp", "where durable uploads go");
ABSL_FLAG(int, watched_mib, 4096, "upload whose memory is watched; 0: none");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  hawser::bench::BulkPlan plan;
  plan.rounds = absl::GetFlag(FLAGS_rounds);
  plan.folder = absl::GetFlag(FLAGS_folder);
  plan.watched_bytes = int64_t{absl::GetFlag(FLAGS_watched_mib)} << 20;
  const auto report = hawser::bench::MeasureBulk(plan);
  if (!report.ok()) {
    std::fprintf(stderr, "bulk_bench: %s\n",
                 report.status().ToString().c_str());
    return 1;
  }
  std::fputs(hawser::bench::ToTable(*report).c_str(), stdout);
  return 0;
}
