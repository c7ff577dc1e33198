// Reverse mode: a computation becomes one that also gives derivatives, made of
// ordinary instructions. The rule of each op is in its row.
#ifndef HAWSER_CORE_AUTODIFF_GRADIENT_TRANSFORM_H_
#define HAWSER_CORE_AUTODIFF_GRADIENT_TRANSFORM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser {

struct GradientOptions {
  // The derivative is of the sum of the elements of this result, or of their
  // real parts if it is complex.
  int result = 0;
  // The parameters that the derivative is by.
  std::vector<int> parameters = {0};
  // The places where the user made each instruction of the entry; may be left
  // out.
  absl::Span<const SourceLocation> where = {};
  // Null, or what is told which instruction of the entry each of the new one
  // was, as far as they are copies: -1 for those that a loop brought along.
  std::vector<int>* origins = nullptr;
};

// `module` with another entry: the same parameters; the results there were,
// then for each of `parameters` the derivative, of its shape and dtype. For a
// complex x + iy the derivative is d/dx - i d/dy. A parameter the result does
// not depend on has zeros. The number of instructions grows by a factor that
// depends on the ops alone; what is not needed is left to the passes. The
// result may be transformed again.
//
// Errors: kInvalidArgument for a result or parameter there is not, or of bool
// or integer dtype, and for an op that has no gradient; kUnimplemented naming
// the op whose gradient is not written, and where the user made it.
absl::StatusOr<Module> ValueAndGradient(Module module,
                                        const GradientOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_CORE_AUTODIFF_GRADIENT_TRANSFORM_H_
