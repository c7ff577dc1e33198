// Between: what lies between two numbers, in proportion.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_INTERPOLATION_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_INTERPOLATION_H_

#include "client/sdk/tensor.h"

namespace hawser::sdk {

// `near`, which is a function's own formula for a + (b - a) share, where the
// `difference` b - a is a number. Elsewhere a where both are equal or share is
// 0, b where it is 1, and what lies between them by a (1 - share) + b share.
// All are floats that broadcast; shares are from 0 to 1. Within a Formula.
Tensor Between(const Tensor& a, const Tensor& b, const Tensor& difference,
               const Tensor& near, const Tensor& share);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_INTERPOLATION_H_
