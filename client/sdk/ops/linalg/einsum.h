// Einstein's notation for sums of products.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_EINSUM_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_EINSUM_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Einsum("bij,bjk->bik", {x, y}): products of elements, one of each tensor,
// summed over every letter that the result lacks. spec: a letter for each axis
// of each tensor, then those of the result; without "->" these are the letters
// that stand once, in alphabetical order, behind the axes of "...", which
// stands for any number of axes that broadcast. A letter twice in one tensor is
// its diagonal. tensors: of numbers or bool, whose dtypes promote; they are
// multiplied two at a time, in the order that takes the fewest products of
// elements (of up to eight tensors; beyond, the next two are those that take
// fewest), each rounded as Dot's. options: as of Dot, of each product. Result:
// sizes by the letters. Errors: a spec that does not fit; sizes that differ,
// naming the letter. Grad: such sums. Source: NumPy einsum.
Tensor Einsum(absl::string_view spec, const std::vector<Tensor>& tensors,
              const DotOptions& options = {},
              SourceLocation where = SourceLocation::Current());

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_EINSUM_H_
