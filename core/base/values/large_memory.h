// Memory for values, large ones in huge pages where the kernel has them: first
// touch in pages of 4 KiB costs more than receiving the bytes (measured: 2
// against 8 GB/s).
#ifndef HAWSER_CORE_BASE_VALUES_LARGE_MEMORY_H_
#define HAWSER_CORE_BASE_VALUES_LARGE_MEMORY_H_

#include <cstddef>

namespace hawser {

// From this size on it pays.
inline constexpr size_t kLargeBytes = size_t{4} << 20;

// Contents undefined, aligned to a huge page of 2 MiB. Null: there is none.
char* MapLarge(size_t bytes);
// Unmaps what MapLarge returned for the same size.
void UnmapLarge(char* memory, size_t bytes);

// Contents undefined, aligned to 64 bytes, a cache line and AVX-512's vector;
// from kLargeBytes on as MapLarge has it. Null: there is none.
char* NewMemory(size_t bytes);
// Deletes what NewMemory returned for the same size.
void DeleteMemory(char* memory, size_t bytes);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_LARGE_MEMORY_H_
