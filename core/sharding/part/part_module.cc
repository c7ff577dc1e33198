#include "core/sharding/part/part_module.h"

#include <utility>

#include "core/base/status.h"
#include "core/sharding/part/module_copy.h"
#include "core/sharding/part/part_plan.h"

namespace hawser {

absl::StatusOr<PartModule> PartOf(const Module& module,
                                  absl::Span<const Piece> gives) {
  const int entry = static_cast<int>(module.computations().size()) - 1;
  HAWSER_ASSIGN_OR_RETURN(const PartPlan plan,
                          PartPlan::Make(module, entry, gives));
  PartModule part{.module = Module(module.name()), .takes = {}, .offsets = {}};
  ModuleCopy copy(module, &part.module);
  ComputationBuilder builder(&part.module, module.entry().name());
  ExpressionScope scope{builder, copy.monoids()};
  std::vector<Expression> pieces;
  for (int i = 0; i < module.entry().num_parameters(); ++i) {
    const Shape& shape = module.entry().shape(i);
    for (const Box& box : plan.takes()[i]) {
      part.takes.push_back({i, box});
      pieces.emplace_back(
          &scope, builder.Parameter(ShapeOf(shape, box), SourceLocation{}));
    }
  }
  const auto take = [&](int parameter, const Box& box, Box*) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (part.takes[i] == Piece{parameter, box}) return pieces[i];
    }
    return Expression(&scope, kNoValue);
  };
  const auto offset = [&](int64_t value) {
    part.offsets.push_back(value);
    return Expression(&scope, builder.Parameter(Shape::Scalar(DType::kS64),
                                                SourceLocation{}));
  };
  std::vector<Expression> results(gives.size());
  HAWSER_RETURN_IF_ERROR(
      plan.Build({.scope = scope, .copy = copy, .take = take, .offset = offset},
                 absl::MakeSpan(results)));
  std::vector<ValueId> values;
  for (const Expression& result : results) values.push_back(result.value());
  HAWSER_RETURN_IF_ERROR(builder.Finish(values).status());
  return part;
}

}  // namespace hawser
