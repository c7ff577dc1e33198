// Reading and writing at places that are themselves values of a tensor.
#include "core/ops/movement/gather.h"

#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/rules.h"
#include "tests/reference/rows/places.h"

namespace hawser::reference {
namespace {

// An index of a result or of updates: the axes that run through a window, of
// which the operand has all but `missing`, and the others.
struct Split {
  Dims window, batch;
};
Split SplitIndex(Index index, absl::Span<const int64_t> window_axes,
                 absl::Span<const int64_t> missing, int rank) {
  Split out;
  Dims inside;
  for (size_t d = 0; d < index.size(); ++d) {
    (Contains(window_axes, d) ? inside : out.batch).push_back(index[d]);
  }
  size_t next = 0;
  for (int d = 0; d < rank; ++d) {
    out.window.push_back(Contains(missing, d) ? 0 : inside[next++]);
  }
  return out;
}

absl::StatusOr<Values> Gather(const Context& c) {
  const Attributes& a = c.attributes();
  const auto sizes = a.GetInts("slice_sizes");
  const auto map = a.GetInts("start_index_map");
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByIndex(c, c.result_shape(), [&](Index index) {
        const Split split =
            SplitIndex(index, a.GetInts("offset_dims"),
                       a.GetInts("collapsed_slice_dims"), c.shape(0).rank());
        const Dims starts =
            IndexVectorAt(c.operands[1], a.GetInt("index_vector_dim"),
                          split.batch, map.size());
        Dims from = split.window;
        for (size_t k = 0; k < map.size(); ++k) {
          from[map[k]] +=
              Clamped(starts[k], c.shape(0).dim(map[k]) - sizes[map[k]]);
        }
        return At(c.operands[0], from);
      }));
  return Values{std::move(out)};
}

// Returns where an element of the updates goes; nothing: outside.
std::optional<Dims> TargetOf(const Context& c, Index index) {
  const Attributes& a = c.attributes();
  const Shape& input = c.shape(0);
  const int n = static_cast<int>(c.operands.size() / 2);
  const auto map = a.GetInts("scatter_dims_to_operand_dims");
  const Split split =
      SplitIndex(index, a.GetInts("update_window_dims"),
                 a.GetInts("inserted_window_dims"), input.rank());
  const Dims starts = IndexVectorAt(c.operands[n], a.GetInt("index_vector_dim"),
                                    split.batch, map.size());
  Dims to = split.window;
  for (size_t k = 0; k < map.size(); ++k) {
    if (starts[k] >= input.dim(map[k])) return std::nullopt;
    to[map[k]] += starts[k];
  }
  for (int d = 0; d < input.rank(); ++d) {
    if (to[d] < 0 || to[d] >= input.dim(d)) return std::nullopt;
  }
  return to;
}

// A value in another dtype.
absl::StatusOr<Literal> Copied(const Context& c, const Literal& from,
                               DType dtype) {
  return FillByPlace(c, from.shape().WithDType(dtype),
                     [&](int64_t place) { return ReadNumber(from, place); });
}

// Combines elements with those of updates where both are values of the fold's
// own dtypes, but for sums of halves, which are in f32 and stay there.
absl::StatusOr<Values> Combined(const Context& c,
                                absl::Span<const DType> dtypes,
                                Values elements) {
  const Computation& fold = c.module.computation(c.instruction.called[0]);
  const size_t n = dtypes.size();
  Values narrow;
  for (size_t i = 0; i < elements.size(); ++i) {
    narrow.push_back(
        ScalarOf(ReadNumber(elements[i], 0), c.shape(i % n).dtype()));
  }
  HAWSER_ASSIGN_OR_RETURN(Values combined, c.call(0, std::move(narrow)));
  for (size_t k = 0; k < n; ++k) {
    if (dtypes[k] == c.shape(k).dtype()) continue;
    const Complex x = ReadNumber(elements[k], 0).value;
    const Complex y = ReadNumber(elements[n + k], 0).value;
    const bool adds = MonoidOf(fold, static_cast<int>(k)) == &kAdd;
    combined[k] = ScalarOf(
        Number::Of(Complex(adds ? x.real() + y.real() : x.real() * y.real())),
        dtypes[k]);
  }
  return combined;
}

absl::StatusOr<Values> Scatter(const Context& c) {
  const size_t n = c.operands.size() / 2;
  const std::vector<DType> dtypes =
      FoldDTypes(c.module.computation(c.instruction.called[0]));
  Values out;
  for (size_t k = 0; k < n; ++k) {
    HAWSER_ASSIGN_OR_RETURN(out.emplace_back(),
                            Copied(c, c.operands[k], dtypes[k]));
  }
  HAWSER_RETURN_IF_ERROR(ForEachIndex(
      c.shape(n + 1).dims(), c.cancel, [&](Index index) -> absl::Status {
        const std::optional<Dims> to = TargetOf(c, index);
        if (!to.has_value()) return absl::OkStatus();
        const int64_t place = PlaceOf(c.shape(0), *to);
        Values elements;
        for (size_t k = 0; k < n; ++k) {
          elements.push_back(ScalarOf(ReadNumber(out[k], place), dtypes[k]));
        }
        for (size_t k = 0; k < n; ++k) {
          elements.push_back(
              ScalarOf(At(c.operands[n + 1 + k], index), dtypes[k]));
        }
        HAWSER_ASSIGN_OR_RETURN(const Values combined,
                                Combined(c, dtypes, std::move(elements)));
        for (size_t k = 0; k < n; ++k) {
          WriteNumber(ReadNumber(combined[k], 0), place, &out[k]);
        }
        return absl::OkStatus();
      }));
  for (size_t k = 0; k < n; ++k) {
    HAWSER_ASSIGN_OR_RETURN(out[k], Copied(c, out[k], c.shape(k).dtype()));
  }
  return out;
}

constexpr Row kGatherRows[] = {
    {&kGather, Gather},
    {&kScatter, Scatter},
};

}  // namespace

absl::Span<const Row> GatherRows() { return kGatherRows; }

}  // namespace hawser::reference
