// The host side of the prelude's first part: the same names, and whatever can
// be checked is. Only generated kernels include it, through prelude.cuh.
#ifndef HAWSER_KERNELS_DIALECT_HOST_H_
#define HAWSER_KERNELS_DIALECT_HOST_H_

#include <math.h>
#include <string.h>

#include <utility>

#include "kernels/dialect/host_context.h"

#define HK_DEVICE inline
#define HK_MEMBER static inline
#define HK_GLOBAL extern "C" void
#define HK_BOUNDS(threads)
#define HK_SHARED(T, name, n) hk::SharedArray<T> name(__COUNTER__, n)
#define HK_DYNAMIC_SHARED(T, name) hk::SharedArray<T> name(-1, 0)
#define HK_TID (hk::context->thread)
#define HK_BID (hk::context->block[0])
#define HK_BID_Y (hk::context->block[1])
#define HK_BID_Z (hk::context->block[2])
#define HK_NBLK (hk::context->grid[0])
#define HK_NBLK_Y (hk::context->grid[1])
#define HK_SYNC() hk::context->Barrier(__LINE__)
#define HK_SYNC_WARP() hk::context->WarpBarrier(__LINE__)
#define HK_UNROLL

namespace hk {

// The running thread's; one kernel at a time runs in a process.
static HostContext* context = nullptr;

// ---- device memory: inside a range of the launch, aligned, and allowed
template <class T>
T Load(const T* p, int line = __builtin_LINE()) {
  context->Load(p, sizeof(T), alignof(T), line);
  return *p;
}
static inline bool Load(const bool* p, int line = __builtin_LINE()) {
  context->Load(p, 1, 1, line);
  return *reinterpret_cast<const u8*>(p) != 0;
}
template <class T, class V>
void Store(T* p, V x, int line = __builtin_LINE()) {
  static_assert(__is_same(T, V), "the value has the type of the memory");
  context->Store(p, sizeof(T), alignof(T), line);
  *p = x;
}
template <int N, class T>
Vector<T, N> LoadVector(const T* p, int line = __builtin_LINE()) {
  Vector<T, N> x;
  context->Load(p, sizeof(x), sizeof(x), line);
  memcpy(&x, p, sizeof(x));
  return x;
}
template <int N, class T>
void StoreVector(T* p, const Vector<T, N>& x, int line = __builtin_LINE()) {
  context->Store(p, sizeof(x), sizeof(x), line);
  memcpy(p, &x, sizeof(x));
}
template <class T>
void AtomicAdd(T* p, T x, int line = __builtin_LINE()) {
  static_assert(sizeof(T) >= 4 && T(1) / 2 == T(0), "integers of 4 or 8 bytes");
  context->Update(p, sizeof(T), line);
  *p = static_cast<T>(static_cast<u64>(*p) + static_cast<u64>(x));
}
template <class T>
void AtomicMax(T* p, T x, int line = __builtin_LINE()) {
  context->Update(p, sizeof(T), line);
  if (x > *p) *p = x;
}
template <class T>
void AtomicMin(T* p, T x, int line = __builtin_LINE()) {
  context->Update(p, sizeof(T), line);
  if (x < *p) *p = x;
}

// ---- shared memory: an array that records which thread used an element, when
template <class T>
class SharedElement {
 public:
  SharedElement(T* at, HostCell* cell, int line)
      : at_(at), cell_(cell), line_(line) {}
  operator T() const {
    context->SharedRead(cell_, line_);
    return *at_;
  }
  T operator=(T x) {
    context->SharedWrite(cell_, line_);
    return *at_ = x;
  }
  T operator=(const SharedElement& x) { return *this = static_cast<T>(x); }
  T operator+=(T x) { return *this = static_cast<T>(*this) + x; }
  void Add(T x) {
    context->SharedUpdate(cell_, line_);
    *at_ += x;
  }

 private:
  T* at_;
  HostCell* cell_;
  int line_;
};

// An index that knows the line it was written in.
struct SharedIndex {
  template <class I>
  SharedIndex(I i, int l = __builtin_LINE())
      : at(static_cast<unsigned long>(i)), line(l) {}
  unsigned long at;
  int line;
};

template <class T>
class SharedArray {
 public:
  SharedArray(int id, unsigned long elements)
      : memory_(context->Shared(id, sizeof(T), elements)) {}
  SharedArray(const SharedArray&) = delete;
  SharedElement<T> operator[](SharedIndex i) const {
    if (i.at >= memory_.elements) {
      context->SharedOutside(i.at, memory_.elements, i.line);
    }
    return {static_cast<T*>(memory_.data) + i.at, memory_.cells + i.at,
            i.line};
  }

