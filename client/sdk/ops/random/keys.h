// Keys of random numbers. The same key gives the same numbers, on every
// machine.
#ifndef HAWSER_CLIENT_SDK_OPS_RANDOM_KEYS_H_
#define HAWSER_CLIENT_SDK_OPS_RANDOM_KEYS_H_

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"

namespace hawser {

// A key is u32[2]. It is used once: RandomSplit makes as many of one as are
// needed.
//   Tensor keys = RandomSplit(RandomKey(42), 2);
//   Tensor x = RandomNormal(keys[{0}], {256, 10});
//
// Under Errors, which are all sticky and kInvalidArgument, "as usual" means a
// key that is not u32[2], an axis or a dtype that is not possible. Grad: zero
// by the key. Keys and bits are those of Nx, and of JAX with
// jax_threefry_partitionable off.

// A key. seed: an integer, or a scalar of them; 64 bits of it count. Result:
// u32[2]. Errors: as usual; another operand. Grad: zero. Source: Nx.Random key.
Tensor RandomKey(const Operand& seed);

// Keys of a key. parts: how many, 1 or more. Result: u32[parts, 2]. Errors: as
// usual; no parts. Grad: zero. Source: Nx.Random split.
Tensor RandomSplit(const Operand& key, int64_t parts = 2);

// A key of a key and a number, such as that of an iteration. data: integers of
// any shape; 64 bits of each count. Result: u32[data..., 2]. Errors: as usual;
// no integers. Grad: zero. Source: Nx.Random fold_in.
Tensor RandomFoldIn(const Operand& key, const Operand& data);

// Bits. dtype: an unsigned integer's. Result: of sizes dims; each value is as
// likely as any other. Errors: as usual; 2^32 words of 32 bits or more. Grad:
// zero. Source: Threefry-2x32; Nx.Random.
Tensor RandomBits(const Operand& key, absl::Span<const int64_t> dims,
                  DType dtype = DType::kU32);

// Returns the random words of the caller's own counters. counters: u32 of any
// shape; in row-major order the first half is paired with the second, the
// middle one of an odd number with 0. Result: u32 of rank 1, a word for each.
// Errors: as usual; counters that are not u32. Grad: zero. Source:
// Threefry-2x32 in 20 rounds; Nx.Random threefry2x32.
Tensor Threefry2x32(const Operand& key, const Operand& counters);

// A key that moves on by itself, for programs outside Jit:
//   RandomKeys keys(42);
//   Tensor x = RandomNormal(keys.Next(), {3});
// Inside Jit every call of the traced function would get the same numbers, so
// Next is an error there. Not thread-safe.
class RandomKeys {
 public:
  // key: as RandomKey makes it.
  explicit RandomKeys(Tensor key) : key_(std::move(key)) {}
  explicit RandomKeys(int64_t seed) : RandomKeys(RandomKey(seed)) {}

  // A key that was not given before: the second of RandomSplit, the first of
  // which stays here. Errors: sticky kFailedPrecondition where a function, loop
  // or branch is traced.
  Tensor Next(SourceLocation where = SourceLocation::Current());

 private:
  Tensor key_;
};

namespace sdk {

class OpScope;

// The key as a tensor, or an invalid one: another shape or dtype.
Tensor KeyOf(const OpScope& s, const Operand& key);

}  // namespace sdk
}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_RANDOM_KEYS_H_
