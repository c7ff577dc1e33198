// Ops that work on the bits of integers and floats.
#ifndef HAWSER_CLIENT_STABLEHLO_COMPOSITIONS_BITS_H_
#define HAWSER_CLIENT_STABLEHLO_COMPOSITIONS_BITS_H_

#include "core/ops/expression.h"

namespace hawser::stablehlo {

// The unsigned or signed integer of a float's width.
DType UnsignedOf(DType dtype);
DType SignedOf(DType dtype);

// How many bits of an integer are set, in its dtype.
Expression PopulationCount(const Expression& x);
// To the nearest whole number; ties go away from 0.
Expression RoundAwayFromZero(const Expression& x);
// The float beside `from` on the way to `to`.
Expression NextAfter(const Expression& from, const Expression& to);
// A float as one of fewer bits would hold it, back in its dtype: rounded to
// nearest even, infinite beyond the largest, 0 below the smallest normal one.
// 1 <= exponent_bits, 0 <= mantissa_bits.
Expression ReducePrecision(const Expression& x, int exponent_bits,
                           int mantissa_bits);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_COMPOSITIONS_BITS_H_
