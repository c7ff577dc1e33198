// bulk_bench: prints how fast large values move. See README.md.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/numbers.h"
#include "tests/bench/wire/bulk.h"

ABSL_FLAG(int, rounds, 5, "of each; the medians are printed");
ABSL_FLAG(std::vector<std::string>, sizes_mib,
          std::vector<std::string>({"64", "512"}), "to memory; empty: none");
ABSL_FLAG(int, durable_mib, 512, "upload to the disk; 0: none");
ABSL_FLAG(std::string, folder, "/tmp", "where durable uploads go");
ABSL_FLAG(int, watched_mib, 4096, "upload whose memory is watched; 0: none");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  hawser::bench::BulkPlan plan;
  plan.rounds = absl::GetFlag(FLAGS_rounds);
  plan.bytes.clear();
  for (const std::string& size : absl::GetFlag(FLAGS_sizes_mib)) {
    int64_t mebibytes = 0;
    if (!absl::SimpleAtoi(size, &mebibytes) || mebibytes < 1) {
      std::fprintf(stderr, "bulk_bench: --sizes_mib has \"%s\"\n",
                   size.c_str());
      return 2;
    }
    plan.bytes.push_back(mebibytes << 20);
  }
  plan.durable_bytes = int64_t{absl::GetFlag(FLAGS_durable_mib)} << 20;
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
