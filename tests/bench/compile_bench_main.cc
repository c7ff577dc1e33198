// Planning time per instruction, from a hundred to a hundred thousand of them.
// The last column is what matters: time per instruction against that of the
// smallest graph, which stays about 1 when nothing is quadratic.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>

#include "kernels/plan/plan.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/sample_modules.h"

namespace hawser::plan {
namespace {

// Processor time of this thread alone: what others do to this machine is not
// ours.
double ThreadMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) * 1e-3;
}

// Of the fastest of a few runs.
double MicrosecondsPerInstruction(const Module& module, const Target& target) {
  double best = std::numeric_limits<double>::infinity();
  const int64_t instructions = module.num_instructions();
  const int64_t rounds = std::clamp<int64_t>(20000 / instructions, 3, 50);
  for (int64_t k = 0; k < rounds; ++k) {
    const double start = ThreadMicroseconds();
    if (!MakePlan(module, target).ok()) return -1;
    best = std::min(best, ThreadMicroseconds() - start);
  }
  return best / static_cast<double>(instructions);
}

void Measure(const char* name, const std::function<Module(int)>& make,
             const Target& target) {
  double smallest = 0;
  for (const int length : {100, 1000, 10000, 100000}) {
    const Module module = make(length);
    const double us = MicrosecondsPerInstruction(module, target);
    if (smallest == 0) smallest = us;
    std::printf("%-8s %-4s %7lld instructions  %7.3f us each  ratio %.2f\n",
                name, target.name.c_str(),
                static_cast<long long>(module.num_instructions()), us,
                us / smallest);
  }
}

}  // namespace
}  // namespace hawser::plan

int main() {
  using namespace hawser::plan;
  for (const Target& target : {GpuTarget(), CpuTarget()}) {
    Measure("chain", hawser::ChainModule, target);
    Measure("mixed", MixedGraph, target);
  }
}
