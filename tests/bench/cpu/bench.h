// RunCpuBench: every work at one size, on so many threads, beside its floor and
// its peers.
#ifndef HAWSER_TESTS_BENCH_CPU_BENCH_H_
#define HAWSER_TESTS_BENCH_CPU_BENCH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hawser::bench {

// In the order of the table. JAX is none of Debian's packages: jax.sh installs
// it.
inline constexpr const char* kPeers[] = {"numpy", "torch", "jax"};
inline constexpr size_t kNumPeers = 3;

struct CpuBenchOptions {
  std::vector<std::string> only;  // names of works; none: all
  std::vector<int> threads = {1, 2};
  int rounds = 7;
  bool small = false;
  bool peers = true;
  // How long to wait, at each line, for samples that no other process disturbs.
  absl::Duration patience = absl::ZeroDuration();
};

// Ours / theirs: the median over the rounds, and the least and the most.
struct Ratio {
  double median = 0, least = 0, most = 0;
  double target = 0;    // at most; 0: none
  std::string skipped;  // why there is none
};

struct CpuBenchLine {
  std::string work;
  int threads = 1;
  std::string unit;
  double ours = 0, floor = 0;  // medians, in that unit
  double ours_target = 0;      // at most; 0: none
  Ratio of_floor;
  std::vector<Ratio> of_peers;  // in the order of kPeers
  double thought = 0;  // what the engine thought it takes / what it took
  double others = 0;    // cores that others kept busy, beside the worst sample
  absl::Status status;  // of making it, checking it, or running it
};

// Lines of a table in Markdown. A target that is missed has a "!".
std::string TableHead();
std::string ToTableLine(const CpuBenchLine& line);

// "numpy 1.24.2; torch is not here: No module named 'torch'"
std::string PeersHere();

// Gives each line to `print` as soon as it is there. Errors: kInvalidArgument
// for a name that no work has.
absl::Status RunCpuBench(const CpuBenchOptions& options,
                         const std::function<void(const CpuBenchLine&)>& print);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_CPU_BENCH_H_
