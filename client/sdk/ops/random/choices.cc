#include "client/sdk/ops/random/choices.h"

#include <cmath>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/indexing/subscript.h"
#include "client/sdk/ops/random/distributions.h"
#include "client/sdk/ops/random/keys.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/scan.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/ops/sorting/sort.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::OpScope;

// Sorted by new words so often that any two orders of `count` entries are nearly
// as likely, though words may be equal: 3 ln(count) / ln(2^32) times.
int64_t ShuffleTurns(int64_t count) {
  return static_cast<int64_t>(
      std::ceil(3 * std::log(static_cast<double>(count)) / std::log(0x1p32)));
}

// Returns which entries of an axis are chosen: s32[samples], or an invalid
// tensor.
Tensor Chosen(const OpScope& s, const Tensor& key, int64_t size,
              int64_t samples, const ChoiceOptions& options) {
  if (!options.weights.has_value()) {
    if (options.replace) return RandomInt(key, {samples}, 0, size);
    return SliceAlongAxis(RandomPermutation(key, size), 0, samples, 0);
  }
  const Tensor weights = s.As(*options.weights);
  if (weights.dtype() == DType::kInvalid) return weights;
  if (!IsFloat(weights.dtype()) || weights.rank() != 1 ||
      weights.shape().dim(0) != size) {
    return s.Fail(InvalidArgument("weights are ", weights.shape().ToString(),
                                  ", must be ", size, " floats"));
  }
  const OpScope::Formula numbers;
  if (options.replace) {
    const Tensor sums = CumulativeSum(weights);
    const Tensor u = RandomUniform(key, {samples}, weights.dtype());
    return SearchSorted(sums, sums[{size - 1}] * (1 - u));
  }
  const Tensor order = ArgSort(
      -RandomGumbel(key, {size}, weights.dtype()) - Log(weights));
  return SliceAlongAxis(order, 0, samples, 0);
}

}  // namespace

Tensor RandomCategorical(const Operand& key, const Operand& logits,
                         int64_t axis) {
  const OpScope s("RandomCategorical", {&key, &logits});
  if (!s.ok()) return s.error();
  const Tensor x = s.As(logits);
  if (!IsFloat(x.dtype())) {
    return s.Fail(
        InvalidArgument("logits must be floats, not ", DTypeName(x.dtype())));
  }
  const auto along = NormalizeAxis(axis, x.rank());
  if (!along.ok()) return s.Fail(along.status());
  return ArgMax(x + RandomGumbel(key, x.shape().dims(), x.dtype()),
                {.axis = *along});
}

Tensor RandomChoice(const Operand& key, const Operand& x, int64_t samples,
                    const ChoiceOptions& options) {
  const OpScope s("RandomChoice", {&key, &x}, {{&samples, 1}});
  if (!s.ok()) return s.error();
  const Tensor own = sdk::KeyOf(s, key), all = s.As(x);
  if (own.dtype() == DType::kInvalid) return own;
  if (all.dtype() == DType::kInvalid) return all;
  const auto axis = NormalizeAxis(options.axis, all.rank());
  if (!axis.ok()) return s.Fail(axis.status());
  const int64_t size = all.shape().dim(*axis);
  if (samples < 0 || (samples > 0 && size == 0) ||
      (!options.replace && samples > size)) {
    return s.Fail(
        InvalidArgument(samples, " samples of ", size,
                        options.replace ? " entries" : " entries, each once"));
  }
  return Take(all, Chosen(s, own, size, samples, options), *axis);
}

Tensor RandomShuffle(const Operand& key, const Operand& x, int64_t axis,
                     bool independent) {
  const OpScope s("RandomShuffle", {&key, &x});
  if (!s.ok()) return s.error();
  Tensor rest = sdk::KeyOf(s, key), all = s.As(x);
  if (rest.dtype() == DType::kInvalid) return rest;
  if (all.dtype() == DType::kInvalid) return all;
  const auto along = NormalizeAxis(axis, all.rank());
  if (!along.ok()) return s.Fail(along.status());
  const int64_t size = all.shape().dim(*along);
  const int64_t sorted = independent ? all.shape().num_elements() : size;
  if (sorted < 2) return all;
  const Dims dims = independent ? all.shape().dims() : Dims{size};
  const int64_t by = independent ? *along : 0;
  Tensor order = Iota(DType::kS32, dims, by);
  const OpScope::Formula numbers;
  for (int64_t turn = ShuffleTurns(sorted); turn > 0; --turn) {
    const Tensor keys = RandomSplit(rest);
    rest = keys[{0}];
    order = TakeAlongAxis(
        order, ArgSort(RandomBits(keys[{1}], dims), {.axis = by}), by);
  }
  return independent ? TakeAlongAxis(all, order, by)
                     : Take(all, order, *along);
}

Tensor RandomPermutation(const Operand& key, int64_t count) {
  const OpScope s("RandomPermutation", {&key}, {{&count, 1}});
  if (!s.ok()) return s.error();
  if (count < 0) {
    return s.Fail(InvalidArgument("there are no ", count, " numbers"));
  }
  return RandomShuffle(key, Iota(DType::kS32, {count}, 0, s.where()));
}

}  // namespace hawser
