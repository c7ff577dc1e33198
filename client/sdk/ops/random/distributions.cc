#include "client/sdk/ops/random/distributions.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "client/sdk/functions/control_flow.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/interpolation.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/elementwise/special.h"
#include "client/sdk/ops/indexing/subscript.h"
#include "client/sdk/ops/random/keys.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::OpScope;

// Says how random bits become the fraction of a float from 1 to below 2.
struct FloatRow {
  DType dtype, bits;
  int shift;     // what does not fit the fraction
  uint64_t one;  // the bits of 1
  double smallest, before_one;  // the least normal one; the next to 1 below it
};
constexpr FloatRow kFloatRows[] = {
    {DType::kF16, DType::kU16, 6, 0x3C00, 0x1p-14, 1 - 0x1p-11},
    {DType::kBF16, DType::kU16, 9, 0x3F80, 0x1p-126, 1 - 0x1p-8},
    {DType::kF32, DType::kU32, 9, 0x3F800000, 0x1p-126, 1 - 0x1p-24},
    {DType::kF64, DType::kU64, 12, 0x3FF0000000000000, 0x1p-1022, 1 - 0x1p-53},
};

const FloatRow* RowOf(DType dtype) {
  for (const FloatRow& row : kFloatRows) {
    if (row.dtype == dtype) return &row;
  }
  return nullptr;
}

// The row of a dtype that is made of floats' bits, or an error in `*error`.
const FloatRow* RowOr(const OpScope& s, DType dtype, Tensor* error) {
  const FloatRow* const row = RowOf(dtype);
  if (row == nullptr) {
    *error = s.Fail(InvalidArgument("makes f16, bf16, f32 and f64, not ",
                                    DTypeName(dtype)));
  }
  return row;
}

// Draws numbers from 0 to below 1.
Tensor Unit(const OpScope& s, const FloatRow& row, const Operand& key,
            absl::Span<const int64_t> dims) {
  const Tensor bits = RandomBits(key, dims, row.bits);
  const OpScope::Formula numbers;
  const Tensor fraction = RightShiftLogical(bits, row.shift);
  return Bitcast(BitwiseOr(fraction, s.ConstantOf(row.one, row.bits)),
                 row.dtype) -
         1;
}

// Maps `unit` to [low, high); the distance of the bounds must be a number of
// the dtype.
Tensor Between(const Tensor& unit, const Tensor& low, const Tensor& high) {
  return Maximum(unit * (high - low) + low, low);
}

// True if both bounds are numbers in the program whose distance the dtype can
// hold.
bool AreNear(const Operand& low, const Operand& high, DType dtype) {
  if (!low.is_number() || !high.is_number()) return false;
  const auto from = low.number().ToLiteral(DType::kF64);
  const auto to = high.number().ToLiteral(DType::kF64);
  if (!from.ok() || !to.ok()) return false;
  const double most = dtype == DType::kF64   ? 0x1p1023
                      : dtype == DType::kF16 ? 0x1p15
                                             : 0x1p127;
  return std::abs(to->data<double>()[0] - from->data<double>()[0]) < most;
}

// A parameter of a distribution, at each of its numbers.
Tensor Spread(const OpScope& s, const Operand& parameter, DType dtype,
              absl::Span<const int64_t> dims) {
  if (IsComplex(sdk::DTypeOf(parameter))) {
    return s.Fail(InvalidArgument("parameters must be real"));
  }
  return s.BroadcastTo(s.As(parameter, dtype), dims);
}

// A float that the function brings along.
Tensor Own(const OpScope& s, double value, const FloatRow& row) {
  return s.ConstantOf(value, row.dtype);
}

Tensor Normal(const OpScope& s, const FloatRow& row, const Operand& key,
              absl::Span<const int64_t> dims) {
  const OpScope::Formula numbers;
  const Tensor u = Between(Unit(s, row, key, dims),
                           Own(s, -row.before_one, row), Own(s, 1, row));
  return ErfInv(u) * std::sqrt(2.0);
}

