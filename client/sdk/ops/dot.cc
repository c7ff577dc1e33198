#include "client/sdk/ops/dot.h"

#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"

namespace hawser {
namespace {

using sdk::CommonDType;
using sdk::OpScope;
using sdk::RankOf;
using sdk::ToNumeric;

absl::StatusOr<Dims> Normalized(const Dims& axes, int rank) {
  Dims out;
  for (int64_t axis : axes) {
    HAWSER_ASSIGN_OR_RETURN(out.emplace_back(), NormalizeAxis(axis, rank));
  }
  return out;
}

absl::StatusOr<Attributes> ToAttributes(const DotAxes& axes, int rank_a,
                                        int rank_b) {
  HAWSER_ASSIGN_OR_RETURN(Dims ca, Normalized(axes.contract_a, rank_a));
  HAWSER_ASSIGN_OR_RETURN(Dims cb, Normalized(axes.contract_b, rank_b));
  HAWSER_ASSIGN_OR_RETURN(Dims ba, Normalized(axes.batch_a, rank_a));
  HAWSER_ASSIGN_OR_RETURN(Dims bb, Normalized(axes.batch_b, rank_b));
  return Attributes{{"lhs_batching_dimensions", std::move(ba)},
                    {"lhs_contracting_dimensions", std::move(ca)},
                    {"rhs_batching_dimensions", std::move(bb)},
                    {"rhs_contracting_dimensions", std::move(cb)}};
}

// Sizes of the axes before the last two.
absl::Span<const int64_t> Batch(const Tensor& x) {
  return absl::MakeConstSpan(x.shape().dims()).subspan(0, x.rank() - 2);
}

// x with its batch axes broadcast to `batch`.
Tensor WithBatch(const OpScope& s, const Tensor& x, const Dims& batch) {
  Dims dims = batch;
  dims.push_back(x.dim(x.rank() - 2));
  dims.push_back(x.dim(x.rank() - 1));
  return s.BroadcastTo(x, dims);
}

}  // namespace

Tensor Dot(const Operand& a, const Operand& b, const DotOptions& options) {
  const OpScope s("Dot", {&a, &b});
  if (!s.ok()) return s.error();
  const int rank_a = RankOf(a), rank_b = RankOf(b);
  if (rank_a == 0 || rank_b == 0) {
    return options.dtype ? Dot(a, b, DotAxes(), options) : Multiply(a, b);
  }
  return Dot(a, b, {.contract_a = {-1}, .contract_b = {rank_b == 1 ? -1 : -2}},
             options);
}

Tensor Dot(const Operand& a, const Operand& b, const DotAxes& axes,
           const DotOptions& options) {
  const OpScope s("Dot", {&a, &b});
  if (!s.ok()) return s.error();
  auto attributes = ToAttributes(axes, RankOf(a), RankOf(b));
  if (!attributes.ok()) return s.Fail(attributes.status());
  const DType dtype = ToNumeric(CommonDType({&a, &b}));
  const DType result = options.dtype.value_or(dtype);
  if (result != dtype) attributes->Set("result_dtype", result);
  return s.Add(kDotGeneral, {s.As(a, dtype), s.As(b, dtype)},
               *std::move(attributes));
}

Tensor MatMul(const Operand& a, const Operand& b, const DotOptions& options) {
  const OpScope s("MatMul", {&a, &b});
  if (!s.ok()) return s.error();
  if (RankOf(a) == 0 || RankOf(b) == 0) {
    return s.Fail(InvalidArgument("takes no scalars"));
  }
  if (RankOf(b) == 1) return Dot(a, b, {{-1}, {-1}, {}, {}}, options);
  if (RankOf(a) == 1) {
    return Squeeze(MatMul(ExpandDims(a, 0), b, options), {-2});
  }
  const auto batch = sdk::BroadcastDims(Batch(a.tensor()), Batch(b.tensor()));
  if (!batch.ok()) return s.Fail(batch.status());
  DotAxes axes{.contract_a = {-1}, .contract_b = {-2}};
  for (int64_t i = 0; i < static_cast<int64_t>(batch->size()); ++i) {
    axes.batch_a.push_back(i);
    axes.batch_b.push_back(i);
  }
  return Dot(WithBatch(s, a.tensor(), *batch), WithBatch(s, b.tensor(), *batch),
             axes, options);
}

Tensor Outer(const Operand& a, const Operand& b) {
  const OpScope s("Outer", {&a, &b});
  if (!s.ok()) return s.error();
  const Tensor x = s.As(a);
  Tensor y = s.As(b);
  if (IsComplex(y.dtype())) y = Conjugate(y);
  const Tensor column = s.Reshape(x, {x.shape().num_elements(), 1});
  const Tensor row = s.Reshape(y, {1, y.shape().num_elements()});
  return column * row;
}

Tensor Adjoint(const Operand& x) {
  const OpScope s("Adjoint", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const int rank = value.rank();
  if (rank == 0) return s.Fail(InvalidArgument("takes no scalars"));
  Dims order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  if (rank > 1) std::swap(order[rank - 1], order[rank - 2]);
  const Tensor swapped = Transpose(value, order);
  return IsComplex(value.dtype()) ? Conjugate(swapped) : swapped;
}

}  // namespace hawser
