// Highway compiles this file once for each instruction set; see
// lanes/convert.cc.
#include "kernels/cpu/chains/op_loops.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/chains/chain_rows.h"
#include "kernels/cpu/chains/chains.h"
#include "kernels/cpu/lanes/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/chains/op_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_functions-inl.h"
#include "kernels/cpu/isa/by_isa.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// ---- lanes in memory --------------------------------------------------------

// Lanes that are in memory as in vectors. Integers of 4 and 8 bytes are loaded
// as floats, as in chains.
template <typename N>
struct Plain {
  using T = N;        // of a lane in a vector
  using Element = N;  // in memory
  static HWY_INLINE V<T> Load(const Element* at) {
    return hn::LoadU(Tag<T>(), at);
  }
  static HWY_INLINE void Store(V<T> lanes, Element* to) {
    hn::StoreU(lanes, Tag<T>(), to);
  }
};
// A mask, which is bool in memory.
template <typename N>
struct Bools {
  using T = N;
  using Element = uint8_t;
  static HWY_INLINE M<T> Load(const Element* at) { return LoadBools<T>(at); }
  static HWY_INLINE void Store(M<T> mask, Element* to) {
    StoreBools<T>(mask, to);
  }
};

// ---- loops ------------------------------------------------------------------

// Applies F to a vector of each operand, whose lanes are as Operands say, and
// stores the result as Result says. The lanes after the last whole vector are
// copied to vectors and back.
template <typename F, typename Result, typename... Operands>
struct VectorLoop {
  static constexpr auto kStep =
      static_cast<int64_t>(hn::MaxLanes(Tag<typename Result::T>()));
  using Out = typename Result::Element;

  static HWY_INLINE void Over(int64_t n, Out* to,
                              const typename Operands::Element*... from) {
    int64_t i = 0;
    for (; i + 2 * kStep <= n; i += 2 * kStep) {
      Result::Store(F::Of(Operands::Load(from + i)...), to + i);
      Result::Store(F::Of(Operands::Load(from + i + kStep)...), to + i + kStep);
    }
    if (i + kStep <= n) {
      Result::Store(F::Of(Operands::Load(from + i)...), to + i);
      i += kStep;
    }
    if (i == n) return;
    const auto rest = static_cast<size_t>(n - i);
    Part result;
    Result::Store(F::Of(Operands::Load(Rest(from + i, rest, Part()))...),
                  reinterpret_cast<Out*>(result.bytes));
    __builtin_memcpy(to + i, result.bytes, rest * sizeof(Out));
  }
  static void Run(const char* const* in, char* out, int64_t n) {
    RunOn(in, out, n, std::index_sequence_for<Operands...>());
  }

 private:
  struct Part {
    HWY_ALIGN char bytes[hn::MaxLanes(Tag<uint8_t>())] = {};
  };
  // `part`, whose first elements are those.
  template <typename E>
  static HWY_INLINE const E* Rest(const E* from, size_t elements, Part&& part) {
    __builtin_memcpy(part.bytes, from, elements * sizeof(E));
    return reinterpret_cast<const E*>(part.bytes);
  }
  template <size_t... k>
  static HWY_INLINE void RunOn(const char* const* in, char* out, int64_t n,
                               std::index_sequence<k...>) {
    Over(n, reinterpret_cast<Out*>(out),
         reinterpret_cast<const typename Operands::Element*>(in[k])...);
  }
};

// The same on halves, which become f32, a few hundred at a time. A result that
// is no mask becomes halves again.
template <typename Half, typename F, typename Result, typename... Operands>
struct LoopOfHalves {
  static void Run(const char* const* in, char* out, int64_t n) {
    RunOn(in, out, n, std::index_sequence_for<Operands...>());
  }

