// Positions that are known before anything runs: checked, none negative.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEXING_POSITION_H_
#define HAWSER_CLIENT_SDK_OPS_INDEXING_POSITION_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/operand.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/tensor.h"
#include "core/base/values/literal.h"

namespace hawser::sdk {

// The integers of a number or of a tensor made of a host value. nullopt: they
// are known when they have been computed, or are no integers.
std::optional<Literal> KnownIntegers(const Operand& operand);

// Returns where a part of `length` starts on an axis of `size`. Errors:
// kInvalidArgument for a length, and without clamp a part, that is not inside.
absl::StatusOr<int64_t> StartInside(int64_t start, int64_t length, int64_t size,
                                    int axis, const Outside& outside);

// Integers as indices of `dtype`; of u64 those that s64 has, so that what is
// beyond the end stays there.
Tensor AsIndices(const OpScope& s, const Operand& x, DType dtype);

// A start as instructions take it: inside where it is known.
Tensor StartOf(const OpScope& s, const Operand& start, DType dtype,
               int64_t length, int64_t size, int axis, const Outside& outside);

// Indices of entries of axes: `indices` as a tensor, checked where they are
// known, unless gathers are to clamp them. axes: what each component of the
// last axis of indices addresses; one axis: all of `indices` address that.
Tensor IndicesOf(const OpScope& s, const Operand& indices, const Shape& x,
                 absl::Span<const int64_t> axes, const Outside& outside);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_OPS_INDEXING_POSITION_H_
