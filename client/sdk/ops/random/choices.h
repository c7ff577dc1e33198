// Random choices of entries and their order, each a function of a key.
#ifndef HAWSER_CLIENT_SDK_OPS_RANDOM_CHOICES_H_
#define HAWSER_CLIENT_SDK_OPS_RANDOM_CHOICES_H_

#include <cstdint>
#include <optional>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// key: u32[2], see keys.h. Under Errors, which are all sticky and
// kInvalidArgument, "as usual" means a key that is not u32[2], an axis there is
// not. Grad: zero by the key.

// Draws a class, each by its weight. logits: floats, the logarithms of weights
// along an axis. Result: s32 of logits' sizes without the axis. Errors: as
// usual; no floats; no classes. Grad: zero. Source: JAX categorical.
Tensor RandomCategorical(const Operand& key, const Operand& logits,
                         int64_t axis = -1);

// RandomChoice(key, x, 10, {.axis = 1, .replace = false}).
struct ChoiceOptions {
  int64_t axis = 0;
  bool replace = true;  // an entry may be chosen again
  // The weights of the entries: floats of the axis's size, 0 or more. Unset:
  // all alike.
  std::optional<Tensor> weights = std::nullopt;
};
// Entries of an axis. x: of any dtype. samples: how many; without replacing, at
// most the axis's size. Result: x's sizes with samples for the axis. Errors: as
// usual; more samples than that; no entries; weights of another size. Grad: to
// the entries chosen. Source: Nx.Random choice.
Tensor RandomChoice(const Operand& key, const Operand& x, int64_t samples,
                    const ChoiceOptions& options = {});

// The entries of an axis in another order. x: of any dtype. independent: each
// run of the axis in an order of its own. Result: x's shape. Errors: as usual.
// Grad: moved back. Source: Nx.Random shuffle.
Tensor RandomShuffle(const Operand& key, const Operand& x, int64_t axis = 0,
                     bool independent = false);

// 0, 1, ... in another order. count: how many. Result: s32[count]. Errors: as
// usual; a negative count. Grad: zero. Source: Nx.Random shuffle of iota.
Tensor RandomPermutation(const Operand& key, int64_t count);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_RANDOM_CHOICES_H_
