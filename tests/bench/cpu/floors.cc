#include "tests/bench/cpu/floors.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/cpu/floors.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each target.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// y[i] = fn(x[i])
template <typename Fn>
void Map(const float* x, float* y, int64_t n, Fn fn) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    hn::StoreU(fn(hn::LoadU(d, x + i)), d, y + i);
  }
}

void Chain(const float* x, float* y, int64_t n) {
  const Floats d;
  const auto scale = hn::Set(d, kScale), shift = hn::Set(d, kShift);
  Map(x, y, n, [&](Vector v) HWY_ATTR {
    for (int k = 0; k < kSteps; ++k) v = hn::Add(hn::Mul(v, scale), shift);
    return v;
  });
}

// To the nearest bf16, halves to even; not of NaN.
Vector Rounded(Vector v) {
  const hn::RebindToUnsigned<Floats> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto up = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
  return hn::BitCast(Floats(), hn::And(up, hn::Set(du, 0xffff0000u)));
}

void ChainBf16(const BFloat16* x, BFloat16* y, int64_t n) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const hn::Rebind<uint16_t, Floats> d16;
  const auto* from = reinterpret_cast<const uint16_t*>(x);
  auto* to = reinterpret_cast<uint16_t*>(y);
  const auto scale = hn::Set(d, static_cast<float>(BFloat16(kScale)));
  const auto shift = hn::Set(d, static_cast<float>(BFloat16(kShift)));
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto bits = hn::PromoteTo(du, hn::LoadU(d16, from + i));
    auto v = hn::BitCast(d, hn::ShiftLeft<16>(bits));
    for (int k = 0; k < kSteps; ++k) {
      v = Rounded(hn::Add(Rounded(hn::Mul(v, scale)), shift));
    }
    const auto high = hn::ShiftRight<16>(hn::BitCast(du, v));
    hn::StoreU(hn::TruncateTo(d16, high), d16, to + i);
  }
}

void ChainThree(const float* x, const float* row, const float* column, float* y,
                int64_t rows, int64_t columns) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r) {
    const auto shift = hn::Set(d, column[r]);
    for (int64_t c = 0; c < columns; c += lanes) {
      const auto scale = hn::LoadU(d, row + c);
      auto v = hn::LoadU(d, x + r * columns + c);
      for (int k = 0; k < kSteps; ++k) v = hn::Add(hn::Mul(v, scale), shift);
      hn::StoreU(v, d, y + r * columns + c);
    }
  }
}

void Gelu(const float* x, float* y, int64_t n) {
  const Floats d;
  Map(x, y, n, [d](Vector v) HWY_ATTR {
    const auto cube = hn::Mul(v, hn::Mul(v, v));
    const auto inner = hn::Mul(hn::Set(d, 0.7978845608f),
                               hn::MulAdd(hn::Set(d, 0.044715f), cube, v));
    const auto half = hn::Mul(hn::Set(d, 0.5f), v);
    return hn::MulAdd(half, hn::Tanh(d, inner), half);
  });
}

void Softplus(const float* x, float* y, int64_t n) {
  const Floats d;
  Map(x, y, n, [d](Vector v) HWY_ATTR {
    const auto e = hn::Exp(d, hn::Neg(hn::Abs(v)));
    return hn::Add(hn::Max(v, hn::Zero(d)), hn::Log1p(d, e));
  });
}

void Silu(const float* x, float* y, int64_t n) {
  const Floats d;
  Map(x, y, n, [d](Vector v) HWY_ATTR {
    return hn::Div(v, hn::Add(hn::Set(d, 1.0f), hn::Exp(d, hn::Neg(v))));
  });
}

void Copy(const float* x, float* y, int64_t n) {
  Map(x, y, n, [](Vector v) HWY_ATTR { return v; });
}

float Sum(const float* x, int64_t n) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (int64_t i = 0; i < n; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + lanes));
    c = hn::Add(c, hn::LoadU(d, x + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, x + i + 3 * lanes));
  }
  const auto all = hn::Add(hn::Add(a, b), hn::Add(c, e));
  return hn::GetLane(hn::SumOfLanes(d, all));
}

void GatherRows(const float* table, const int32_t* rows, int64_t count,
                int64_t width, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    Copy(table + rows[i] * width, out + i * width, width);
  }
}

void AddRows(const float* updates, const int32_t* rows, int64_t count,
             int64_t width, int64_t pitch, float* out) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; ++i) {
    float* to = out + rows[i] * pitch;
    const float* from = updates + i * pitch;
    for (int64_t c = 0; c < width; c += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, to + c), hn::LoadU(d, from + c)), d,
                 to + c);
    }
  }
}

void Count(const int32_t* x, int64_t n, int32_t* counts) {
  // Equal values in a row need not wait for each other.
  int32_t parts[4][256] = {};
  for (int64_t i = 0; i < n; i += 4) {
    for (int k = 0; k < 4; ++k) ++parts[k][x[i + k]];
  }
  for (int v = 0; v < 256; ++v) {
    for (int k = 0; k < 4; ++k) counts[v] += parts[k][v];
  }
}

