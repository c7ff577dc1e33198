// The size of an axis that is not there: a number that every rule of shapes
// refuses, and from which the reason is found again.
#ifndef HAWSER_CORE_BASE_VALUES_ABSENT_SIZE_H_
#define HAWSER_CORE_BASE_VALUES_ABSENT_SIZE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace hawser {

// The reason why there is no size.
struct Absence {
  absl::Status why;
  bool earlier = false;  // `why` is an error that was complete before
};

// A size is seen through sums with numbers up to this.
inline constexpr int64_t kAbsentSlack = int64_t{1} << 20;

// A number for a size there is not. It lies between -2^31 and -2^30.5, so that
// as a size it is negative, also after small sums and as an int; two of them
// multiplied do not overflow, and are 2^62 bytes at least, which no shape has,
// of any dtype of two bytes or more.
int64_t AbsentSize(Absence absence);

// The reason of a number that AbsentSize gave, `slack` up or down. The last 128
// are kept. For any other number: none.
std::optional<Absence> FindAbsence(int64_t size, int64_t slack = kAbsentSlack);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_ABSENT_SIZE_H_
