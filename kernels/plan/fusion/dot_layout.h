// LayOutProducts: chooses the order of a product's axes. A library reads either
// order, so transposes before and after products become other axes of them; an
// operand that no library reads is transposed.
#ifndef HAWSER_KERNELS_PLAN_FUSION_DOT_LAYOUT_H_
#define HAWSER_KERNELS_PLAN_FUSION_DOT_LAYOUT_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// dot_general(transpose(x), y) becomes dot_general(x, y) over other axes where
// the order of x's free axes stays and at most one axis is summed over, so that
// no sum changes its order. The transposes remain for other users.
//
// If products are a library's calls over strides (Target), also:
// transpose(dot_general(x, y)) that puts y's free axes before x's becomes
// dot_general(y, x) when nothing else reads the product; and an operand keeps
// its transpose, or gets one, where that takes less time than the calls that
// would be needed else, or where there are no such calls. A product whose
// result_dtype no library leaves becomes one of operands converted to it.
absl::StatusOr<Module> LayOutProducts(Module module, const Target& target);
// True if that may change the module.
bool MayLayOut(const Module& module, const Target& target);

bool HasProducts(const Computation& computation);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_DOT_LAYOUT_H_
