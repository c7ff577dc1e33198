#include "kernels/plan/loops/unrolled_folds.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/expression.h"
#include "core/ops/movement/slice.h"
#include "core/ops/rewritten.h"
#include "core/ops/scatters/scatter_rows.h"

namespace hawser::plan {
namespace {

// A kernel over fewer elements takes no longer than its start.
constexpr int64_t kLeastElements = int64_t{1} << 16;

bool IsShort(const Module& module, const Computation& c, const Instruction& i,
             const Target& target) {
  if (i.op != &kReduce || i.operands.size() != 2) return false;
  const auto fold = FoldOf(module.computation(i.called[0]));
  if (!fold || fold->monoid == nullptr) return false;
  const Shape& input = c.shape(i.operands[0]);
  // Halves are folded in f32 and rounded once.
  if (input.num_elements() < kLeastElements ||
      (IsFloat(input.dtype()) && BitWidth(input.dtype()) < 32)) {
    return false;
  }
  int64_t elements = 1;
  for (const int64_t axis : i.attributes.GetInts("dimensions")) {
    elements *= input.dim(static_cast<int>(axis));
    if (elements > target.unrolled_folds) return false;
  }
  return elements > 0;
}

// The elements of `x` that are in place `number` of the reduced axes, of the
// sizes of the result.
Expression ElementsAt(const Expression& x, absl::Span<const int64_t> reduced,
                      int64_t number, const Dims& result) {
  Dims begin(x.rank(), 0), end = x.dims();
  for (size_t k = reduced.size(); k-- > 0;) {
    const int64_t axis = reduced[k], size = x.dims()[axis];
    begin[axis] = number % size;
    end[axis] = begin[axis] + 1;
    number /= size;
  }
  return Reshaped(Apply(kSlice, {x},
                        {{"start_indices", begin},
                         {"limit_indices", end},
                         {"strides", Dims(begin.size(), 1)}}),
                  result);
}

Expression WrittenOut(const Instruction& i, const OpDef& monoid,
                      const std::vector<Expression>& operands) {
  const Expression& x = operands[0];
  const auto reduced = i.attributes.GetInts("dimensions");
  Dims kept;
  int64_t elements = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t size = x.dims()[axis];
    if (absl::c_linear_search(reduced, axis)) {
      elements *= size;
    } else {
      kept.push_back(size);
    }
  }
  Expression sum =
      Spread(operands[1], kept, OtherAxes(static_cast<int>(kept.size()), {}));
  for (int64_t n = 0; n < elements; ++n) {
    sum = Apply(monoid, {sum, ElementsAt(x, reduced, n, kept)});
  }
  return sum;
}

}  // namespace

absl::StatusOr<std::optional<Module>> UnrolledFolds(const Module& module,
                                                    const Target& target) {
  const auto is_short = [&](const Computation& c, const Instruction& i) {
    return IsShort(module, c, i, target);
  };
  const bool any = absl::c_any_of(module.computations(), [&](const auto& c) {
    return absl::c_any_of(c.instructions(),
                          [&](const Instruction& i) { return is_short(c, i); });
  });
  if (!any) return std::nullopt;
  using Others = std::optional<std::vector<Expression>>;
  return Rewritten(
      module,
      [&](const Computation& from, const Instruction& i,
          const std::vector<Expression>& operands) -> absl::StatusOr<Others> {
        if (!is_short(from, i)) return std::nullopt;
        const auto fold = FoldOf(module.computation(i.called[0]));
        return Others(
            std::vector<Expression>{WrittenOut(i, *fold->monoid, operands)});
      });
}

}  // namespace hawser::plan
