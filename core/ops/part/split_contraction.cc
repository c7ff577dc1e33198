// Splits of contractions: that of each cell, then theirs.
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/movement/shape.h"
#include "core/ops/part/split.h"

namespace hawser {
namespace {

// Value k of every cell along a new first axis.
Expression Stacked(const SplitContext& c, size_t k) {
  std::vector<Expression> rows;
  for (const std::vector<Expression>& partial : c.partials) {
    Dims dims = {1};
    for (int64_t size : partial[k].dims()) dims.push_back(size);
    rows.push_back(Reshaped(partial[k], dims));
  }
  return Apply(kConcatenate, rows, {{"dimension", int64_t{0}}});
}

}  // namespace

// Its contract says that the computation is associative and commutative and the
// initial values neutral. Halves are summed in f32 and rounded once, as engines
// do in the whole.
absl::Status ReduceSplit(SplitContext& c) {
  const size_t count = c.operands.size() / 2;
  Module* const module = c.scope.builder.module();
  // It is copied since the module may move its computations.
  const Computation fold = module->computation(c.called[0]);
  const std::vector<DType> dtypes = FoldDTypes(fold);
  int called = c.called[0];
  if (SumsHalves(fold)) {
    HAWSER_ASSIGN_OR_RETURN(called, AddWideFold(fold, module));
  }
  const auto reduced = [&](std::vector<Expression> operands,
                           const Attributes& attributes) {
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i] = ConvertTo(operands[i], dtypes[i % count]);
    }
    return Apply(kReduce, operands, attributes, {called});
  };
  std::vector<Expression> operands(c.operands.begin(), c.operands.end());
  for (size_t cell = 0; cell < c.cells.size(); ++cell) {
    for (size_t k = 0; k < count; ++k) operands[k] = c.Part(cell, k);
    const Expression first = reduced(operands, c.instruction.attributes);
    for (size_t k = 0; k < count; ++k) {
      c.partials[cell].push_back(ResultOf(first, static_cast<int>(k)));
    }
  }
  for (size_t k = 0; k < count; ++k) operands[k] = Stacked(c, k);
  const Expression first = reduced(operands, {{"dimensions", Dims{0}}});
  for (size_t k = 0; k < count; ++k) {
    c.results[k] = ConvertTo(ResultOf(first, static_cast<int>(k)),
                             c.operands[k].dtype());
  }
  return absl::OkStatus();
}

// Halves are summed in f32 and rounded once, as engines do in the whole.
absl::Status DotGeneralSplit(SplitContext& c) {
  const DType from = c.operands[0].dtype();
  Attributes attributes = c.instruction.attributes;
  const DType dtype = ProductDType(attributes, from);
  const DType summed = SumDType(dtype);
  if (summed != from) attributes.Set("result_dtype", summed);
  std::vector<Expression> sums;
  for (size_t cell = 0; cell < c.cells.size(); ++cell) {
    sums.push_back(
        Apply(kDotGeneral, {c.Part(cell, 0), c.Part(cell, 1)}, attributes));
    c.partials[cell] = {sums.back()};
  }
  while (sums.size() > 1) {
    std::vector<Expression> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2) {
      next.push_back(sums[i] + sums[i + 1]);
    }
    if (sums.size() % 2 == 1) next.push_back(sums.back());
    sums = std::move(next);
  }
  c.results[0] = ConvertTo(sums[0], dtype);
  return absl::OkStatus();
}

// The extreme of each cell and where it stands; of those, the extreme again. An
// extreme of elements with a NaN is NaN, and so is found like any other.
absl::Status ArgExtremeSplit(SplitContext& c) {
  const Attributes& attributes = c.instruction.attributes;
  const int64_t axis = attributes.GetInt("dimension");
  const bool largest = c.instruction.op == &kArgMax;
  const OpDef& monoid = largest ? kMaximum : kMinimum;
  const DType dtype = c.operands[0].dtype();
  for (size_t cell = 0; cell < c.cells.size(); ++cell) {
    const Expression part = c.Part(cell, 0);
    const Expression within = Apply(*c.instruction.op, {part}, attributes);
    const Expression begin =
        ConvertTo(c.BeginOf(cell, 0, axis), within.dtype());
    c.partials[cell] = {
        within + Spread(begin, within.dims(), OtherAxes(within.rank(), {})),
        Folded(monoid, part, NeutralOf(monoid, dtype), {axis})};
  }
  const Expression winner =
      Apply(*c.instruction.op, {Stacked(c, 1)},
            {{"dimension", int64_t{0}},
             {"tie", std::string(attributes.GetString("tie", "low"))}});
  Expression found = c.partials[0][0];
  for (size_t cell = 1; cell < c.cells.size(); ++cell) {
    const Expression here = Compare(winner, CompareDirection::kEq,
                                    Like(winner, static_cast<double>(cell)));
    found = Choose(here, c.partials[cell][0], found);
  }
  c.results[0] = found;
  return absl::OkStatus();
}

}  // namespace hawser
