// Runs: short pieces of rows moved side by side, at about the speed of memory.
#ifndef HAWSER_KERNELS_CPU_JOINING_RUNS_H_
#define HAWSER_KERNELS_CPU_JOINING_RUNS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace hawser::cpu {

// Bytes of a piece of work whose data stay in the nearest cache.
inline constexpr int64_t kRunsBlock = int64_t{1} << 13;
// Results of more bytes are written past the caches, as what is read of them
// next would not be in these (measured: 16 MiB take two thirds of the time).
inline constexpr int64_t kPastCaches = int64_t{4} << 20;

// Copies `n` runs of `bytes`, of which each begins a pitch after the one
// before. The two places do not overlap.
void CopyRuns(const char* from, int64_t from_pitch, int64_t bytes, int64_t n,
              char* to, int64_t to_pitch);

// Copies a block that is in the nearest cache, maybe past the caches: other
// threads see it as they see any store once EndPastCaches was called.
void CopyOut(const char* from, int64_t bytes, bool past_caches, char* to);
void EndPastCaches();

// Rows without gaps.
struct RunSource {
  const char* data;
  int64_t bytes;  // of a row
};

// Row r of the result is row r of each source, one after the other, without
// gaps. A row has kRunsBlock bytes at most.
void JoinRows(absl::Span<const RunSource> sources, int64_t rows,
              bool past_caches, char* to);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_JOINING_RUNS_H_
