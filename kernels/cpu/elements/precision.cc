#include "kernels/cpu/elements/precision.h"

#include <array>
#include <cstdint>
#include <utility>

#include "core/ops/elementwise/bits.h"
#include "kernels/cpu/elements/independent_iterations.h"

namespace hawser::cpu {
namespace {

// A dtype's integers of the same width, and the layout of its bits.
template <typename Bits, int kExponentBits, int kMantissaBits>
struct Format {
  using Word = Bits;
  static constexpr int kExponent = kExponentBits;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr Bits kOne = 1;
  static constexpr Bits kSign =
      static_cast<Bits>(kOne << (8 * sizeof(Bits) - 1));
  static constexpr Bits kInfinity =
      static_cast<Bits>(((uint64_t{1} << kExponentBits) - 1) << kMantissaBits);
};

// Rounded to nearest even; a carry into the exponent is as it should be.
template <typename F>
void Reduce(const char* in, char* out, int64_t n, int exponent, int mantissa) {
  using Word = typename F::Word;
  const Word* a = reinterpret_cast<const Word*>(in);
  Word* r = reinterpret_cast<Word*>(out);
  const int dropped = F::kMantissa - mantissa;
  const uint64_t kept = ~uint64_t{0} << dropped;
  const uint64_t half = dropped == 0 ? 0 : (uint64_t{1} << (dropped - 1)) - 1;
  const uint64_t last = dropped == 0 ? 0 : 1;
  const uint64_t bias = (uint64_t{1} << (F::kExponent - 1)) - 1;
  const uint64_t reach = (uint64_t{1} << (exponent - 1)) - 1;
  const bool narrower = exponent < F::kExponent;
  const Word most = static_cast<Word>((narrower ? bias + reach : 2 * bias + 1)
                                      << F::kMantissa);
  const Word least =
      static_cast<Word>(narrower ? (bias - reach) << F::kMantissa : 0);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const Word sign = a[i] & F::kSign;
    const Word size = static_cast<Word>(a[i] & ~F::kSign);
    const Word up = static_cast<Word>((size >> dropped & last) + half);
    const Word rounded = static_cast<Word>((size + up) & kept);
    const Word power = rounded & F::kInfinity;
    const Word above = power > most ? F::kInfinity : rounded;
    const Word held = narrower && power <= least ? Word{0} : above;
    r[i] = size > F::kInfinity ? a[i] : static_cast<Word>(sign | held);
  }
}

template <typename F, int kExponent, int kMantissa>
void Loop(const char* const* in, char* out, int64_t n) {
  Reduce<F>(in[0], out, n, kExponent, kMantissa);
}

// Loops by (exponent - 1) and mantissa.
template <typename F, size_t... k>
constexpr auto Loops(std::index_sequence<k...>) {
  constexpr size_t kRow = F::kMantissa + 1;
  return std::array<ElementFn, sizeof...(k)>{
      Loop<F, static_cast<int>(k / kRow) + 1, static_cast<int>(k % kRow)>...};
}

template <typename F>
ElementFn LoopOf(FloatBits bits) {
  constexpr size_t kRow = F::kMantissa + 1;
  static constexpr auto kLoops =
      Loops<F>(std::make_index_sequence<F::kExponent * kRow>());
  return kLoops[static_cast<size_t>(bits.exponent - 1) * kRow +
                static_cast<size_t>(bits.mantissa)];
}

}  // namespace

ElementFn ReducePrecisionElement(const ElementTypes& types) {
  const FloatBits bits = PrecisionOf(types.attributes, types.result);
  switch (types.result) {
    case DType::kF16:
      return LoopOf<Format<uint16_t, 5, 10>>(bits);
    case DType::kBF16:
      return LoopOf<Format<uint16_t, 8, 7>>(bits);
    case DType::kF32:
      return LoopOf<Format<uint32_t, 8, 23>>(bits);
    case DType::kF64:
      return LoopOf<Format<uint64_t, 11, 52>>(bits);
    default:
      return nullptr;
  }
}

}  // namespace hawser::cpu
