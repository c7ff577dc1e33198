// Modules of one formula.
#ifndef HAWSER_TESTS_CORE_SHARDING_FORMULAS_H_
#define HAWSER_TESTS_CORE_SHARDING_FORMULAS_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "core/sharding/shard.h"
#include "tests/testing/matchers.h"

namespace hawser {

inline Shape F32(const Dims& dims) { return Shape::Of(DType::kF32, dims); }

// A module over parameters of these shapes; `formula` makes its result, or a
// vector of them, of the parameters.
template <typename Formula>
Module ModuleOf(const std::vector<Shape>& shapes, Formula formula) {
  Module module("formula");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  std::vector<Expression> parameters;
  for (const Shape& shape : shapes) {
    parameters.emplace_back(&scope, b.Parameter(shape));
  }
  std::vector<ValueId> results;
  for (const Expression& result : formula(parameters)) {
    results.push_back(result.value());
  }
  EXPECT_OK(b.Finish(results));
  return module;
}

using Formulas = std::vector<Expression>;

// Of matrices, of `dtype` if one is given.
inline Expression Product(const Expression& x, const Expression& y,
                          DType dtype = DType::kInvalid) {
  Attributes attributes = {{"lhs_batching_dimensions", Dims{}},
                           {"lhs_contracting_dimensions", Dims{1}},
                           {"rhs_batching_dimensions", Dims{}},
                           {"rhs_contracting_dimensions", Dims{0}}};
  if (dtype != DType::kInvalid) attributes.Set("result_dtype", dtype);
  return Apply(kDotGeneral, {x, y}, std::move(attributes));
}

// By a spec as text; what it does not name is whole.
inline absl::StatusOr<Sharding> ShardBy(const Module& module,
                                        absl::string_view text) {
  HAWSER_ASSIGN_OR_RETURN(ShardSpec spec, ParseShardSpec(text));
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  return Shard(module, spec);
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_SHARDING_FORMULAS_H_
