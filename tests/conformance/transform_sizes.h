// What the digits of a Fourier transform count against.
#ifndef HAWSER_TESTS_CONFORMANCE_TRANSFORM_SIZES_H_
#define HAWSER_TESTS_CONFORMANCE_TRANSFORM_SIZES_H_

#include "core/base/values/literal.h"
#include "core/ir/module.h"

namespace hawser {

// For each element of the result of `fft`, the root of the sum of squares of
// what it is made of, divided as the inverse ones are; infinite where some
// order of the sums may overflow.
Literal TransformSizes(const Instruction& fft, const Literal& operand,
                       const Shape& result);

}  // namespace hawser
#endif  // HAWSER_TESTS_CONFORMANCE_TRANSFORM_SIZES_H_
