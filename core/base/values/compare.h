// Compares two literals by the rule of proto/case.proto, for tests and `hawser
// check`.
#ifndef HAWSER_CORE_BASE_VALUES_COMPARE_H_
#define HAWSER_CORE_BASE_VALUES_COMPARE_H_

#include "absl/status/status.h"
#include "core/base/values/literal.h"

namespace hawser {

// All zero: elements must be equal, where NaN equals NaN and -0 equals 0.
struct Tolerance {
  double atol = 0;  // |got - want| <= atol + rtol * |want|, or
  double rtol = 0;
  double ulp = 0;     // within so many units in the last place of want
  bool bits = false;  // nothing but the same bits will do
};

// Infinities and NaN equal only themselves, whatever the tolerance. Integers
// and bool know no ulp. A complex element is near when its modulus rule or the
// ulp rule on both of its parts holds. Errors: kInvalidArgument naming both
// shapes, or the number of elements that differ and the first one's index and
// two values.
absl::Status CompareLiterals(const Literal& got, const Literal& want,
                             const Tolerance& tolerance = {});

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_COMPARE_H_
