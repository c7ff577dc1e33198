#include "client/sdk/ops/linalg/attention.h"

#include <cmath>
#include <limits>
#include <utility>

#include "client/sdk/functions/custom_grad.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::OpScope;
using sdk::Values;

// Sizes, and what is to be done besides. Scores lie as [batch, groups, queries,
// heads of a group, keys], which is how the product of both gives them.
struct AttentionPlan {
  int64_t batch, queries, keys, groups, heads_of_group;
  double scale;
  bool causal, has_mask, has_bias;
  DType dtype, accurate;

  int64_t heads() const { return groups * heads_of_group; }
};

absl::Status CheckSizes(const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor* x : {&q, &k, &v}) {
    if (x->rank() == 4) continue;
    return InvalidArgument("takes tensors of rank 4, not ",
                           x->shape().ToString());
  }
  const bool fits = q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) &&
                    k.dim(1) == v.dim(1) && k.dim(2) == v.dim(2) &&
                    q.dim(3) == k.dim(3);
  if (!fits) {
    return InvalidArgument("q ", q.shape().ToString(), ", k ",
                           k.shape().ToString(), " and v ",
                           v.shape().ToString(), " do not fit each other");
  }
  if (k.dim(2) == 0 || q.dim(2) % k.dim(2) != 0) {
    return InvalidArgument(q.dim(2), " heads are no multiple of ", k.dim(2));
  }
  return absl::OkStatus();
}

// `given` broadcasts to scores.
absl::Status CheckBroadcasts(absl::string_view name, const Tensor& given,
                             const AttentionPlan& plan) {
  const Dims all = {plan.batch, plan.heads(), plan.queries, plan.keys};
  const auto dims = sdk::BroadcastDims(given.shape().dims(), all);
  if (dims.ok() && *dims == all) return absl::OkStatus();
  return InvalidArgument("the ", name, " ", given.shape().ToString(),
                         " does not broadcast to ", DimsToString(all));
}

// ---- how axes lie -----------------------------------------------------------

// [batch, heads, queries, keys], or what broadcasts to it, as scores lie.
Tensor AsScores(const Tensor& x, const AttentionPlan& plan) {
  Dims dims(4 - x.rank(), 1);
  for (const int64_t size : x.shape().dims()) dims.push_back(size);
  const bool all = dims[1] == plan.heads() && dims[1] != 1;
  return Transpose(
      Reshape(x, {dims[0], all ? plan.groups : 1, all ? plan.heads_of_group : 1,
                  dims[2], dims[3]}),
      {0, 1, 3, 2, 4});
}

// The gradient by `x`, which was broadcast so: summed over those axes.
Tensor SummedTo(const Tensor& scores, const Tensor& x,
                const AttentionPlan& plan) {
  const Tensor all =
      Reshape(Transpose(scores, {0, 1, 3, 2, 4}),
              {plan.batch, plan.heads(), plan.queries, plan.keys});
  Dims axes;
  for (int64_t axis = 0; axis < 4; ++axis) {
    const int64_t at = axis - (4 - x.rank());
    const bool repeats = at < 0 || x.dim(static_cast<int>(at)) == 1;
    if (repeats && all.dim(static_cast<int>(axis)) != 1) axes.push_back(axis);
  }
  const Tensor sums = axes.empty() ? all : Sum(all, {.axes = axes});
  return Convert(Reshape(sums, x.shape().dims()), x.dtype());
}

// [batch, queries, heads, d] with heads by groups, and back.
Tensor Grouped(const Tensor& x, const AttentionPlan& plan) {
  return Reshape(x, {plan.batch, plan.queries, plan.groups, plan.heads_of_group,
                     x.dim(3)});
}
Tensor Ungrouped(const Tensor& x, const AttentionPlan& plan) {
  return Reshape(Transpose(x, {0, 2, 1, 3, 4}),
                 {plan.batch, plan.queries, plan.heads(), x.dim(4)});
}

// ---- products ---------------------------------------------------------------

Tensor ProductOf(const Tensor& a, const Tensor& b, const DotAxes& axes,
                 DType dtype) {
  DotOptions options;
  if (dtype != a.dtype()) options.dtype = dtype;
  return Dot(a, b, axes, options);
}

// Multiplies queries, or gradients that lie as they do, with keys or values.
Tensor WithKeys(const Tensor& queries, const Tensor& keys,
                const AttentionPlan& plan) {
  return ProductOf(Grouped(queries, plan), keys, {{4}, {3}, {0, 2}, {0, 2}},
                   plan.accurate);
}
// Sums over keys.
Tensor OverKeys(const Tensor& scores, const Tensor& keys,
                const AttentionPlan& plan) {
  return Ungrouped(ProductOf(Convert(scores, plan.dtype), keys,
                             {{4}, {1}, {0, 1}, {0, 2}}, plan.dtype),
                   plan);
}
// Sums over queries and the heads of a group.
Tensor OverQueries(const Tensor& scores, const Tensor& queries,
                   const AttentionPlan& plan) {
  const Tensor sums =
      ProductOf(Convert(scores, plan.dtype), Grouped(queries, plan),
                {{2, 3}, {1, 3}, {0, 1}, {0, 2}}, plan.dtype);
  return Transpose(sums, {0, 2, 1, 3});
}