 private:
  HostShared memory_;
};

template <class T>
void SharedAdd(const SharedArray<T>& array, SharedIndex i, T x) {
  array[i].Add(x);
}

static inline u32 ShuffleWord(u32 x, u32 lane, int line = __builtin_LINE()) {
  return context->Shuffle(x, lane, line);
}

static inline u32 Ballot(bool x, int line = __builtin_LINE()) {
  return context->Ballot(x, line);
}

// ---- numbers that the device has instructions for
static inline u32 BitsOf(float x) {
  u32 bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
static inline float FloatOf(u32 bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}
static inline float HalfToFloat(f16 x) {
  const u32 sign = (x.bits & 0x8000u) << 16, exponent = (x.bits >> 10) & 31;
  const u32 mantissa = x.bits & 1023;
  if (exponent == 31) return FloatOf(sign | 0x7f800000u | mantissa << 13);
  if (exponent) return FloatOf(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -small : small;
}
// NaNs become the device's: 0x7fff.
static inline f16 FloatToHalf(float x) {
  const u32 sign = (BitsOf(x) >> 16) & 0x8000u, size = BitsOf(x) & 0x7fffffffu;
  if (size > 0x7f800000u) return {0x7fff};
  u32 half = 0x7c00;
  if (size < 0x38800000u) {  // subnormal: adding rounds at the last place kept
    half = BitsOf(FloatOf(size) + 0.5f) - BitsOf(0.5f);
  } else if (size < 0x477ff000u) {
    half = (size + 0xfff + ((size >> 13) & 1) - 0x38000000u) >> 13;
  }
  return {static_cast<u16>(sign | half)};
}
static inline bf16 FloatToBrain(float x) {
  if (x != x) return {0x7fff};
  const u32 bits = BitsOf(x);
  return {static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
static inline float MaxFloat(float a, float b) {
  const float both = FloatOf(BitsOf(a) & BitsOf(b));
  return a > b ? a : b > a ? b : a == b ? both : FloatOf(0x7fffffff);
}
static inline float MinFloat(float a, float b) {
  const float any = FloatOf(BitsOf(a) | BitsOf(b));
  return a < b ? a : b < a ? b : a == b ? any : FloatOf(0x7fffffff);
}
static inline s32 CountBits(u64 x) { return __builtin_popcountll(x); }
static inline s32 CountZerosAbove(u64 x) {
  return x == 0 ? 64 : __builtin_clzll(x);
}
static inline float Rsqrt(float x) { return 1 / sqrtf(x); }
static inline double Rsqrt(double x) { return 1 / sqrt(x); }

// ---- how the runner finds and calls a kernel
template <class T>
constexpr HostParameter Describe(T*) {
  return {sizeof(T), false, false, 1};
}
template <class T>
constexpr HostParameter Describe(T**) {
  return {sizeof(T*), true, true, alignof(T)};
}
template <class T>
constexpr HostParameter Describe(const T**) {
  return {sizeof(T*), true, false, alignof(T)};
}
template <auto kKernel>
struct HostKernel;
template <class... P, void (*kKernel)(P...)>
struct HostKernel<kKernel> {
  static constexpr HostParameter kParameters[sizeof...(P) + 1] = {
      Describe(static_cast<P*>(nullptr))...};
  static void Call(void* const* arguments) {
    CallAt(arguments, std::make_index_sequence<sizeof...(P)>());
  }
  template <size_t... kAt>
  static void CallAt(void* const* arguments, std::index_sequence<kAt...>) {
    kKernel(*static_cast<P*>(arguments[kAt])...);
  }
  static HostKernelInfo Info(unsigned max_threads) {
    return {Call, kParameters, sizeof...(P), max_threads};
  }
};

}  // namespace hk

// These macros come after the kernels: once, and once per kernel.
#define HK_HOST_EXPORT extern "C" __attribute__((visibility("default")))
#define HK_HOST_MODULE()                                   \
  HK_HOST_EXPORT void hk_enter(hk::HostContext* context) { \
    hk::context = context;                                 \
  }
#define HK_HOST_KERNEL(name, max_threads)                         \
  HK_HOST_EXPORT void hk_info_##name(hk::HostKernelInfo* info) {  \
    *info = hk::HostKernel<name>::Info(max_threads);              \
  }

#endif  // HAWSER_KERNELS_DIALECT_HOST_H_
