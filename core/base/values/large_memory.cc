#include "core/base/values/large_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace hawser {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
constexpr auto kAlignment = std::align_val_t(64);

size_t InPages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

char* MapLarge(size_t bytes) {
  const size_t size = InPages(bytes);
  // More than asked, to give back what is not aligned.
  void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(mapped);
  const size_t past = reinterpret_cast<uintptr_t>(begin) % kHugePage;
  const size_t front = past == 0 ? 0 : kHugePage - past;
  if (front > 0) munmap(begin, front);
  if (front < kHugePage) munmap(begin + front + size, kHugePage - front);
  // A kernel without huge pages refuses, and small ones do.
  (void)madvise(begin + front, size, MADV_HUGEPAGE);
  return begin + front;
}

void UnmapLarge(char* memory, size_t bytes) { munmap(memory, InPages(bytes)); }

char* NewMemory(size_t bytes) {
  if (bytes >= kLargeBytes) return MapLarge(bytes);
  return static_cast<char*>(::operator new(bytes, kAlignment, std::nothrow));
}

void DeleteMemory(char* memory, size_t bytes) {
  if (bytes >= kLargeBytes) return UnmapLarge(memory, bytes);
  ::operator delete(memory, kAlignment);
}

}  // namespace hawser