// give(words, at): words from `at` on.
template <typename Give>
HWY_INLINE void ForThreefry(uint32_t key0, uint32_t key1, int64_t n,
                            Give give) {
  const hn::ScalableTag<uint32_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t keys[] = {key0, key1, key0 ^ key1 ^ 0x1BD11BDA};
  for (int64_t i = 0; i < n / 2; i += lanes) {
    const auto first = hn::Iota(d, static_cast<uint32_t>(i));
    const auto half = hn::Set(d, static_cast<uint32_t>(n / 2));
    auto x = hn::Add(first, hn::Set(d, keys[0]));
    auto y = hn::Add(hn::Add(first, half), hn::Set(d, keys[1]));
    const auto mix = [&](auto by) HWY_ATTR {
      constexpr int kBy = decltype(by)::value;
      x = hn::Add(x, y);
      y = hn::Xor(hn::RotateRight<32 - kBy>(y), x);
    };
    for (uint32_t round = 0; round < 5; ++round) {
      if (round % 2 == 0) {
        mix(std::integral_constant<int, 13>());
        mix(std::integral_constant<int, 15>());
        mix(std::integral_constant<int, 26>());
        mix(std::integral_constant<int, 6>());
      } else {
        mix(std::integral_constant<int, 17>());
        mix(std::integral_constant<int, 29>());
        mix(std::integral_constant<int, 16>());
        mix(std::integral_constant<int, 24>());
      }
      x = hn::Add(x, hn::Set(d, keys[(round + 1) % 3]));
      y = hn::Add(y, hn::Set(d, keys[(round + 2) % 3] + round + 1));
    }
    give(x, i);
    give(y, n / 2 + i);
  }
}

void Threefry(uint32_t key0, uint32_t key1, uint32_t* words, int64_t n) {
  const hn::ScalableTag<uint32_t> d;
  ForThreefry(key0, key1, n, [&](auto some, int64_t at) HWY_ATTR {
    hn::StoreU(some, d, words + at);
  });
}

// c + x * (c_of_x + ...)
HWY_INLINE Vector Polynomial(Vector, float c) { return hn::Set(Floats(), c); }
template <typename... More>
HWY_INLINE Vector Polynomial(Vector x, float c, More... more) {
  return hn::MulAdd(Polynomial(x, more...), x, hn::Set(Floats(), c));
}

void Normals(uint32_t key0, uint32_t key1, float* y, int64_t n) {
  const Floats d;
  const auto of = [](float x) HWY_ATTR { return hn::Set(Floats(), x); };
  ForThreefry(key0, key1, n, [&](auto some, int64_t at) HWY_ATTR {
    const hn::ScalableTag<uint32_t> du;
    const auto unit = hn::Sub(
        hn::BitCast(d,
                    hn::Or(hn::ShiftRight<9>(some), hn::Set(du, 0x3f800000u))),
        of(1));
    const auto least = of(-0.99999994f);
    const auto u = hn::Max(
        hn::Add(hn::Mul(unit, hn::Sub(of(1), least)), least), least);
    const auto p = hn::Abs(u);
    const auto half = hn::Mul(of(0.5f), hn::Min(p, of(0.85f)));
    const auto x = hn::NegMulAdd(half, half, of(0.180625f));
    const auto near = hn::Mul(
        hn::Mul(of(0.5f), u),
        hn::Div(Polynomial(x, 3.3871327f, 50.434272f, 159.29113f, 59.109375f),
                Polynomial(x, 1.0f, 17.895169f, 78.757758f, 67.187564f)));
    const auto tail =
        hn::Mul(of(0.5f), hn::Sub(of(1), hn::Max(p, of(0.85f))));
    const auto r = hn::Sub(hn::Sqrt(hn::Neg(hn::Log(d, tail))), of(1.6f));
    const auto far =
        hn::Div(Polynomial(r, 1.4234373f, 2.7568154f, 1.3067285f, 0.17023821f),
                Polynomial(r, 1.0f, 0.73700164f, 0.12021133f));
    hn::StoreU(hn::IfThenElse(hn::Gt(p, of(0.85f)), hn::CopySign(far, u), near),
               d, y + at);
  });
}

void Mandelbrot(const float* c_re, const float* c_im, float* z_re, float* z_im,
                int32_t* turns, int64_t n) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto re = hn::LoadU(d, z_re + i), im = hn::LoadU(d, z_im + i);
    const auto re2 = hn::Mul(re, re), im2 = hn::Mul(im, im);
    const auto inside = hn::Le(hn::Add(re2, im2), hn::Set(d, 4.0f));
    const auto next_re = hn::Add(hn::Sub(re2, im2), hn::LoadU(d, c_re + i));
    const auto next_im =
        hn::Add(hn::Mul(hn::Add(re, re), im), hn::LoadU(d, c_im + i));
    hn::StoreU(hn::IfThenElse(inside, next_re, re), d, z_re + i);
    hn::StoreU(hn::IfThenElse(inside, next_im, im), d, z_im + i);
    // A mask is -1 where it holds.
    const auto one = hn::VecFromMask(di, hn::RebindMask(di, inside));
    hn::StoreU(hn::Sub(hn::LoadU(di, turns + i), one), di, turns + i);
  }
}

Loops LoopsOfTarget() {
  return {.target = hwy::TargetName(HWY_TARGET),
          .chain = Chain,
          .chain_bf16 = ChainBf16,
          .chain_three = ChainThree,
          .gelu = Gelu,
          .softplus = Softplus,
          .silu = Silu,
          .copy = Copy,
          .sum = Sum,
          .gather_rows = GatherRows,
          .add_rows = AddRows,
          .count = Count,
          .threefry = Threefry,
          .normals = Normals,
          .mandelbrot = Mandelbrot};
}

}  // namespace HWY_NAMESPACE
}  // namespace hawser::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hawser::bench {

HWY_EXPORT(LoopsOfTarget);

const Loops& BestLoops() {
  static const Loops loops = HWY_DYNAMIC_DISPATCH(LoopsOfTarget)();
  return loops;
}

}  // namespace hawser::bench
#endif
