// CheckSquare: what takes square matrices refuses others by this.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_SQUARE_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_SQUARE_H_

#include "absl/status/status.h"
#include "client/sdk/tensor.h"
#include "core/base/status.h"

namespace hawser {

// kInvalidArgument where the last two axes of `a` differ or are not there.
inline absl::Status CheckSquare(const Tensor& a) {
  if (a.rank() >= 2 && a.dim(-1) == a.dim(-2)) return absl::OkStatus();
  return InvalidArgument("takes square matrices, not ", a.shape().ToString());
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_SQUARE_H_
