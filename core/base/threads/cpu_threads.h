// CpuThreads: how many threads this process may keep busy. ThreadPlace: on which
// core one of them wakes.
#ifndef HAWSER_CORE_BASE_THREADS_CPU_THREADS_H_
#define HAWSER_CORE_BASE_THREADS_CPU_THREADS_H_

#include <sched.h>
#include <sys/types.h>

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

// The core on which a thread sleeps. A thread that wakes it to work beside it
// keeps it off its own core: if few cores share a cache and are half busy,
// Linux lets both take turns on one of them, for milliseconds (seen on two
// cores, 6.18). One thread at a time.
class ThreadPlace {
 public:
  // Notes the core of the calling thread, which is about to sleep.
  void Leave();
  // True if that was on the calling thread's core.
  bool IsHere() const;
  // Called by a thread that wakes it next: until it calls Return it runs on
  // another core, if it may.
  void Avoid();
  // Called by the thread itself, awake: it may run where it might before.
  void Return();

 private:
  pid_t thread_ = 0;
  int core_ = -1;
  bool avoids_ = false;
  cpu_set_t allowed_ = {};  // avoids_: before
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_CPU_THREADS_H_
