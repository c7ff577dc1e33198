// CpuThreads: how many threads this process may keep busy.
#ifndef HAWSER_CORE_BASE_THREADS_CPU_THREADS_H_
#define HAWSER_CORE_BASE_THREADS_CPU_THREADS_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace hawser {

// At least 1: HAWSER_CPU_THREADS where that is a whole number from 1 to 1024
// (else a warning, once), or the processors that the process may run on, or
// fewer where its control group (version 2 or 1) has a quota of less time.
int CpuThreads();

// The same of these; null or empty: not there. `cpu_max`: version 2's
// "QUOTA PERIOD" or "max PERIOD"; `quota` and `period`: version 1's.
struct CpuLimits {
  const char* wish = nullptr;  // HAWSER_CPU_THREADS
  int processors = 1;
  absl::string_view cpu_max, quota, period;
};
// `wish` that is no such number is left out. Parts of a processor count whole.
int CpuThreads(const CpuLimits& limits);
// Null: `wish` is no number of threads.
std::optional<int> ParseCpuThreads(absl::string_view wish);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_CPU_THREADS_H_
