#include "tests/testing/allocation_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace hawser {
namespace {

std::atomic<int64_t> live{0};
std::atomic<int64_t> highest{0};

[[maybe_unused]] void* Count(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  const int64_t now = live += malloc_usable_size(p);
  int64_t seen = highest.load(std::memory_order_relaxed);
  while (now > seen && !highest.compare_exchange_weak(seen, now)) {
  }
  return p;
}

[[maybe_unused]] void Release(void* p) {
  if (p != nullptr) live -= malloc_usable_size(p);
  std::free(p);
}

}  // namespace

AllocationMeter::AllocationMeter() : start_(live) { highest = start_; }

int64_t AllocationMeter::peak() const { return highest - start_; }

}  // namespace hawser

// The array and nothrow forms of libstdc++ end up in these.
#ifndef HAWSER_SANITIZED
void* operator new(std::size_t size) {
  return hawser::Count(std::malloc(size));
}
void* operator new(std::size_t size, std::align_val_t align) {
  const std::size_t a = static_cast<std::size_t>(align);
  return hawser::Count(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept { hawser::Release(p); }
void operator delete(void* p, std::size_t) noexcept { hawser::Release(p); }
void operator delete(void* p, std::align_val_t) noexcept { hawser::Release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  hawser::Release(p);
}
#endif
