// Expression: values of a builder written as formulas. Gradient rules are
// written in it, so that a rule reads like the line in the textbook.
#ifndef HAWSER_CORE_OPS_EXPRESSION_H_
#define HAWSER_CORE_OPS_EXPRESSION_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise/compare.h"

namespace hawser {

// The computations (x, y) -> op(x, y) over scalars, each added to a module
// once. Kept as long as the module grows.
class Monoids {
 public:
  // The number of op's in `module`. `op` must take scalars of `dtype`
  // (checked).
  int Find(const OpDef& op, DType dtype, Module* module);
  // Finds (x, y) -> y.
  int FindSecond(DType dtype, Module* module);

 private:
  int FindOrAdd(const OpDef* op, DType dtype, Module* module);

  // No op: (x, y) -> y.
  absl::flat_hash_map<std::pair<const OpDef*, DType>, int> known_;
};

// Expressions grow in this scope; it outlives them.
struct ExpressionScope {
  ComputationBuilder& builder;
  Monoids& monoids;
};

// One value of the scope's builder, or nothing. After an error of the builder
// every new expression has an invalid shape; callers need not check in between.
class Expression {
 public:
  Expression() = default;  // nothing; of a cotangent: zero
  Expression(ExpressionScope* scope, ValueId value)
      : scope_(scope), value_(value) {}

  bool present() const { return scope_ != nullptr; }
  ExpressionScope* scope() const { return scope_; }
  ValueId value() const { return value_; }
  // It returns a copy since the builder moves its shapes as it grows.
  Shape shape() const {
    return value_ == kNoValue ? Shape() : scope_->builder.shape(value_);
  }
  DType dtype() const { return shape().dtype(); }
  Dims dims() const { return shape().dims(); }
  int rank() const { return shape().rank(); }

 private:
  ExpressionScope* scope_ = nullptr;
  ValueId value_ = kNoValue;
};

// Result 0 of a new instruction; there must be an operand. ResultOf gives the
// others.
Expression Apply(const OpDef& op, absl::Span<const Expression> operands,
                 Attributes attributes = {},
                 absl::Span<const int> called = {});
Expression Apply(const OpDef& op, std::initializer_list<Expression> operands,
                 Attributes attributes = {},
                 absl::Span<const int> called = {});
Expression ResultOf(const Expression& first, int k);

// ---- constants ------------------------------------------------------------

// `value` as an element of `dtype`; what does not fit is converted as C++
// does.
Literal ScalarOf(DType dtype, double value);
// The number of an integer scalar; nothing for other literals, and for what
// int64_t does not hold.
std::optional<int64_t> IntegerOf(const Literal& value);
Expression ConstantOf(ExpressionScope* scope, const Literal& value);
// Every element `value`.
Expression Filled(ExpressionScope* scope, const Shape& shape, double value);
inline Expression Like(const Expression& x, double value) {
  return Filled(x.scope(), x.shape(), value);
}

// ---- elementwise; operands have one dtype and the same sizes --------------

Expression operator+(const Expression& x, const Expression& y);
Expression operator-(const Expression& x, const Expression& y);
Expression operator*(const Expression& x, const Expression& y);
Expression operator/(const Expression& x, const Expression& y);
Expression operator-(const Expression& x);
inline Expression operator+(const Expression& x, double y) {
  return x + Like(x, y);
}
inline Expression operator-(const Expression& x, double y) {
  return x - Like(x, y);
}
inline Expression operator-(double x, const Expression& y) {
  return Like(y, x) - y;
}
inline Expression operator*(double x, const Expression& y) {
  return Like(y, x) * y;
}
Expression Compare(const Expression& x, CompareDirection direction,
                   const Expression& y);
// A scalar predicate goes for all elements.
Expression Choose(const Expression& predicate, const Expression& x,
                  const Expression& y);
// `x` where the predicate holds, else 0.
Expression Where(const Expression& predicate, const Expression& x);
// x itself when it has the dtype.
Expression ConvertTo(const Expression& x, DType dtype);
// Takes a complex number.
Expression Conjugate(const Expression& x);

// ---- movement -------------------------------------------------------------

Expression Reshaped(const Expression& x, absl::Span<const int64_t> dims);
// Axis i of the result is axis permutation[i] of x; x itself when all stay.
Expression Transposed(const Expression& x,
                      absl::Span<const int64_t> permutation);
// Repeats x, which lacks `axes` of `dims`, along them.
Expression Spread(const Expression& x, absl::Span<const int64_t> dims,
                  absl::Span<const int64_t> axes);
// The numbers 0..rank-1 that are not in `axes`.
Dims OtherAxes(int rank, absl::Span<const int64_t> axes);
// permutation[i] = k  ->  result[k] = i.
Dims InversePermutation(absl::Span<const int64_t> permutation);

// ---- reductions -----------------------------------------------------------

// x itself when there are no axes.
Expression Folded(const OpDef& monoid, const Expression& x,
                  const Literal& initial, absl::Span<const int64_t> axes);
Expression Summed(const Expression& x, absl::Span<const int64_t> axes);
Expression SummedAll(const Expression& x);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_EXPRESSION_H_
