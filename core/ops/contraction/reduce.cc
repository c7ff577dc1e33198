#include "core/ops/contraction/reduce.h"

#include <limits>

#include "core/base/status.h"
#include "core/ops/expression.h"

namespace hawser {
namespace {

Shape WithoutAxes(const Shape& shape, absl::Span<const int64_t> axes,
                  DType dtype) {
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!Contains(axes, i)) dims.push_back(shape.dim(i));
  }
  return Shape::Of(dtype, dims);
}

absl::Status CheckInputs(const InferContext& context) {
  const size_t n = context.operands.size() / 2;
  if (context.operands.size() != 2 * n) {
    return Violates(1, context.operands.size(),
                    " operands are not inputs and as many initial values");
  }
  for (size_t i = 0; i < n; ++i) {
    const Shape& input = context.operands[i];
    const Shape& initial = context.operands[n + i];
    if (!input.SameDims(context.operands[0])) {
      return Violates(2, "input 0 is ", context.operands[0].ToString(),
                      ", input ", i, " is ", input.ToString());
    }
    if (initial != Shape::Scalar(input.dtype())) {
      return Violates(3, "initial value ", i, " is ", initial.ToString(),
                      ", must be ", DTypeName(input.dtype()), "[]");
    }
  }
  const int rank = context.operands[0].rank();
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 4, "dimensions", rank));
  return CheckUnique(context, 5, "dimensions");
}

// The largest number of an index dtype, or 0 for any other dtype.
uint64_t LargestIndex(DType dtype) {
  if (dtype == DType::kS32) return std::numeric_limits<int32_t>::max();
  if (dtype == DType::kU32) return std::numeric_limits<uint32_t>::max();
  if (dtype == DType::kS64) return std::numeric_limits<int64_t>::max();
  if (dtype == DType::kU64) return std::numeric_limits<uint64_t>::max();
  return 0;
}

}  // namespace

absl::StatusOr<Shapes> InferReduce(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckInputs(context));
  HAWSER_RETURN_IF_ERROR(
      CheckCombiner(context, 6, 7, context.operands.size() / 2));
  const auto axes = context.attributes.GetInts("dimensions");
  Shapes results;
  for (size_t i = 0; i < context.operands.size() / 2; ++i) {
    const Shape& input = context.operands[i];
    results.push_back(WithoutAxes(input, axes, input.dtype()));
  }
  return results;
}

AxisMap ReduceAxes(const InferContext& context,
                   absl::Span<const Shape> results) {
  const Shape& input = context.operands[0];
  const auto axes = context.attributes.GetInts("dimensions");
  AxisMap map = EmptyAxes(context, results);
  int to = 0;
  for (int i = 0; i < input.rank(); ++i) {
    const bool contracted = Contains(axes, i);
    const int factor = map.AddFactor(
        contracted ? AxisKind::kContracted : AxisKind::kParallel,
        input.dim(i));
    for (size_t n = 0; n < results.size(); ++n) {
      map.operands[n][i] = factor;
      if (!contracted) map.results[n][to] = factor;
    }
    if (!contracted) ++to;
  }
  return map;
}

absl::StatusOr<Shapes> InferArgExtreme(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckAxis(context, 2, "dimension", operand));
  const int64_t axis = context.attributes.GetInt("dimension");
  if (operand.dim(axis) == 0) {
    return Violates(3, "axis ", axis, " of ", operand.ToString(),
                    " is empty, so none of it is the extreme");
  }
  const DType dtype = ResultDType(context);
  const uint64_t largest = LargestIndex(dtype);
  if (largest == 0) {
    return Violates(4, "dtype is ", DTypeName(dtype),
                    ", must be one of u32, u64, s32, s64");
  }
  const absl::string_view tie = context.attributes.GetString("tie", "low");
  if (tie != "low" && tie != "high") {
    return Violates(5, "tie is \"", tie.substr(0, 16), "\", must be low or high");
  }
  if (static_cast<uint64_t>(operand.dim(axis)) - 1 > largest) {
    return Violates(6, "axis ", axis, " of ", operand.ToString(),
                    " has more elements than ", DTypeName(dtype),
                    " can count");
  }
  // Taking one element of the axis away leaves at most as many elements, but
  // an index may be wider than an element.
  Dims dims;
  for (int i = 0; i < operand.rank(); ++i) {
    if (i != axis) dims.push_back(operand.dim(i));
  }
  HAWSER_ASSIGN_OR_RETURN(Shape result, MakeResult(6, dtype, dims));
  return Shapes{std::move(result)};
}

AxisMap ArgExtremeAxes(const InferContext& context,
                       absl::Span<const Shape> results) {
  const Shape& operand = context.operands[0];
  const int64_t axis = context.attributes.GetInt("dimension");
  AxisMap map = EmptyAxes(context, results);
  int to = 0;
  for (int i = 0; i < operand.rank(); ++i) {
    const bool searched = i == axis;
    map.operands[0][i] = map.AddFactor(
        searched ? AxisKind::kContracted : AxisKind::kParallel, operand.dim(i));
    if (!searched) map.results[0][to++] = map.operands[0][i];
  }
  return map;
}

const OpDef* MonoidOf(const Computation& computation, int k) {
  const int n = static_cast<int>(computation.results().size());
  if (computation.num_parameters() != 2 * n) return nullptr;
  const ValueId result = computation.results()[k];
  const Instruction& last =
      computation.instructions()[computation.producer(result)];
  if (!last.op->monoid) return nullptr;
  const ValueId a = last.operands[0], b = last.operands[1];
  const bool both = (a == k && b == n + k) || (a == n + k && b == k);
  return both ? last.op : nullptr;
}

Literal NeutralOf(const OpDef& monoid, DType dtype) {
  const MonoidDef::Neutral neutral = monoid.monoid.neutral;
  HAWSER_CHECK(neutral != MonoidDef::kNone && monoid.dtypes.Has(dtype));
  if (neutral == MonoidDef::kZero) return ScalarOf(dtype, 0);
  if (neutral == MonoidDef::kOne) return ScalarOf(dtype, 1);
  const bool highest = neutral == MonoidDef::kHighest;
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    if constexpr (kIsFloat<T>) {
      const float infinity = std::numeric_limits<float>::infinity();
      return Literal::Scalar(T(highest ? infinity : -infinity));
    } else if constexpr (kIsComplex<T>) {
      return Literal::Scalar(T());  // none has them: they are not ordered
    } else if (neutral == MonoidDef::kAllBits) {
      return Literal::Scalar(static_cast<T>(-1));
    } else {
      return Literal::Scalar(highest ? Limits::max() : Limits::min());
    }
  });
}

}  // namespace hawser