// One turn of Marsaglia and Tsang's, with `gamma.d` and `gamma.c` of a shape of
// 1 at least: candidates, and which are accepted.
struct GammaShape {
  Tensor d, c;
};
std::pair<Tensor, Tensor> TryGamma(const OpScope& s, const FloatRow& row,
                                   const GammaShape& gamma, const Tensor& key) {
  const Dims dims = gamma.d.shape().dims();
  const OpScope::Formula numbers;
  const Tensor keys = RandomSplit(key);
  const Tensor x = Normal(s, row, keys[{0}], dims);
  const Tensor root = 1 + gamma.c * x;
  const Tensor v = root * root * root;
  const Tensor u = Between(Unit(s, row, keys[{1}], dims),
                           Own(s, row.smallest, row), Own(s, 1, row));
  const Tensor bound = x * x / 2 + gamma.d * (1 - v + Log(v));
  return {gamma.d * v, LogicalAnd(root > 0, Log(u) < bound)};
}

}  // namespace

Tensor RandomUniform(const Operand& key, absl::Span<const int64_t> dims,
                     DType dtype, const Operand& low, const Operand& high) {
  const OpScope s("RandomUniform", {&key, &low, &high}, {dims});
  if (!s.ok()) return s.error();
  Tensor error;
  const FloatRow* const row = RowOr(s, dtype, &error);
  if (row == nullptr) return error;
  const Tensor from = Spread(s, low, dtype, dims);
  const Tensor to = Spread(s, high, dtype, dims);
  const OpScope::Formula numbers;
  const Tensor unit = Unit(s, *row, key, dims);
  const Tensor near = Between(unit, from, to);
  if (AreNear(low, high, dtype)) return near;
  return sdk::Between(from, to, to - from, near, unit);
}

Tensor RandomNormal(const Operand& key, absl::Span<const int64_t> dims,
                    DType dtype, const Operand& mean,
                    const Operand& deviation) {
  const OpScope s("RandomNormal", {&key, &mean, &deviation}, {dims});
  if (!s.ok()) return s.error();
  Tensor error;
  const FloatRow* const row = RowOr(s, dtype, &error);
  if (row == nullptr) return error;
  const Tensor about = Spread(s, mean, dtype, dims);
  const Tensor times = Spread(s, deviation, dtype, dims);
  return Normal(s, *row, key, dims) * times + about;
}

Tensor RandomTruncatedNormal(const Operand& key, const Operand& low,
                             const Operand& high,
                             absl::Span<const int64_t> dims, DType dtype) {
  const OpScope s("RandomTruncatedNormal", {&key, &low, &high}, {dims});
  if (!s.ok()) return s.error();
  Tensor error;
  const FloatRow* const row = RowOr(s, dtype, &error);
  if (row == nullptr) return error;
  const Tensor from = Spread(s, low, dtype, dims);
  const Tensor to = Spread(s, high, dtype, dims);
  const OpScope::Formula numbers;
  const double root = std::sqrt(2.0);
  const Tensor u =
      Between(Unit(s, *row, key, dims), Erf(from / root), Erf(to / root));
  const double infinity = std::numeric_limits<double>::infinity();
  // Rounded values are kept off the bounds.
  return Clip(ErfInv(u) * root, NextAfter(from, Own(s, infinity, *row)),
              NextAfter(to, Own(s, -infinity, *row)));
}

Tensor RandomGumbel(const Operand& key, absl::Span<const int64_t> dims,
                    DType dtype) {
  const OpScope s("RandomGumbel", {&key}, {dims});
  if (!s.ok()) return s.error();
  Tensor error;
  const FloatRow* const row = RowOr(s, dtype, &error);
  if (row == nullptr) return error;
  const OpScope::Formula numbers;
  const Tensor u = Between(Unit(s, *row, key, dims),
                           Own(s, row->smallest, *row), Own(s, 1, *row));
  return -Log(-Log(u));
}

Tensor RandomExponential(const Operand& key, absl::Span<const int64_t> dims,
                         DType dtype) {
  const OpScope s("RandomExponential", {&key}, {dims});
  if (!s.ok()) return s.error();
  Tensor error;
  const FloatRow* const row = RowOr(s, dtype, &error);
  if (row == nullptr) return error;
  return -Log1p(-Unit(s, *row, key, dims));
}

