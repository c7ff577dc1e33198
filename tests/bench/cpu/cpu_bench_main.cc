// cpu_bench: the CPU engine beside floors and peers, as a table. See README.md.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/cli/command/command_line.h"
#include "core/base/status.h"
#include "tests/bench/cpu/bench.h"
#include "tests/bench/cpu/floors.h"

namespace hawser::bench {
namespace {

constexpr cli::Flag kFlags[] = {
    {"--only", "", "NAME,...", "these works"},
    {"--threads", "", "N,...", "1,2"},
    {"--rounds", "", "N", "7"},
    {"--patience", "", "S", "to measure again what others disturb; 0"},
    {"--small", "", "", "sizes that take no time"},
    {"--no_peers", "", "", "without NumPy and torch"},
};

absl::StatusOr<int> CountOf(absl::string_view flag, absl::string_view text) {
  int value = 0;
  if (!absl::SimpleAtoi(text, &value) || value < 1 || value > 999) {
    return InvalidArgument(flag, "=", text, " is no number from 1 to 999");
  }
  return value;
}

absl::Status Run(const std::vector<std::string>& words) {
  HAWSER_ASSIGN_OR_RETURN(const auto line,
                          cli::CommandLine::Parse(kFlags, words));
  if (!line.words().empty()) {
    return InvalidArgument("'", line.words()[0], "' is no flag");
  }
  CpuBenchOptions options;
  options.small = line.Has("--small");
  options.peers = !line.Has("--no_peers");
  if (line.Has("--only")) {
    options.only = absl::StrSplit(line.Get("--only"), ',');
  }
  if (line.Has("--rounds")) {
    HAWSER_ASSIGN_OR_RETURN(options.rounds,
                            CountOf("--rounds", line.Get("--rounds")));
  }
  if (line.Has("--patience")) {
    HAWSER_ASSIGN_OR_RETURN(const int seconds,
                            CountOf("--patience", line.Get("--patience")));
    options.patience = absl::Seconds(seconds);
  }
  if (line.Has("--threads")) {
    options.threads.clear();
    for (const auto text : absl::StrSplit(line.Get("--threads"), ',')) {
      HAWSER_ASSIGN_OR_RETURN(options.threads.emplace_back(),
                              CountOf("--threads", text));
    }
  }
  int failed = 0;
  std::printf("Floors by %s; %s\n\n%s", BestLoops().target,
              options.peers ? PeersHere().c_str() : "without peers",
              TableHead().c_str());
  HAWSER_RETURN_IF_ERROR(RunCpuBench(options, [&](const CpuBenchLine& found) {
    std::fputs(ToTableLine(found).c_str(), stdout);
    std::fflush(stdout);
    failed += found.status.ok() ? 0 : 1;
  }));
  return failed == 0 ? absl::OkStatus() : Internal(failed, " works failed");
}

}  // namespace
}  // namespace hawser::bench

int main(int argc, char** argv) {
  const absl::Status status = hawser::bench::Run({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "cpu_bench: %s\n", status.ToString().c_str());
  return 1;
}
