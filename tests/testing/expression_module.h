// Modules for tests, written as expressions.
#ifndef HAWSER_TESTS_TESTING_EXPRESSION_MODULE_H_
#define HAWSER_TESTS_TESTING_EXPRESSION_MODULE_H_

#include <functional>
#include <vector>

#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser::testing {

// Results, of parameters.
using ExpressionBody =
    std::function<std::vector<Expression>(const std::vector<Expression>&)>;

// A module of one computation, as it is written: not optimized.
Module ExpressionModule(const std::vector<Shape>& parameters,
                        const ExpressionBody& body);

// Shapes of one dtype.
std::vector<Shape> ShapesOf(DType dtype, const std::vector<Dims>& dims);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_TESTING_EXPRESSION_MODULE_H_
