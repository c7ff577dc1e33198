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

// Returns a module that takes `pieces`, boxes of a tensor of `dtype` that cover
// `wanted`, in this order, and gives the box `wanted`: a slice of the piece
// that holds it, else parts of all pieces, put together. If two overlap, they
// hold the same there.
absl::StatusOr<Module> JoinModule(DType dtype, absl::Span<const Box> pieces,
                                  const Box& wanted);

// `value` is the box `of` of a tensor, `into` its box `box`. Copies the
// elements that are in both.
void CopyBox(const Literal& value, const Box& of, const Box& box,
             Literal* into);
// Returns box `wanted` of a tensor whose box `of` is `value`. Shares the bytes
// where rows alone are left out. Errors: kResourceExhausted.
absl::StatusOr<Literal> SliceBox(const Literal& value, const Box& of,
                                 const Box& wanted);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_MOVES_H_
