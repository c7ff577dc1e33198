#include "client/sdk/ops/elementwise/interpolation.h"

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"

namespace hawser::sdk {

Tensor Between(const Tensor& a, const Tensor& b, const Tensor& difference,
               const Tensor& near, const Tensor& share) {
  const OpScope::Formula numbers;
  const Tensor far = a * (1 - share) + b * share;
  const Tensor ends = Select(Eq(share, 1), b, far);
  const Tensor wide = Select(Eq(a, b) || Eq(share, 0), a, ends);
  return Select(IsFinite(difference), near, wide);
}

}  // namespace hawser::sdk
