// Random numbers of known distributions, each a function of a key.
#ifndef HAWSER_CLIENT_SDK_OPS_RANDOM_DISTRIBUTIONS_H_
#define HAWSER_CLIENT_SDK_OPS_RANDOM_DISTRIBUTIONS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"

namespace hawser {

// key: u32[2], see keys.h. dims: of the result. dtype: of the result, f16, bf16,
// f32 or f64 unless said otherwise. Parameters of a distribution are numbers, or
// tensors that broadcast to dims. Under Errors, which are all sticky and
// kInvalidArgument, "as usual" means a key that is not u32[2], a dtype that is
// not made, what does not broadcast. Grad: zero by the key; by the parameters
// as the formula has it, unless said otherwise. RandomInt, and RandomUniform
// from 0 to 1, are the same on every engine; the others within ulp.

// Evenly from low to below high. Errors: as usual. Grad: g, by its share, to low
// and high. Source: Nx.Random uniform_split.
Tensor RandomUniform(const Operand& key, absl::Span<const int64_t> dims,
                     DType dtype = DType::kF32, const Operand& low = 0,
                     const Operand& high = 1);

// Normally distributed about a mean. Errors: as usual. Grad: g to the mean, g
// times the number to the deviation. Source: Nx.Random normal_split.
Tensor RandomNormal(const Operand& key, absl::Span<const int64_t> dims,
                    DType dtype = DType::kF32, const Operand& mean = 0,
                    const Operand& deviation = 1);

// Normally distributed with mean 0 and deviation 1, between two bounds. Errors:
// as usual. Grad: by the formula. Source: JAX truncated_normal.
Tensor RandomTruncatedNormal(const Operand& key, const Operand& low,
                             const Operand& high,
                             absl::Span<const int64_t> dims,
                             DType dtype = DType::kF32);

// -Log(-Log(u)) of even numbers u. Errors: as usual. Grad: zero. Source:
// Nx.Random gumbel_split.
Tensor RandomGumbel(const Operand& key, absl::Span<const int64_t> dims,
                    DType dtype = DType::kF32);

// Exponentially distributed with mean 1. Errors: as usual. Grad: zero. Source:
// JAX exponential.
Tensor RandomExponential(const Operand& key, absl::Span<const int64_t> dims,
                         DType dtype = DType::kF32);

// Gamma distributed with scale 1. shape: positive. dtype: f32 or f64. Result: NaN
// where shape is not positive. Errors: as usual. Grad: kUnimplemented by the
// shape. Source: G. Marsaglia and W. W. Tsang, A simple method for generating
// gamma variables, 2000.
Tensor RandomGamma(const Operand& key, const Operand& shape,
                   absl::Span<const int64_t> dims, DType dtype = DType::kF32);

// Draws true with this probability. Result: bool. Errors: as usual; a
// probability that is complex. Grad: zero. Source: JAX bernoulli.
Tensor RandomBernoulli(const Operand& key, const Operand& probability,
                       absl::Span<const int64_t> dims);

// Integers from low to below high; low where high is not above it. dtype: an
// integer's. Result: nearly even: one of the span's numbers is at most
// 2^-width more frequent than another. Errors: as usual. Grad: zero. Source:
// Nx.Random randint_split.
Tensor RandomInt(const Operand& key, absl::Span<const int64_t> dims,
                 const Operand& low, const Operand& high,
                 DType dtype = DType::kS32);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_RANDOM_DISTRIBUTIONS_H_
