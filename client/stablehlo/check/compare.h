// Compares two values by the rule of a check.
#ifndef HAWSER_CLIENT_STABLEHLO_CHECK_COMPARE_H_
#define HAWSER_CLIENT_STABLEHLO_CHECK_COMPARE_H_

#include <string>

#include "client/stablehlo/body/program.h"
#include "core/base/values/literal.h"

namespace hawser::stablehlo {

// "" where they are; else the worst element, and how many are beyond. Both have
// one shape (checked). A NaN is as good as any other, and -0 equals 0. kClose
// counts units in the last place, of each component of a complex number;
// kAlmostEqual takes |a - b| <= tolerance * max(1, min(|a|, |b|)). Integers and
// bools are equal or not, by any check.
std::string Difference(const Check& check, const Literal& actual,
                       const Literal& expected);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_CHECK_COMPARE_H_
