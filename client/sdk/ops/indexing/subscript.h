// x[i]: parts of a tensor, by one index for each axis.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEXING_SUBSCRIPT_H_
#define HAWSER_CLIENT_SDK_OPS_INDEXING_SUBSCRIPT_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "absl/types/span.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {

// An index is what stands in the brackets for one axis. Axes after the last
// index are kept whole; x[{}] is x.
//
//   x[0]  x[-1]             one entry, also from the back; the axis goes
//   x[Range(1, 5)]          entries 1 to 4; the axis stays
//   x[Range(0, -1)]         all but the last
//   x[Range(-3)]            the last three
//   x[Range(0, {}, 2)]      every second one
//   x[{Range(), 0}]         all of axis 0, entry 0 of axis 1: a column
//   x[{Rest(), -1}]         the last entry of the last axis
//   x[{NewAxis(), 2}]       entry 2, under a new axis of size 1
//   x[i]                    i an integer scalar: an entry known when it runs
//   x[indices]              integers of any shape, which replaces the axis
//
// Result: x's dtype. Numbers that are outside of an axis are an error, also
// those of a Range, and so are Constant and other host values; indices that are
// known only when it runs are clamped to the first or last entry (see index.h).
// Outside Jit numbers are parameters: other ones reuse the executable.
// Errors: sticky kInvalidArgument for more indices than axes, an index or range
// outside, a stride below 1, floats, a bool mask (what it selects has a size
// that depends on values: see Select), two tensors that are no scalars, two
// Rest. Grad: put back, zero elsewhere; of entries taken twice added. Source:
// NumPy basic indexing, and take along one axis; Nx access.
class Index {
 public:
  template <typename T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Index(T entry,  // NOLINT: x[0]
        SourceLocation where = SourceLocation::Current())
      : Index(Kind::kEntry, where) {
    begin_ = static_cast<int64_t>(entry);
  }
  Index(const Tensor& entries,  // NOLINT: x[i]
        SourceLocation where = SourceLocation::Current())
      : Index(Kind::kEntries, where) {
    entries_ = entries;
  }

 private:
  enum class Kind : uint8_t { kEntry, kEntries, kRange, kNewAxis, kRest };
  Index(Kind kind, SourceLocation where) : kind_(kind), where_(where) {}

  friend class Subscript;
  friend Index Range(int64_t begin, std::optional<int64_t> end, int64_t stride,
                     SourceLocation where);
  friend Index NewAxis(SourceLocation where);
  friend Index Rest(SourceLocation where);

  Kind kind_;
  int64_t begin_ = 0;
  std::optional<int64_t> end_;
  int64_t stride_ = 1;
  Tensor entries_;
  SourceLocation where_;
};

// Entries begin, begin + stride, ... before end, all of them without arguments.
// begin, end: negative ones count from the back; no end: to the end of the
// axis. stride: 1 or more.
inline Index Range(int64_t begin = 0, std::optional<int64_t> end = std::nullopt,
                   int64_t stride = 1,
                   SourceLocation where = SourceLocation::Current()) {
  Index index(Index::Kind::kRange, where);
  index.begin_ = begin;
  index.end_ = end;
  index.stride_ = stride;
  return index;
}

// A new axis of size 1 in this place; no axis of x is used.
inline Index NewAxis(SourceLocation where = SourceLocation::Current()) {
  return Index(Index::Kind::kNewAxis, where);
}

// Keeps as many whole axes as no other index is for. It may be used once.
inline Index Rest(SourceLocation where = SourceLocation::Current()) {
  return Index(Index::Kind::kRest, where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_INDEXING_SUBSCRIPT_H_
