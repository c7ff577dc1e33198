// Formulas over the bits of floats.
#ifndef HAWSER_CORE_OPS_FORMULAS_BITS_H_
#define HAWSER_CORE_OPS_FORMULAS_BITS_H_

#include "core/ops/expression.h"

namespace hawser::formulas {

// The signed integer of a float's width.
DType SignedOf(DType dtype);

// The float next to `from` on the way to `to`; no gradient passes. Both of one
// dtype and the same sizes.
Expression NextAfter(const Expression& from, const Expression& to);

}  // namespace hawser::formulas
#endif  // HAWSER_CORE_OPS_FORMULAS_BITS_H_
