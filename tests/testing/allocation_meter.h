// How much memory a piece of code takes at its peak. Linking this library
// replaces operator new and delete of the whole test binary.
#ifndef HAWSER_TESTS_TESTING_ALLOCATION_METER_H_
#define HAWSER_TESTS_TESTING_ALLOCATION_METER_H_

#include <cstdint>

namespace hawser {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAWSER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAWSER_SANITIZED 1
#endif
#endif

// Sanitizers own the allocator and slow everything down: bounds on time and
// memory hold in other builds only.
#ifdef HAWSER_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// One at a time. Counts every thread's operator new, in bytes as malloc
// rounds them.
class AllocationMeter {
 public:
  AllocationMeter();
  // The most that was live since construction, above what was live then; 0
  // under a sanitizer.
  int64_t peak() const;

 private:
  int64_t start_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_ALLOCATION_METER_H_
