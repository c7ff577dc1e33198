// Rectangular parts of a tensor.
#include "core/ops/movement/slice.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ops/windows/unfold.h"
#include "tests/reference/rows/places.h"

namespace hawser::reference {
namespace {

absl::StatusOr<Values> Slice(const Context& c) {
  const auto starts = c.attributes().GetInts("start_indices");
  const auto strides = c.attributes().GetInts("strides");
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByIndex(c, c.result_shape(), [&](Index index) {
                            Dims from;
                            for (size_t d = 0; d < index.size(); ++d) {
                              from.push_back(starts[d] + index[d] * strides[d]);
                            }
                            return At(c.operands[0], from);
                          }));
  return Values{std::move(out)};
}

// Returns where a part of these sizes starts: operands from `first` on, such
// that it fits.
Dims StartsOf(const Context& c, int first, absl::Span<const int64_t> sizes) {
  Dims starts;
  for (int d = 0; d < c.shape(0).rank(); ++d) {
    starts.push_back(Clamped(PlaceAt(c.operands[first + d], 0),
                             c.shape(0).dim(d) - sizes[d]));
  }
  return starts;
}

absl::StatusOr<Values> DynamicSlice(const Context& c) {
  const Dims starts = StartsOf(c, 1, c.attributes().GetInts("slice_sizes"));
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByIndex(c, c.result_shape(), [&](Index index) {
                            Dims from = starts;
                            for (size_t d = 0; d < index.size(); ++d)
                              from[d] += index[d];
                            return At(c.operands[0], from);
                          }));
  return Values{std::move(out)};
}

absl::StatusOr<Values> DynamicUpdateSlice(const Context& c) {
  const Dims starts = StartsOf(c, 2, c.shape(1).dims());
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByIndex(c, c.result_shape(), [&](Index index) {
                            Dims inside;
                            for (size_t d = 0; d < index.size(); ++d) {
                              const int64_t at = index[d] - starts[d];
                              if (at < 0 || at >= c.shape(1).dim(d)) {
                                return At(c.operands[0], index);
                              }
                              inside.push_back(at);
                            }
                            return At(c.operands[1], inside);
                          }));
  return Values{std::move(out)};
}

absl::StatusOr<Values> Unfold(const Context& c) {
  const auto axes = c.attributes().GetInts("dimensions");
  const auto strides = c.attributes().GetInts("window_strides");
  const auto dilations = c.attributes().GetInts("window_dilations");
  const int rank = c.shape(0).rank();
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByIndex(c, c.result_shape(), [&](Index index) {
                            Dims from(index.begin(), index.begin() + rank);
                            for (size_t k = 0; k < axes.size(); ++k) {
                              from[axes[k]] *= strides[k];
                              from[axes[k]] += index[rank + k] * dilations[k];
                            }
                            return At(c.operands[0], from);
                          }));
  return Values{std::move(out)};
}

constexpr Row kSliceRows[] = {
    {&kSlice, Slice},
    {&kDynamicSlice, DynamicSlice},
    {&kDynamicUpdateSlice, DynamicUpdateSlice},
    {&kUnfold, Unfold},
};

}  // namespace

absl::Span<const Row> SliceRows() { return kSliceRows; }

}  // namespace hawser::reference
