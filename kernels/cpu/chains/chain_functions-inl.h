// The functions that links apply to each vector. chains.cc includes it, which
// Highway compiles once for each instruction set.
#if defined(HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_
#undef HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_
#else
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_elementary-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// Functions of lanes x, operand lanes y and a mask m; they return lanes or a
// mask.
#define HAWSER_FUNCTION(Name, ...)                              \
  struct Name {                                                 \
    template <typename T>                                       \
    static HWY_INLINE auto Of([[maybe_unused]] V<T> x,          \
                              [[maybe_unused]] V<T> y,          \
                              [[maybe_unused]] const M<T>& m) { \
      [[maybe_unused]] const Tag<T> d;                          \
      return __VA_ARGS__;                                       \
    }                                                           \
  };
#define HAWSER_CHAIN_OP(Name, Form, ...) HAWSER_FUNCTION(Name, __VA_ARGS__)
#define HAWSER_CHAIN_F32(Name, Form, ...) HAWSER_FUNCTION(Name, __VA_ARGS__)
#define HAWSER_CHAIN_INT(Name, Form, ...) HAWSER_FUNCTION(Name, __VA_ARGS__)
#define HAWSER_CHAIN_FUNCTION(Name, F32, F64, ...) \
  HAWSER_FUNCTION(Name##Formula, __VA_ARGS__)      \
  struct Name : Name##Formula, ByWidth<F32, F64> {};

// Functions of a mask x and an operand mask y.
#define HAWSER_CHAIN_MASK(Name, ...)                    \
  struct Name {                                         \
    template <typename N>                               \
    static HWY_INLINE N Of([[maybe_unused]] N x, N y) { \
      return __VA_ARGS__;                               \
    }                                                   \
  };
#include "kernels/cpu/chains/chain_ops.def"
#undef HAWSER_FUNCTION

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
