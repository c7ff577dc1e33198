// Every generated kernel is written in this dialect. One text for NVRTC, which
// needs no other header for it, and for g++, where host.h gives the first
// part's names a meaning that is checked. Integer corners: house.md, section 9.
#ifndef HK_PRELUDE
#define HK_PRELUDE

namespace hk {
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
template <class T> struct Complex { T re, im; };
typedef Complex<float> c64;
typedef Complex<double> c128;
// Elements that one instruction moves: at most 16 bytes.
template <class T, int N> struct alignas(sizeof(T) * N) Vector {
  static_assert(sizeof(T) * N <= 16, "one access moves at most 16 bytes");
  T v[N];
};
constexpr u32 kWarp = 32;
}  // namespace hk

#if defined(HK_HOST)
#include "kernels/dialect/host.h"
#else
#define HK_DEVICE __device__ __forceinline__
#define HK_MEMBER static __device__ __forceinline__
#define HK_GLOBAL extern "C" __global__ void
#define HK_BOUNDS(threads) __launch_bounds__(threads)
#define HK_SHARED(T, name, n) __shared__ T name[n]
// Names the LaunchShape::dynamic_shared_bytes; used once in a kernel.
#define HK_DYNAMIC_SHARED(T, name)                                  \
  extern __shared__ __align__(16) unsigned char hk_dynamic_shared[]; \
  T* const name = (T*)hk_dynamic_shared