// ---- weights ----------------------------------------------------------------

// bool, as scores lie: where keys are seen; nothing where all are.
std::optional<Tensor> Seen(const Values& in, const AttentionPlan& plan) {
  std::optional<Tensor> seen;
  if (plan.has_mask) seen = AsScores(in.back(), plan);
  if (!plan.causal) return seen;
  const Dims dims = {plan.queries, 1, plan.keys};
  const Tensor earlier =
      Ge(Iota(DType::kS32, dims, 0), Iota(DType::kS32, dims, 2));
  return seen.has_value() ? LogicalAnd(*seen, earlier) : earlier;
}

// The softmax over the keys that are seen; 0 where none is. in: q, k, v, then
// bias and mask, where there are.
Tensor Weights(const Values& in, const AttentionPlan& plan) {
  Tensor scores = WithKeys(in[0], in[1], plan) * plan.scale;
  if (plan.has_bias) {
    scores = scores + Convert(AsScores(in[3], plan), plan.accurate);
  }
  const std::optional<Tensor> seen = Seen(in, plan);
  if (!seen.has_value()) return Softmax(scores);
  const Over keys = {.axes = {-1}, .keep_axes = true};
  scores = Select(*seen, scores, -std::numeric_limits<double>::infinity());
  const Tensor most = ReduceMax(scores, keys);
  const Tensor sizes = Exp(scores - Select(IsFinite(most), most, 0));
  const Tensor sum = Sum(sizes, keys);
  return sizes / Select(Eq(sum, 0), 1, sum);
}

Values Gradients(const Tensor& g, const Values& in, const AttentionPlan& plan) {
  const Tensor weights = Weights(in, plan);
  const Tensor by_weights = WithKeys(g, in[2], plan);
  const Over keys = {.axes = {-1}, .keep_axes = true};
  const Tensor by_scores =
      weights * (by_weights - Sum(by_weights * weights, keys));
  const Tensor by_products = by_scores * plan.scale;
  Values gradients = {OverKeys(by_products, in[1], plan),
                      OverQueries(by_products, in[0], plan),
                      OverQueries(weights, g, plan)};
  if (plan.has_bias) gradients.push_back(SummedTo(by_scores, in[3], plan));
  if (plan.has_mask) gradients.push_back(in.back());
  return gradients;
}

}  // namespace

Tensor Attention(const Operand& q, const Operand& k, const Operand& v,
                 const AttentionOptions& options) {
  const OpScope s("Attention", {&q, &k, &v});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::ToFloating(sdk::CommonDType({&q, &k, &v}));
  if (IsComplex(dtype)) {
    return s.Fail(InvalidArgument("takes no complex numbers"));
  }
  Values in = {s.As(q, dtype), s.As(k, dtype), s.As(v, dtype)};
  for (const Tensor& x : in) {
    if (x.dtype() == DType::kInvalid) return x;
  }
  if (const auto status = CheckSizes(in[0], in[1], in[2]); !status.ok()) {
    return s.Fail(status);
  }
  const AttentionPlan plan = {
      .batch = in[0].dim(0),
      .queries = in[0].dim(1),
      .keys = in[1].dim(1),
      .groups = in[1].dim(2),
      .heads_of_group = in[0].dim(2) / in[1].dim(2),
      .scale = options.scale.value_or(
          1 / std::sqrt(static_cast<double>(in[0].dim(3)))),
      .causal = options.causal,
      .has_mask = options.mask.has_value(),
      .has_bias = options.bias.has_value(),
      .dtype = dtype,
      .accurate = sdk::ToAccurate(dtype)};
  for (const auto& [name, given] :
       {std::pair("bias", options.bias), std::pair("mask", options.mask)}) {
    if (!given.has_value()) continue;
    if (!given->status().ok()) return s.Keep(given->status());
    const auto status = CheckBroadcasts(name, *given, plan);
    if (!status.ok()) return s.Fail(status);
    in.push_back(*given);
  }
  if (plan.has_mask && in.back().dtype() != DType::kBool) {
    return s.Fail(InvalidArgument("the mask is ", DTypeName(in.back().dtype()),
                                  ", no bool"));
  }
  const OpScope::Formula formula;
  return sdk::RunCustomGrad(
      in,
      [&](const Values& given) -> Values {
        return {OverKeys(Weights(given, plan), given[2], plan)};
      },
      [&](const Values& cotangents, const Values& given) {
        return Gradients(cotangents[0], given, plan);
      },
      s.where(), "attention")[0];
}

}  // namespace hawser
