// Transposes in front of products, folded into the products' axes: a library
// reads either order of axes, so the copy need not exist.
#ifndef HAWSER_KERNELS_PLAN_DOT_LAYOUT_H_
#define HAWSER_KERNELS_PLAN_DOT_LAYOUT_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser::plan {

// dot_general(transpose(x), y) becomes dot_general(x, y) over other axes where
// the order of x's free axes stays and at most one axis is summed over, so that
// no sum changes its order. The transposes remain for other users.
absl::StatusOr<Module> FoldTransposesIntoDots(Module module);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_DOT_LAYOUT_H_
