// Moves: modules that cut a box out of a tensor, or join boxes to one.
#ifndef HAWSER_CORE_SHARDING_MOVES_H_
#define HAWSER_CORE_SHARDING_MOVES_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/module.h"
#include "core/ops/part/box.h"

namespace hawser {

// Takes boxes of a tensor of `dtype` that cover `wanted`, in this order, gives
// the box of `wanted`: a slice of the one that holds it, else parts of all, put
// together. If two overlap, they hold the same there.
absl::StatusOr<Module> JoinModule(DType dtype, absl::Span<const Box> pieces,
                                  const Box& wanted);

// The part of `value`, which is the box `of` of a tensor, that lies in `into`,
// which is the box `box` of it: copied there.
void CopyBox(const Literal& value, const Box& of, const Box& box,
             Literal* into);
// Returns box `wanted` of a tensor whose box `of` is `value`. Shares the bytes
// where rows alone are left out. Errors: kResourceExhausted.
absl::StatusOr<Literal> SliceBox(const Literal& value, const Box& of,
                                 const Box& wanted);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_MOVES_H_
