// Ops that make, repeat or rearrange elements by position alone.
#include "core/ops/movement/shape.h"

#include <utility>

#include "core/base/status.h"
#include "core/ops/rules.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

// The element of operand 0 at from(index), for each index of the result.
absl::StatusOr<Values> Moved(const Context& c,
                             absl::FunctionRef<Dims(Index)> from) {
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByIndex(c, c.result_shape(), [&](Index index) {
                            return At(c.operands[0], from(index));
                          }));
  return Values{std::move(out)};
}

absl::StatusOr<Values> Iota(const Context& c) {
  const int64_t axis = c.attributes().GetInt("iota_dimension");
  const DType dtype = c.result_shape().dtype();
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByIndex(c, c.result_shape(), [&](Index index) {
        if (IsInteger(dtype)) {
          return Number::Of(static_cast<uint64_t>(index[axis]));
        }
        return InDType(WideComplex(static_cast<Wide>(index[axis])), dtype);
      }));
  return Values{std::move(out)};
}

absl::StatusOr<Values> BroadcastInDim(const Context& c) {
  const auto axes = c.attributes().GetInts("broadcast_dimensions");
  return Moved(c, [&](Index index) {
    Dims from;
    for (int d = 0; d < c.shape(0).rank(); ++d) {
      from.push_back(c.shape(0).dim(d) == 1 ? 0 : index[axes[d]]);
    }
    return from;
  });
}

absl::StatusOr<Values> Reshape(const Context& c) {
  return Values{c.operands[0].Reinterpret(c.result_shape())};
}

absl::StatusOr<Values> Transpose(const Context& c) {
  const auto permutation = c.attributes().GetInts("permutation");
  return Moved(c, [&](Index index) {
    Dims from(index.size());
    for (size_t d = 0; d < index.size(); ++d) from[permutation[d]] = index[d];
    return from;
  });
}

absl::StatusOr<Values> Reverse(const Context& c) {
  const auto dimensions = c.attributes().GetInts("dimensions");
  return Moved(c, [&](Index index) {
    Dims from(index.begin(), index.end());
    for (const int64_t d : dimensions)
      from[d] = c.shape(0).dim(d) - 1 - from[d];
    return from;
  });
}

absl::StatusOr<Values> Concatenate(const Context& c) {
  const int64_t axis = c.attributes().GetInt("dimension");
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByIndex(c, c.result_shape(), [&](Index index) {
                            Dims from(index.begin(), index.end());
                            size_t operand = 0;
                            while (from[axis] >= c.shape(operand).dim(axis)) {
                              from[axis] -= c.shape(operand++).dim(axis);
                            }
                            return At(c.operands[operand], from);
                          }));
  return Values{std::move(out)};
}

absl::StatusOr<Values> Pad(const Context& c) {
  const auto low = c.attributes().GetInts("edge_padding_low");
  const auto interior = c.attributes().GetInts("interior_padding");
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByIndex(c, c.result_shape(), [&](Index index) {
        Dims from;
        for (int d = 0; d < c.shape(0).rank(); ++d) {
          const int64_t at = index[d] - low[d], step = interior[d] + 1;
          if (at < 0 || at % step != 0 || at / step >= c.shape(0).dim(d)) {
            return ReadNumber(c.operands[1], 0);
          }
          from.push_back(at / step);
        }
        return At(c.operands[0], from);
      }));
  return Values{std::move(out)};
}

constexpr Row kShapeRows[] = {
    {&kIota, Iota},       {&kBroadcastInDim, BroadcastInDim},
    {&kReshape, Reshape}, {&kTranspose, Transpose},
    {&kReverse, Reverse}, {&kConcatenate, Concatenate},
    {&kPad, Pad},
};

}  // namespace

absl::Span<const Row> ShapeRows() { return kShapeRows; }

}  // namespace hawser::reference
