// How much memory a piece of code takes at its peak. Linking this library
// replaces operator new and delete of the whole test binary.
#ifndef HAWSER_TESTS_TESTING_ALLOCATION_METER_H_
#define HAWSER_TESTS_TESTING_ALLOCATION_METER_H_

#include <cstdint>

#include "tests/testing/sanitized.h"

namespace hawser {

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
