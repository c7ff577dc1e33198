// The gradient of sorting: what was moved is moved back.
#include <limits>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/sort.h"

namespace hawser {
namespace {

// The comparator, after whose parameters come two of `position`, at which it
// does not look.
absl::StatusOr<int> WithPosition(const Computation& comparator, DType position,
                                 Module* module) {
  ComputationBuilder builder(module, std::string(comparator.name()));
  const int parameters = comparator.num_parameters();
  for (int i = 0; i < parameters; ++i) {
    builder.Parameter(comparator.shape(i), SourceLocation{});
  }
  for (int i = 0; i < 2; ++i) {
    builder.Parameter(Shape::Scalar(position), SourceLocation{});
  }
  const auto moved = [&](ValueId v) { return v < parameters ? v : v + 2; };
  for (const Instruction& i : comparator.instructions()) {
    if (i.op == &kParameter) continue;
    std::vector<ValueId> operands;
    for (const ValueId v : i.operands) operands.push_back(moved(v));
    builder.Add(*i.op, operands, i.attributes, i.called, SourceLocation{});
  }
  return builder.Finish({moved(comparator.results()[0])});
}

Expression Positions(const GradientContext& c, int64_t axis) {
  const Dims dims = c.operands[0].dims();
  const bool is_long = dims[axis] > std::numeric_limits<int32_t>::max();
  return Expression(
      &c.scope,
      c.scope.builder.Add(kIota, {},
                          {{"dims", dims},
                           {"dtype", is_long ? DType::kS64 : DType::kS32},
                           {"iota_dimension", axis}},
                          {}, SourceLocation{}));
}

}  // namespace

// Positions are sorted along; cotangents are sorted by them, which puts each
// back where its element came from. Engines sort equals alike each time.
absl::Status SortGradient(GradientContext& c) {
  Module* const module = c.scope.builder.module();
  const Attributes& attributes = c.instruction.attributes;
  const int64_t axis = attributes.GetInt("dimension");
  const Expression positions = Positions(c, axis);
  // It is copied since the module may move its computations.
  const Computation comparator = module->computation(c.instruction.called[0]);
  HAWSER_ASSIGN_OR_RETURN(
      const int with_position,
      WithPosition(comparator, positions.dtype(), module));
  std::vector<Expression> inputs(c.operands.begin(), c.operands.end());
  inputs.push_back(positions);
  const Expression sorted = Apply(kSort, inputs, attributes, {with_position});

  std::vector<Expression> back = {
      ResultOf(sorted, static_cast<int>(c.operands.size()))};
  std::vector<DType> dtypes;
  std::vector<int> given;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    if (!c.wanted[k] || !c.cotangents[k].present()) continue;
    given.push_back(static_cast<int>(k));
    back.push_back(c.cotangents[k]);
    dtypes.push_back(c.cotangents[k].dtype());
  }
  const int by_position =
      AddComparator(positions.dtype(), /*descending=*/false, dtypes, module);
  const Expression first =
      Apply(kSort, back, {{"dimension", axis}}, {by_position});
  for (size_t i = 0; i < given.size(); ++i) {
    c.Give(given[i], [&] { return ResultOf(first, static_cast<int>(i) + 1); });
  }
  return absl::OkStatus();
}

}  // namespace hawser
