#include "core/ops/contraction/dot.h"

#include <bitset>

namespace hawser {
namespace {

// One operand of a dot_general and its axes.
struct DotSide {
  DotSide(const InferContext& context, bool left)
      : name(left ? "lhs" : "rhs"),
        shape(context.operands[left ? 0 : 1]),
        batch(context.attributes.GetInts(left ? "lhs_batching_dimensions"
                                              : "rhs_batching_dimensions")),
        contracting(
            context.attributes.GetInts(left ? "lhs_contracting_dimensions"
                                            : "rhs_contracting_dimensions")) {}
  bool IsFree(int axis) const {
    return !Contains(batch, axis) && !Contains(contracting, axis);
  }

  absl::string_view name;
  const Shape& shape;
  absl::Span<const int64_t> batch, contracting;
};

absl::Status CheckSide(const DotSide& side) {
  std::bitset<kMaxRank> seen;
  for (const auto& axes : {side.batch, side.contracting}) {
    for (int64_t axis : axes) {
      if (axis < 0 || axis >= side.shape.rank()) {
        return Violates(5, "axis ", axis, " is no axis of ", side.name, " ",
                        side.shape.ToString());
      }
      if (seen[axis]) {
        return Violates(6, "axis ", axis, " of ", side.name, " stands twice");
      }
      seen[axis] = true;
    }
  }
  return absl::OkStatus();
}

// Constraint `n`: axes that stand at the same place have the same size.
absl::Status CheckPartners(int n, const DotSide& lhs, const DotSide& rhs,
                           absl::Span<const int64_t> left,
                           absl::Span<const int64_t> right) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (lhs.shape.dim(left[i]) == rhs.shape.dim(right[i])) continue;
    return Violates(n, "axis ", left[i], " of ", lhs.shape.ToString(),
                    " and axis ", right[i], " of ", rhs.shape.ToString(),
                    " differ in size");
  }
  return absl::OkStatus();
}

absl::Status CheckSides(const DotSide& lhs, const DotSide& rhs) {
  if (lhs.batch.size() != rhs.batch.size()) {
    return Violates(3, lhs.batch.size(), " batch axes left, ",
                    rhs.batch.size(), " right");
  }
  if (lhs.contracting.size() != rhs.contracting.size()) {
    return Violates(4, lhs.contracting.size(), " contracting axes left, ",
                    rhs.contracting.size(), " right");
  }
  HAWSER_RETURN_IF_ERROR(CheckSide(lhs));
  HAWSER_RETURN_IF_ERROR(CheckSide(rhs));
  HAWSER_RETURN_IF_ERROR(CheckPartners(7, lhs, rhs, lhs.batch, rhs.batch));
  return CheckPartners(8, lhs, rhs, lhs.contracting, rhs.contracting);
}

absl::Status CheckResultDType(const InferContext& context) {
  if (!context.attributes.Has("result_dtype")) return absl::OkStatus();
  const DType from = context.operands[0].dtype();
  const DType to = context.attributes.GetDType("result_dtype");
  if (WidensProduct(from, to)) return absl::OkStatus();
  return Violates(10, "result_dtype is ", DTypeName(to),
                  ", must be a wider dtype of the kind of ", DTypeName(from));
}

}  // namespace

bool WidensProduct(DType from, DType to) {
  return InfoOf(from).kind == InfoOf(to).kind && BitWidth(to) > BitWidth(from);
}

DType ProductDType(const Attributes& attributes, DType from) {
  const DType wide = attributes.GetDType("result_dtype");
  return wide == DType::kInvalid ? from : wide;
}

absl::StatusOr<Shapes> InferDotGeneral(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  const DotSide lhs(context, true);
  const DotSide rhs(context, false);
  HAWSER_RETURN_IF_ERROR(CheckSides(lhs, rhs));
  HAWSER_RETURN_IF_ERROR(CheckResultDType(context));
  Dims dims;
  for (int64_t axis : lhs.batch) dims.push_back(lhs.shape.dim(axis));
  for (const DotSide* side : {&lhs, &rhs}) {
    for (int i = 0; i < side->shape.rank(); ++i) {
      if (side->IsFree(i)) dims.push_back(side->shape.dim(i));
    }
  }
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(9, ResultDType(context), dims));
  return Shapes{std::move(result)};
}

AxisMap DotGeneralAxes(const InferContext& context,
                       absl::Span<const Shape> results) {
  const DotSide lhs(context, true);
  const DotSide rhs(context, false);
  AxisMap map = EmptyAxes(context, results);
  int to = 0;
  for (size_t i = 0; i < lhs.batch.size(); ++i) {
    const int factor =
        map.AddFactor(AxisKind::kParallel, results[0].dim(to));
    map.operands[0][lhs.batch[i]] = factor;
    map.operands[1][rhs.batch[i]] = factor;
    map.results[0][to++] = factor;
  }
  for (int n : {0, 1}) {
    const DotSide& side = n == 0 ? lhs : rhs;
    for (int i = 0; i < side.shape.rank(); ++i) {
      if (!side.IsFree(i)) continue;
      map.operands[n][i] =
          map.AddFactor(AxisKind::kParallel, side.shape.dim(i));
      map.results[0][to++] = map.operands[n][i];
    }
  }
  for (size_t i = 0; i < lhs.contracting.size(); ++i) {
    const int factor = map.AddFactor(AxisKind::kContracted,
                                     lhs.shape.dim(lhs.contracting[i]));
    map.operands[0][lhs.contracting[i]] = factor;
    map.operands[1][rhs.contracting[i]] = factor;
  }
  return map;
}

}  // namespace hawser