#define HK_TID ((hk::u32)threadIdx.x)
#define HK_BID ((hk::u32)blockIdx.x)
#define HK_BID_Y ((hk::u32)blockIdx.y)
#define HK_BID_Z ((hk::u32)blockIdx.z)
#define HK_NBLK ((hk::u32)gridDim.x)
#define HK_NBLK_Y ((hk::u32)gridDim.y)
#define HK_SYNC() __syncthreads()
#define HK_SYNC_WARP() __syncwarp()
#define HK_UNROLL _Pragma("unroll")
namespace hk {
template <class T> HK_DEVICE T Load(const T* p) { return *p; }
template <class T> HK_DEVICE void Store(T* p, T x) { *p = x; }
HK_DEVICE bool Load(const bool* p) { return *(const u8*)p != 0; }
template <int N, class T> HK_DEVICE Vector<T, N> LoadVector(const T* p) {
  return *reinterpret_cast<const Vector<T, N>*>(p);
}
template <int N, class T>
HK_DEVICE void StoreVector(T* p, const Vector<T, N>& x) {
  *reinterpret_cast<Vector<T, N>*>(p) = x;
}
// Integers of 32 or 64 bits, in memory a launch updates. An extreme moves one
// way: what does not pass an old value of it is left out.
template <class T> HK_DEVICE void AtomicAdd(T* p, T x) { atomicAdd(p, x); }
HK_DEVICE void AtomicAdd(s64* p, s64 x) { atomicAdd((u64*)p, (u64)x); }
template <class T> HK_DEVICE void AtomicMax(T* p, T x) {
  if (*(volatile T*)p < x) atomicMax(p, x);
}
template <class T> HK_DEVICE void AtomicMin(T* p, T x) {
  if (x < *(volatile T*)p) atomicMin(p, x);
}
// Adds to an element of an array in shared memory: until a barrier no thread
// reads or writes the element otherwise.
template <class Array> HK_DEVICE void SharedAdd(Array& array, u32 i, u32 x) {
  atomicAdd(&array[i], x);
}
HK_DEVICE u32 ShuffleWord(u32 x, u32 lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}
HK_DEVICE u32 Ballot(bool x) { return __ballot_sync(0xffffffffu, x); }
HK_DEVICE float HalfToFloat(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
HK_DEVICE f16 FloatToHalf(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
HK_DEVICE bf16 FloatToBrain(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
HK_DEVICE float MaxFloat(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
HK_DEVICE float MinFloat(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
HK_DEVICE s32 CountBits(u64 x) { return __popcll(x); }
HK_DEVICE s32 CountZerosAbove(u64 x) { return __clzll(x); }
HK_DEVICE float Rsqrt(float x) { return rsqrtf(x); }
HK_DEVICE double Rsqrt(double x) { return rsqrt(x); }
}  // namespace hk
#endif
// ---- both sides from here on: the same text, the same meaning
namespace hk {
// Describes a type: whether it is an integer, signed, floating; its unsigned
// twin; the type it is computed in.
template <class T> struct Type {
  static constexpr bool kInteger = false, kSigned = true, kFloat = false;
  typedef T Compute;
};
#define HK_INTEGER(T, U, is_signed)                                        \
  template <> struct Type<T> {                                             \
    static constexpr bool kInteger = true, kSigned = is_signed;            \
    static constexpr bool kFloat = false;                                  \
    typedef U Unsigned;                                                    \
    typedef T Compute;                                                     \
    static constexpr U kAll = (U)~(U)0;                                    \
    static constexpr T kMax = (T)(is_signed ? kAll >> 1 : kAll);           \
    static constexpr T kMin = (T)(is_signed ? (U)(kAll - (kAll >> 1)) : 0); \
  };
HK_INTEGER(u8, u8, false) HK_INTEGER(u16, u16, false)
HK_INTEGER(u32, u32, false) HK_INTEGER(u64, u64, false)
HK_INTEGER(s8, u8, true) HK_INTEGER(s16, u16, true)
HK_INTEGER(s32, u32, true) HK_INTEGER(s64, u64, true)
#undef HK_INTEGER
template <bool kIsFloat, class C> struct FloatType {
  static constexpr bool kInteger = false, kSigned = true, kFloat = kIsFloat;
  typedef C Compute;
};
template <> struct Type<float> : FloatType<true, float> {};
template <> struct Type<double> : FloatType<true, double> {};
template <> struct Type<f16> : FloatType<false, float> {};
template <> struct Type<bf16> : FloatType<false, float> {};
template <class A, class B> constexpr bool kSame = false;
template <class A> constexpr bool kSame<A, A> = true;
template <class T> constexpr bool kHalf = kSame<T, f16> || kSame<T, bf16>;

template <class To, class From> HK_DEVICE To BitCast(From x) {
  static_assert(sizeof(To) == sizeof(From), "BitCast keeps the size");
  union { From from; To to; } u = {x};
  return u.to;
}

// ---- integers wrap; x / 0 is all ones, x % 0 is x, MIN / -1 is MIN
template <class T> HK_DEVICE T Wrap(u64 x) {
  return (T)(typename Type<T>::Unsigned)x;
}
#define HK_ARITHMETIC(name, op)                                \
  template <class T> HK_DEVICE T name(T a, T b) {              \
    if constexpr (!Type<T>::kInteger) return a op b;           \
    else if constexpr (sizeof(T) < 8) return Wrap<T>((u32)a op (u32)b); \
    else return Wrap<T>((u64)a op (u64)b);                     \
  }
HK_ARITHMETIC(Add, +)
HK_ARITHMETIC(Subtract, -)
HK_ARITHMETIC(Multiply, *)
#undef HK_ARITHMETIC
template <class T> HK_DEVICE T Negate(T x) {
  if constexpr (Type<T>::kInteger) return Subtract((T)0, x);
  else return -x;
}
template <class T> HK_DEVICE T Divide(T a, T b) {
  if constexpr (!Type<T>::kInteger) return a / b;
  else if (b == 0) return Wrap<T>(~(u64)0);
  else if (Type<T>::kSigned && b == (T)-1) return Negate(a);
  else return (T)(a / b);
}
template <class T> HK_DEVICE T Remainder(T a, T b) {
  if (b == 0) return a;
  return Type<T>::kSigned && b == (T)-1 ? (T)0 : (T)(a % b);
}
HK_DEVICE float Remainder(float a, float b) { return fmodf(a, b); }
HK_DEVICE double Remainder(double a, double b) { return fmod(a, b); }
// Amounts are read as unsigned; the width and more leave nothing.
template <class T> HK_DEVICE T ShiftLeft(T a, T by) {
  const u64 n = (typename Type<T>::Unsigned)by;
  return n >= 8 * sizeof(T) ? (T)0 : Wrap<T>((u64)a << n);
}
template <class T> HK_DEVICE T ShiftRightLogical(T a, T by) {
  const u64 n = (typename Type<T>::Unsigned)by;
  return n >= 8 * sizeof(T) ? (T)0
                            : Wrap<T>((typename Type<T>::Unsigned)a >> n);
}
template <class T> HK_DEVICE T ShiftRightArithmetic(T a, T by) {
  const u64 n = (typename Type<T>::Unsigned)by, last = 8 * sizeof(T) - 1;
  const u64 at = n > last ? last : n;
  const u64 down = (typename Type<T>::Unsigned)a >> at;
  const bool negative = ((typename Type<T>::Unsigned)a >> last) & 1;
  return Wrap<T>(negative ? down | ~(u64)0 << (last - at) : down);
}
template <class T> HK_DEVICE T Power(T base, T exponent) {
  if (Type<T>::kSigned && exponent < 0) {
    if (base == 1) return 1;
    if (base != (T)-1) return 0;
    return exponent % 2 == 0 ? (T)1 : base;
  }
  T power = 1;
  for (u64 n = (typename Type<T>::Unsigned)exponent; n; n >>= 1) {
    if (n & 1) power = Multiply(power, base);
    base = Multiply(base, base);
  }
  return power;
}
// ---- order: NaN wins, -0 is below +0
template <class T> HK_DEVICE T Max(T a, T b) { return a > b ? a : b; }
template <class T> HK_DEVICE T Min(T a, T b) { return a < b ? a : b; }
HK_DEVICE float Max(float a, float b) { return MaxFloat(a, b); }
HK_DEVICE float Min(float a, float b) { return MinFloat(a, b); }
HK_DEVICE double Max(double a, double b) {
  const u64 both = BitCast<u64>(a) & BitCast<u64>(b);
  return a > b ? a : b > a ? b : a == b ? BitCast<double>(both) : a + b;
}
HK_DEVICE double Min(double a, double b) {
  const u64 any = BitCast<u64>(a) | BitCast<u64>(b);
  return a < b ? a : b < a ? b : a == b ? BitCast<double>(any) : a + b;
}
template <class T> HK_DEVICE T Clamp(T low, T x, T high) {
  return Min(Max(x, low), high);
}
template <class T> HK_DEVICE T Abs(T x) { return x < 0 ? Negate(x) : x; }
template <class T> HK_DEVICE T Sign(T x) {
  return x > 0 ? (T)1 : x < 0 ? (T)-1 : x;
}

// ---- functions of f32 and f64; halves are computed in f32
#define HK_UNARY(name, base)                             \
  HK_DEVICE float name(float x) { return base##f(x); }   \
  HK_DEVICE double name(double x) { return base(x); }
HK_UNARY(Abs, fabs) HK_UNARY(Exp, exp) HK_UNARY(Expm1, expm1)
HK_UNARY(Log, log) HK_UNARY(Log1p, log1p) HK_UNARY(Sqrt, sqrt)
HK_UNARY(Sin, sin) HK_UNARY(Cos, cos) HK_UNARY(Tanh, tanh)
HK_UNARY(Floor, floor) HK_UNARY(Ceil, ceil) HK_UNARY(RoundEven, rint)
#undef HK_UNARY
#define HK_BINARY(name, base)                                           \
  HK_DEVICE float name(float x, float y) { return base##f(x, y); }      \
  HK_DEVICE double name(double x, double y) { return base(x, y); }
HK_BINARY(Power, pow) HK_BINARY(Atan2, atan2)
#undef HK_BINARY
template <class T> HK_DEVICE bool IsFinite(T x) { return x - x == 0; }

// ---- conversions: rounded once; NaN to 0 and saturated towards integers
// Converts to float by "round to odd", so that rounding again to a half is
// right.
HK_DEVICE float OddFloat(double x) {
  const float nearest = (float)x;
  if ((double)nearest == x || x != x) return nearest;
  u32 bits = BitCast<u32>(nearest);
  if (fabs((double)nearest) > fabs(x)) --bits;
  return BitCast<float>(bits | 1);
}
// An integer as a double that rounds to a half as the integer would.
template <class T> HK_DEVICE double StickyDouble(T x) {
  if constexpr (sizeof(T) < 8) {
    return (double)x;
  } else {
    const T exact = (T)1 << 53;
    if (x < exact && (!Type<T>::kSigned || x > (T)0 - exact)) return (double)x;
    return (double)((x >> 11) | (T)((x & 2047) != 0)) * 2048.0;
  }
}
template <class To> HK_DEVICE To RoundToHalf(float x) {
  if constexpr (kSame<To, f16>) return FloatToHalf(x);
  else return FloatToBrain(x);
}
template <class To, class From> HK_DEVICE To Convert(From x) {
  if constexpr (kSame<To, From>) {
    return x;
  } else if constexpr (kSame<From, f16>) {
    return Convert<To>(HalfToFloat(x));
  } else if constexpr (kSame<From, bf16>) {
    return Convert<To>(BitCast<float>((u32)x.bits << 16));
  } else if constexpr (kSame<To, bool>) {
    return x != (From)0;
  } else if constexpr (kHalf<To>) {
    if constexpr (kSame<From, float> || kSame<From, bool>) {
      return RoundToHalf<To>((float)x);
    } else if constexpr (kSame<From, double>) {
      return RoundToHalf<To>(OddFloat(x));
    } else {
      return RoundToHalf<To>(OddFloat(StickyDouble(x)));
    }
  } else if constexpr (Type<From>::kFloat && Type<To>::kInteger) {
    const From end = (From)(Type<To>::kMax / 2 + 1) * 2;
    if (x != x) return 0;
    if (x >= end) return Type<To>::kMax;
    return x <= (From)Type<To>::kMin ? Type<To>::kMin : (To)x;
  } else {
    return (To)x;
  }
}
}  // namespace hk
#endif  // HK_PRELUDE
