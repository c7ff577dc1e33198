#include "tests/testing/expression_module.h"

#include "tests/testing/matchers.h"

namespace hawser::testing {

Module ExpressionModule(const std::vector<Shape>& parameters,
                        const ExpressionBody& body) {
  Module module("graph");
  ComputationBuilder builder(&module, "main");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  std::vector<Expression> values;
  for (const Shape& shape : parameters) {
    values.emplace_back(&scope, builder.Parameter(shape));
  }
  std::vector<ValueId> results;
  for (const Expression& e : body(values)) results.push_back(e.value());
  EXPECT_OK(builder.Finish(results));
  return module;
}

std::vector<Shape> ShapesOf(DType dtype, const std::vector<Dims>& dims) {
  std::vector<Shape> shapes;
  for (const Dims& d : dims) shapes.push_back(Shape::Of(dtype, d));
  return shapes;
}

}  // namespace hawser::testing
