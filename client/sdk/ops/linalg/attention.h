// Attention: what queries find among keys.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_ATTENTION_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_ATTENTION_H_

#include <optional>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Attention(q, k, v, {.causal = true}).
struct AttentionOptions {
  // Scores are multiplied by it; unset, by 1 / sqrt(d).
  std::optional<double> scale = std::nullopt;
  bool causal = false;  // a query sees the keys up to its own place
  // bool: where a query sees a key; and what is added to scores, before that.
  // Both broadcast to [batch, heads, queries, keys].
  std::optional<Tensor> mask = std::nullopt;
  std::optional<Tensor> bias = std::nullopt;
};

// For each query the mean of the values, weighted by the softmax of the scores
// q . k * scale + bias over the keys it sees. q: floats [batch, queries, heads,
// d]. k: [batch, keys, groups, d], v: [batch, keys, groups, e], where heads are
// a multiple of groups: so many heads in a row share one; dtypes promote.
// options: see above. Scores and weights are f32 of halves, and weights are
// rounded to the dtype before the second product. Result: [batch, queries,
// heads, e]; 0 for a query that sees no key. Errors: sticky kInvalidArgument
// for ranks, sizes that do not fit, complex numbers, a mask that is no bool.
// Grad: by q, k, v and bias; the scores are computed again, not kept. Source:
// JAX nn.dot_product_attention.
Tensor Attention(const Operand& q, const Operand& k, const Operand& v,
                 const AttentionOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_ATTENTION_H_