 private:
  template <size_t... k>
  static HWY_INLINE void RunOn(const char* const* in, char* out, int64_t n,
                               std::index_sequence<k...>) {
    HWY_ALIGN float x[sizeof...(k)][kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      (Widen(reinterpret_cast<const Half*>(in[k]) + i, m, x[k]), ...);
      if constexpr (std::is_same_v<Result, Plain<float>>) {
        VectorLoop<F, Result, Operands...>::Over(m, x[0], x[k]...);
        Narrow(x[0], m, reinterpret_cast<Half*>(out) + i);
      } else {
        VectorLoop<F, Result, Operands...>::Over(
            m, reinterpret_cast<uint8_t*>(out) + i, x[k]...);
      }
    }
  }
};

// Lanes of L, or halves in memory.
template <typename N>
struct HalvesOf : Plain<float> {
  using Half = N;
};
template <typename L, typename F, typename Result, typename... Operands>
ElementFn LoopOver() {
  if constexpr (requires { typename L::Half; }) {
    return LoopOfHalves<typename L::Half, F, Result, Operands...>::Run;
  } else {
    return VectorLoop<F, Result, Operands...>::Run;
  }
}

// The functions of chains take lanes x, operand lanes y and a mask.
template <typename T, typename Function>
struct OfOne {
  static HWY_INLINE auto Of(V<T> x) {
    return Function::template Of<T>(x, x, M<T>());
  }
};
template <typename T, typename Function>
struct OfTwo {
  static HWY_INLINE auto Of(V<T> x, V<T> y) {
    return Function::template Of<T>(x, y, M<T>());
  }
};
template <typename T, typename Above, typename Below>
struct Clamped {
  static HWY_INLINE V<T> Of(V<T> low, V<T> x, V<T> high) {
    const V<T> above = Above::template Of<T>(x, low, M<T>());
    return Below::template Of<T>(above, high, M<T>());
  }
};
template <typename T>
struct Chosen {
  static HWY_INLINE V<T> Of(M<T> mask, V<T> x, V<T> y) {
    return hn::IfThenElse(mask, x, y);
  }
};
struct NotOfBools {
  static HWY_INLINE M<int8_t> Of(M<int8_t> mask) { return hn::Not(mask); }
};

// How the result of a function on lanes of T is stored.
template <typename T, typename R>
using ResultOf =
    std::conditional_t<std::is_same_v<R, V<T>>, Plain<T>, Bools<T>>;

template <typename L, typename Function>
ElementFn Unary() {
  using T = typename L::T;
  using F = OfOne<T, Function>;
  using R = decltype(F::Of(V<T>()));
  return LoopOver<L, F, ResultOf<T, R>, Plain<T>>();
}
template <typename L, typename Function>
ElementFn Binary() {
  using T = typename L::T;
  using F = OfTwo<T, Function>;
  using R = decltype(F::Of(V<T>(), V<T>()));
  return LoopOver<L, F, ResultOf<T, R>, Plain<T>, Plain<T>>();
}
template <typename L, typename Function>
ElementFn BinaryButA() {
  return nullptr;  // they choose or load
}
template <typename L, typename Function>
ElementFn BinaryOrIntoH() {
  return Binary<L, Function>();
}

// ---- rows -------------------------------------------------------------------

// A function of one or two vectors.
template <typename L>
ElementFn OfOp(ChainOp op) {
  using T = typename L::T;
  constexpr bool kIsPlain = std::is_same_v<L, Plain<T>>;
  switch (op) {
#define HAWSER_CHAIN_OP(Name, Form, ...)         \
  case ChainOp::k##Name:                         \
    if constexpr (std::is_floating_point_v<T>) { \
      return Form<L, Name>();                    \
    }                                            \
    break;
#define HAWSER_CHAIN_INT(Name, Form, ...) \
  case ChainOp::k##Name:                  \
    if constexpr (kIsPlain) {             \
      return Form<L, Name>();             \
    }                                     \
    break;
#define HAWSER_CHAIN_FUNCTION(Name, ...)         \
  case ChainOp::k##Name:                         \
    if constexpr (std::is_floating_point_v<T>) { \
      if (Name::template IsThere<T>()) {         \
        return Unary<L, Name>();                 \
      }                                          \
    }                                            \
    break;
#include "kernels/cpu/chains/chain_ops.def"
    default:
      break;
  }
  return nullptr;
}

