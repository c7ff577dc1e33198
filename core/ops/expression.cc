#include "core/ops/expression.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/values/rounding.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/rules.h"

namespace hawser {

int Monoids::Find(const OpDef& op, DType dtype, Module* module) {
  return FindOrAdd(&op, dtype, module);
}

int Monoids::FindSecond(DType dtype, Module* module) {
  return FindOrAdd(nullptr, dtype, module);
}

int Monoids::FindOrAdd(const OpDef* op, DType dtype, Module* module) {
  const auto [at, added] = known_.try_emplace({op, dtype}, 0);
  if (!added) return at->second;
  ComputationBuilder b(module, std::string(op ? op->name : "second"));
  const ValueId x = b.Parameter(Shape::Scalar(dtype));
  const ValueId y = b.Parameter(Shape::Scalar(dtype));
  const auto index = b.Finish({op ? b.Add(*op, {x, y}) : y});
  HAWSER_CHECK(index.ok());
  return at->second = *index;
}

Expression Apply(const OpDef& op, absl::Span<const Expression> operands,
                 Attributes attributes, absl::Span<const int> called) {
  ExpressionScope* scope = operands[0].scope();
  absl::InlinedVector<ValueId, 4> values;
  for (const Expression& operand : operands) values.push_back(operand.value());
  // Rules speak of no place in the user's program; the caller adds it.
  return Expression(scope, scope->builder.Add(op, values, std::move(attributes),
                                              called, SourceLocation{}));
}

Expression Apply(const OpDef& op, std::initializer_list<Expression> operands,
                 Attributes attributes, absl::Span<const int> called) {
  return Apply(op, absl::MakeConstSpan(operands.begin(), operands.size()),
               std::move(attributes), called);
}

Expression ResultOf(const Expression& first, int k) {
  const ValueId value = first.value();
  return Expression(first.scope(), value == kNoValue ? value : value + k);
}

// ---- constants ------------------------------------------------------------

Literal ScalarOf(DType dtype, double value) {
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsHalf<T>) {
      return Literal::Scalar(RoundedTo<T>(value));
    } else if constexpr (kIsComplex<T>) {
      return Literal::Scalar(T(static_cast<typename T::value_type>(value)));
    } else {
      return Literal::Scalar(static_cast<T>(value));
    }
  });
}

std::optional<int64_t> IntegerOf(const Literal& value) {
  const DType dtype = value.shape().dtype();
  if (value.shape().rank() != 0 || !(IsSigned(dtype) || IsUnsigned(dtype))) {
    return std::nullopt;
  }
  return VisitDType(dtype, [&](auto tag) -> std::optional<int64_t> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T x = value.data<T>()[0];
      if (std::is_same_v<T, uint64_t> && static_cast<uint64_t>(x) >> 63 != 0) {
        return std::nullopt;
      }
      return static_cast<int64_t>(x);
    } else {
      return std::nullopt;
    }
  });
}

Expression ConstantOf(ExpressionScope* scope, const Literal& value) {
  return Expression(scope, scope->builder.Constant(value, SourceLocation{}));
}

Expression Filled(ExpressionScope* scope, const Shape& shape, double value) {
  // There is no value: the builder has an error already.
  if (shape.dtype() == DType::kInvalid) return Expression(scope, kNoValue);
  const Expression scalar = ConstantOf(scope, ScalarOf(shape.dtype(), value));
  if (shape.is_scalar()) return scalar;
  return Apply(kBroadcastInDim, {scalar},
               {{"broadcast_dimensions", Dims{}}, {"dims", shape.dims()}});
}

// ---- elementwise ----------------------------------------------------------

Expression operator+(const Expression& x, const Expression& y) {
  return Apply(kAdd, {x, y});
}
Expression operator-(const Expression& x, const Expression& y) {
  return Apply(kSubtract, {x, y});
}
Expression operator*(const Expression& x, const Expression& y) {
  return Apply(kMultiply, {x, y});
}
Expression operator/(const Expression& x, const Expression& y) {
  return Apply(kDivide, {x, y});
}
Expression operator-(const Expression& x) { return Apply(kNegate, {x}); }

Expression Compare(const Expression& x, CompareDirection direction,
                   const Expression& y) {
  return Apply(kCompare, {x, y},
               {{"direction", std::string(CompareDirectionName(direction))}});
}

Expression Choose(const Expression& predicate, const Expression& x,
                  const Expression& y) {
  return Apply(kSelect, {predicate, x, y});
}

Expression Where(const Expression& predicate, const Expression& x) {
  return Choose(predicate, x, Like(x, 0));
}

Expression ConvertTo(const Expression& x, DType dtype) {
  return x.dtype() == dtype ? x : Apply(kConvert, {x}, {{"dtype", dtype}});
}

Expression Conjugate(const Expression& x) {
  return Apply(kComplex, {Apply(kReal, {x}), -Apply(kImag, {x})});
}

// ---- movement -------------------------------------------------------------

Expression Reshaped(const Expression& x, absl::Span<const int64_t> dims) {
  if (x.dims() == dims) return x;
  return Apply(kReshape, {x}, {{"dims", Dims(dims.begin(), dims.end())}});
}

Expression Transposed(const Expression& x,
                      absl::Span<const int64_t> permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  return Apply(kTranspose, {x},
               {{"permutation", Dims(permutation.begin(), permutation.end())}});
}

Expression Spread(const Expression& x, absl::Span<const int64_t> dims,
                  absl::Span<const int64_t> axes) {
  if (axes.empty()) return x;
  return Apply(kBroadcastInDim, {x},
               {{"broadcast_dimensions",
                 OtherAxes(static_cast<int>(dims.size()), axes)},
                {"dims", Dims(dims.begin(), dims.end())}});
}

Dims OtherAxes(int rank, absl::Span<const int64_t> axes) {
  Dims others;
  for (int axis = 0; axis < rank; ++axis) {
    if (!Contains(axes, axis)) others.push_back(axis);
  }
  return others;
}

Dims InversePermutation(absl::Span<const int64_t> permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[permutation[i]] = static_cast<int64_t>(i);
  }
  return inverse;
}

// ---- reductions -----------------------------------------------------------

Expression Folded(const OpDef& monoid, const Expression& x,
                  const Literal& initial, absl::Span<const int64_t> axes) {
  if (axes.empty() || x.value() == kNoValue) return x;
  ExpressionScope* scope = x.scope();
  const int called =
      scope->monoids.Find(monoid, x.dtype(), scope->builder.module());
  return Apply(kReduce, {x, ConstantOf(scope, initial)},
               {{"dimensions", Dims(axes.begin(), axes.end())}}, {called});
}

Expression Summed(const Expression& x, absl::Span<const int64_t> axes) {
  if (x.value() == kNoValue) return x;
  return Folded(kAdd, x, NeutralOf(kAdd, x.dtype()), axes);
}

Expression SummedAll(const Expression& x) {
  return Summed(x, OtherAxes(x.rank(), {}));
}

}  // namespace hawser
