#include "server/datasets/chunk_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
constexpr auto kAlignment = std::align_val_t(64);

// Pages aligned to a huge page: maps more than asked and gives back the rest.
char* MapPages(size_t size) {
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

}  // namespace

absl::StatusOr<std::shared_ptr<char>> ChunkMemory::Allocate(int64_t bytes) {
  const bool pages = static_cast<size_t>(bytes) >= kHugePage;
  const size_t size =
      pages ? (bytes + kPage - 1) / kPage * kPage : std::max<int64_t>(bytes, 1);
  char* p =
      pages
          ? MapPages(size)
          : static_cast<char*>(::operator new(size, kAlignment, std::nothrow));
  if (p == nullptr) {
    return ResourceExhausted("no memory for ", bytes, " bytes of a dataset");
  }
  *resident_ += bytes;
  return std::shared_ptr<char>(
      p, [pages, size, bytes, resident = resident_](char* gone) {
        if (pages) {
          munmap(gone, size);
        } else {
          ::operator delete(gone, kAlignment);
        }
        *resident -= bytes;
      });
}

}  // namespace hawser::server
