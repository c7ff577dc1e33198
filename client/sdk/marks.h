// Marks: what a caller says of an argument besides its value.
#ifndef HAWSER_CLIENT_SDK_MARKS_H_
#define HAWSER_CLIENT_SDK_MARKS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/base/values/shape.h"
#include "core/ir/source_location.h"
#include "core/sharding/shard_spec.h"

namespace hawser {

// Gives an argument away: the engine may reuse its memory for a result. The
// tensor (and every copy of the handle) may not be used afterwards.
template <typename T>
struct Donated {
  T value;
};
template <typename T>
Donated<T> Donate(T value) {
  return {std::move(value)};
}

// Marks an argument whose leading axis is the batch, for a function made with
// batch_buckets (see JitOptions); elsewhere it is the argument itself. Every
// tensor in it is marked. May hold a Donated or be held by one.
template <typename T>
struct WithBatch {
  T value;
};
template <typename T>
WithBatch<T> Batched(T value) {
  return {std::move(value)};
}

// The parts that an axis is cut into: a number of them, as equal as they can
// be, or their sizes in order. 0 parts: as many as the client has places.
class CutParts {
 public:
  CutParts(int64_t parts)  // NOLINT: Cut(x, 0, 4)
      : cut_{.kind = AxisCut::Kind::kParts, .parts = parts, .sizes = {}} {}
  CutParts(std::initializer_list<int64_t> sizes)  // Cut(x, 0, {1, 3})
      : cut_{.kind = AxisCut::Kind::kSizes, .sizes = sizes} {}
  CutParts(const Dims& sizes)  // NOLINT: the same, counted by the program
      : cut_{.kind = AxisCut::Kind::kSizes,
             .sizes = {sizes.begin(), sizes.end()}} {}

  // Returns the cut for an argument that is not known yet.
  AxisCut Of(int axis) const {
    AxisCut cut = cut_;
    cut.axis = axis;
    return cut;
  }

 private:
  AxisCut cut_;
};

template <typename T>
struct WithCut {
  T value;
  std::optional<AxisCut> cut;  // none: every axis is whole
  SourceLocation where;
};

// Marks an argument that a client of several places is to cut along an axis,
// so that each computes on a part of it. Clients of one place ignore marks, and
// so does a call inside another trace: what comes out does not depend on them,
// but for the order in which floats are summed.
//   f(Cut(x, 0), Cut(y, 0), Whole(w));
//   f(Cut(Cut(x, 0, 4), -1, {1, 3}));
// value: a tensor or a structure, of which every tensor is marked; it may hold
// marks and be held by them, of each axis one. axis: negative from the back.
// parts: their number or sizes; of a Batched argument, sizes of its bucket.
// When a function has marks, other axes of its arguments are whole, and sums
// over an axis that is cut are made in parts, which are added up. Result: the
// marked argument. Errors: kInvalidArgument, naming argument, axis and line, of
// the call that is given it: no such axis, one that is marked twice, sizes that
// do not add up, fewer than no parts; with strict_cuts, see JitOptions. Grad:
// that of the argument. Source: elixir-nx/nx PR 1544; JAX PartitionSpec.
template <typename T>
WithCut<T> Cut(T value, int axis, CutParts parts = 0,
               SourceLocation where = SourceLocation::Current()) {
  return {std::move(value), parts.Of(axis), where};
}

// Marks an argument that every place is to have all of, as Cut marks one to be
// cut. value: as there. Result: the marked argument. Errors: as there, an axis
// that is also cut. Grad: that of the argument. Source: as there.
template <typename T>
WithCut<T> Whole(T value, SourceLocation where = SourceLocation::Current()) {
  return {std::move(value), std::nullopt, where};
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_MARKS_H_