template <typename L>
ElementFn ClampBy(ChainOp above) {
  using T = typename L::T;
  if constexpr (std::is_same_v<L, Plain<T>>) {
    if (above == ChainOp::kIntMax) {
      return VectorLoop<Clamped<T, IntMax, IntMin>, L, L, L, L>::Run;
    }
    if (above == ChainOp::kUintMax) {
      return VectorLoop<Clamped<T, UintMax, UintMin>, L, L, L, L>::Run;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    using P = Plain<T>;
    return LoopOver<L, Clamped<T, Max, Min>, P, P, P, P>();
  }
  return nullptr;
}

// The loop of a row's links, over lanes L.
template <typename L>
ElementFn OfRow(const ChainRow& row) {
  if (row.op == &kClamp) return ClampBy<L>(row.links[0].op);
  return OfOp<L>(row.links[0].op);
}
template <typename N>
ElementFn Select() {
  return VectorLoop<Chosen<N>, Plain<N>, Bools<N>, Plain<N>, Plain<N>>::Run;
}

ElementFn SelectOf(int64_t width) {
  switch (width) {
    case 1:
      return Select<int8_t>();
    case 2:
      return Select<int16_t>();
    case 4:
      return Select<float>();
    case 8:
      return Select<double>();
    default:
      return nullptr;
  }
}
ElementFn NotOf() {
  return VectorLoop<NotOfBools, Bools<int8_t>, Bools<int8_t>>::Run;
}

// `dtype`: of the operand that the row is on.
ElementFn LoopOf(const ChainRow& row, DType dtype) {
  if (dtype == DType::kBF16) return OfRow<HalvesOf<BFloat16>>(row);
  if (dtype == DType::kF16) return OfRow<HalvesOf<Half>>(row);
  switch (ByteWidth(dtype)) {
    case 1:
      return OfRow<Plain<int8_t>>(row);
    case 2:
      return OfRow<Plain<int16_t>>(row);
    case 4:
      return OfRow<Plain<float>>(row);
    default:
      return OfRow<Plain<double>>(row);
  }
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {
namespace {

ElementFn SelectOf(int64_t width, Isa isa){
    HAWSER_BY_ISA(isa, nullptr, SelectOf(width))} ElementFn
    NotOf(Isa isa){HAWSER_BY_ISA(isa, nullptr, NotOf())} ElementFn
    LoopOf(const ChainRow& row, DType dtype,
           Isa isa){HAWSER_BY_ISA(isa, nullptr, LoopOf(row, dtype))}

// The dtype whose rows integers of 1 and 2 bytes have.
DType AsInts(DType dtype) {
  switch (dtype) {
    case DType::kS8:
    case DType::kS16:
      return DType::kS32;
    case DType::kBool:
    case DType::kU8:
    case DType::kU16:
      return DType::kU32;
    default:
      return dtype;
  }
}

}  // namespace

ElementFn FindLoop(const OpDef& op, const ElementTypes& types, Isa isa) {
  if (&op == &kConvert) return FindConvert(types, isa);
  if (&op == &kSelect) return SelectOf(ByteWidth(types.result), isa);
  const DType dtype = types.operands[types.operands.size() > 2 ? 1 : 0];
  if (!op.dtypes.Has(dtype)) return nullptr;  // bool is no number
  if (&op == &kNot && dtype == DType::kBool) return NotOf(isa);
  const bool is_fixed = op.result.kind == DTypeRule::kFixed;
  const DType result = is_fixed ? types.result : AsInts(types.result);
  for (const ChainRow& row : ChainRowsOf(op)) {
    const bool is_first = row.operand == 0 || row.op == &kClamp;
    if (is_first && row.links[0].op != ChainOp::kEnd &&
        IsOf(row, AsInts(dtype), result, types.attributes)) {
      return LoopOf(row, dtype, isa);
    }
  }
  return nullptr;
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