Tensor RandomGamma(const Operand& key, const Operand& shape,
                   absl::Span<const int64_t> dims, DType dtype) {
  const OpScope s("RandomGamma", {&key, &shape}, {dims});
  if (!s.ok()) return s.error();
  const FloatRow* const row = RowOf(dtype);
  if (row == nullptr || BitWidth(dtype) < 32) {
    return s.Fail(
        InvalidArgument("makes f32 and f64, not ", DTypeName(dtype)));
  }
  const Tensor given = Spread(s, shape, dtype, dims);
  const Tensor own = sdk::KeyOf(s, key);
  const OpScope::Formula numbers;
  const Tensor keys = RandomSplit(own);
  // A shape below 1 is brought above it, and its number made smaller.
  const Tensor is_small = given < 1;
  const Tensor above = Select(is_small, given + 1, given);
  const GammaShape gamma{above - 1.0 / 3, Rsqrt(9 * above - 3)};
  const Tensor is_good = given > 0;
  auto [i, missing, found] = While(
      std::tuple(s.ConstantOf(0, DType::kU32), is_good,
                 s.BroadcastTo(s.ConstantOf(0, dtype), dims)),
      [](Tensor, Tensor missing, Tensor) { return Any(missing); },
      [&](Tensor i, Tensor missing, Tensor found) {
        const OpScope::Formula numbers;
        const auto [value, accepted] =
            TryGamma(s, *row, gamma, RandomFoldIn(keys[{0}], i));
        const Tensor fits = LogicalAnd(missing, accepted);
        return std::tuple(i + 1, LogicalAnd(missing, LogicalNot(fits)),
                          Select(fits, value, found));
      },
      s.where());
  const Tensor u = 1 - Unit(s, *row, keys[{1}], dims);  // not 0
  const Tensor less = Select(is_small, Power(u, 1 / given), 1);
  return Select(is_good, found * less,
                Own(s, std::numeric_limits<double>::quiet_NaN(), *row));
}

Tensor RandomBernoulli(const Operand& key, const Operand& probability,
                       absl::Span<const int64_t> dims) {
  const OpScope s("RandomBernoulli", {&key, &probability}, {dims});
  if (!s.ok()) return s.error();
  const DType given = sdk::DTypeOf(probability);
  const DType dtype = IsFloat(given) && !probability.is_number()
                          ? given
                          : DType::kF32;
  const Tensor below = Spread(s, probability, dtype, dims);
  return Unit(s, *RowOf(dtype), key, dims) < below;
}

Tensor RandomInt(const Operand& key, absl::Span<const int64_t> dims,
                 const Operand& low, const Operand& high, DType dtype) {
  const OpScope s("RandomInt", {&key, &low, &high}, {dims});
  if (!s.ok()) return s.error();
  if (!IsInteger(dtype) || BitWidth(dtype) < 8) {
    return s.Fail(InvalidArgument("makes integers of 8 to 64 bits, not ",
                                  DTypeName(dtype)));
  }
  for (const Operand* bound : {&low, &high}) {
    if (IsInteger(sdk::DTypeOf(*bound))) continue;
    return s.Fail(InvalidArgument("the bounds must be integers, not ",
                                  DTypeName(sdk::DTypeOf(*bound))));
  }
  const int width = static_cast<int>(BitWidth(dtype));
  const DType bits = width == 8    ? DType::kU8
                     : width == 16 ? DType::kU16
                     : width == 32 ? DType::kU32
                                   : DType::kU64;
  const DType work = width > 16 ? DType::kU64 : DType::kU32;
  const DType wide = dtype == DType::kU64 ? DType::kU64 : DType::kS64;
  const Tensor from = Spread(s, low, wide, dims);
  const Tensor to = Spread(s, high, wide, dims);
  const OpScope::Formula numbers;
  const Tensor span =
      s.Convert(Select(to > from, to - from, s.ConstantOf(1, wide)), work);
  // Twice as many bits as the result has, modulo the span.
  Dims both = {2};
  both.insert(both.end(), dims.begin(), dims.end());
  const Tensor words = s.Convert(RandomBits(key, both, bits), work);
  const Tensor above = Remainder(s.Reshape(words[{0}], dims), span);
  const Tensor below = Remainder(s.Reshape(words[{1}], dims), span);
  const Tensor half =
      Remainder(s.ConstantOf(uint64_t{1} << (width / 2), work), span);
  const Tensor unit = Remainder(half * half, span);
  const Tensor chosen = Remainder(above * unit + below, span);
  return s.Convert(s.Convert(chosen, wide) + from, dtype);
}

}  // namespace hawser
