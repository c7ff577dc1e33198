#include "core/ops/rules.h"

#include <algorithm>
#include <bitset>
#include <utility>

namespace hawser {

DType ResultDType(const InferContext& context) {
  const DTypeRule& rule = context.op.result;
  switch (rule.kind) {
    case DTypeRule::kSameAs:
      return context.operands[rule.operand].dtype();
    case DTypeRule::kFixed:
      return rule.fixed;
    case DTypeRule::kFromAttribute: {
      const DType dtype = context.attributes.GetDType(rule.attribute);
      return dtype == DType::kInvalid ? rule.fixed : dtype;
    }
    case DTypeRule::kFromAttributeOrOperand: {
      const DType dtype = context.attributes.GetDType(rule.attribute);
      return dtype == DType::kInvalid ? context.operands[rule.operand].dtype()
                                      : dtype;
    }
    case DTypeRule::kRealPartOf:
      return RealPart(context.operands[rule.operand].dtype());
    case DTypeRule::kComplexOf:
      return RealPart(context.operands[rule.operand].dtype()) == DType::kF64
                 ? DType::kC128
                 : DType::kC64;
    case DTypeRule::kFromComputation:
      break;
  }
  return DType::kInvalid;
}

absl::Status CheckDType(const InferContext& context, int n, int operand) {
  const DType dtype = context.operands[operand].dtype();
  if (context.op.dtypes.Has(dtype)) return absl::OkStatus();
  return Violates(n, "operand ", operand, " is ", DTypeName(dtype),
                  ", must be one of ", context.op.dtypes.ToString());
}

absl::Status CheckSameDTypes(const InferContext& context, int n, int first) {
  const auto operands = context.operands;
  for (size_t i = first + 1; i < operands.size(); ++i) {
    if (operands[i].dtype() == operands[first].dtype()) continue;
    return Violates(n, "operand ", i, " is ", DTypeName(operands[i].dtype()),
                    ", operand ", first, " is ",
                    DTypeName(operands[first].dtype()));
  }
  return absl::OkStatus();
}

absl::Status CheckSameDims(const InferContext& context, int n) {
  const Shape& first = context.operands[0];
  for (size_t i = 1; i < context.operands.size(); ++i) {
    const Shape& other = context.operands[i];
    if (other.SameDims(first)) continue;
    return Violates(n, "operand 0 is ", first.ToString(), ", operand ", i,
                    " is ", other.ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckAxis(const InferContext& context, int n,
                       absl::string_view name, const Shape& shape) {
  const int64_t axis = context.attributes.GetInt(name);
  if (axis >= 0 && axis < shape.rank()) return absl::OkStatus();
  return Violates(n, name, " ", axis, " is no axis of ", shape.ToString());
}

absl::Status CheckAxes(const InferContext& context, int n,
                       absl::string_view name, int rank) {
  for (int64_t axis : context.attributes.GetInts(name)) {
    if (axis >= 0 && axis < rank) continue;
    return Violates(n, name, " has ", axis, ", which is no axis of rank ",
                    rank);
  }
  return absl::OkStatus();
}

absl::Status CheckUnique(const InferContext& context, int n,
                         absl::string_view name) {
  std::bitset<kMaxRank> seen;
  for (int64_t axis : context.attributes.GetInts(name)) {
    if (seen[axis]) return Violates(n, name, " has ", axis, " twice");
    seen[axis] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckAscending(const InferContext& context, int n,
                            absl::string_view name) {
  const auto list = context.attributes.GetInts(name);
  for (size_t i = 1; i < list.size(); ++i) {
    if (list[i - 1] < list[i]) continue;
    return Violates(n, name, " has ", list[i], " after ", list[i - 1],
                    ", must ascend");
  }
  return absl::OkStatus();
}

absl::Status CheckLength(const InferContext& context, int n,
                         absl::string_view name, size_t size) {
  const auto list = context.attributes.GetInts(name);
  if (list.size() == size) return absl::OkStatus();
  return Violates(n, name, " has ", list.size(), " entries, must have ",
                  size);
}

absl::Status CheckCombiner(const InferContext& context, int takes, int gives,
                           size_t count) {
  const Signature& called = *context.called[0];
  Signature expected;
  for (size_t i = 0; i < 2 * count; ++i) {
    expected.parameters.push_back(
        Shape::Scalar(context.operands[i % count].dtype()));
  }
  expected.results.assign(expected.parameters.begin(),
                          expected.parameters.begin() + count);
  if (called.parameters != expected.parameters) {
    return Violates(takes, "the computation is ", called.ToString(),
                    ", must take the parameters of ", expected.ToString());
  }
  if (called.results != expected.results) {
    return Violates(gives, "the computation is ", called.ToString(),
                    ", must give the results of ", expected.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> MakeResult(int n, DType dtype,
                                 absl::Span<const int64_t> dims) {
  auto shape = Shape::Make(dtype, dims);
  if (!shape.ok()) return Violates(n, shape.status().message());
  return shape;
}

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

AxisMap EmptyAxes(const InferContext& context,
                  absl::Span<const Shape> results) {
  AxisMap map;
  for (const Shape& s : context.operands) {
    map.operands.emplace_back(s.rank(), kNoFactor);
  }
  for (const Shape& s : results) {
    map.results.emplace_back(s.rank(), kNoFactor);
  }
  return map;
}

AxisMap OpaqueRest(AxisMap map, const InferContext& context,
                   absl::Span<const Shape> results) {
  auto fill = [&map](AxisMap::Axes& axes, const Shape& shape) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (axes[i] != kNoFactor) continue;
      axes[i] = map.AddFactor(AxisKind::kOpaque, shape.dim(i));
    }
  };
  for (size_t i = 0; i < context.operands.size(); ++i) {
    fill(map.operands[i], context.operands[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    fill(map.results[i], results[i]);
  }
  return map;
}

AxisMap ElementwiseAxes(const InferContext& context,
                        absl::Span<const Shape> results) {
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < results[0].rank(); ++i) {
    const int factor =
        map.AddFactor(AxisKind::kParallel, results[0].dim(i));
    for (AxisMap::Axes& axes : map.operands) {
      if (!axes.empty()) axes[i] = factor;
    }
    map.results[0][i] = factor;
  }
  return map;
}

AxisMap AxesBesideDimension(const InferContext& context,
                            absl::Span<const Shape> results) {
  const Shape& input = context.operands[0];
  const int64_t axis = context.attributes.GetInt("dimension");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < input.rank(); ++i) {
    const int factor = map.AddFactor(
        i == axis ? AxisKind::kOpaque : AxisKind::kParallel, input.dim(i));
    for (size_t n = 0; n < results.size(); ++n) {
      map.operands[n][i] = factor;
      map.results[n][i] = factor;
    }
  }
  return map;
}

AxisMap OpaqueAxes(const InferContext& context,
                   absl::Span<const Shape> results) {
  return OpaqueRest(EmptyAxes(context, results), context, results);
}

absl::StatusOr<Shapes> InferElementwise(const InferContext& context) {
  const Shape& first = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  HAWSER_RETURN_IF_ERROR(CheckSameDims(context, 3));
  const DType dtype = ResultDType(context);
  if (dtype == first.dtype()) return Shapes{first};
  // `complex` doubles the bytes of an element.
  HAWSER_ASSIGN_OR_RETURN(Shape result, MakeResult(3, dtype, first.dims()));
  return Shapes{std::move(result)};
}

}  // namespace hawser
