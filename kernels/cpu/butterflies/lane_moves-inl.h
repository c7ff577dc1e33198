// Complex numbers from memory to lanes and back, for the set of instructions at
// hand. Either elements or transforms are neighbours in memory.
#if defined(HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_MOVES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_MOVES_INL_H_
#undef HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_MOVES_INL_H_
#else
#define HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_MOVES_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/butterflies/lane_passes.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Transforms whose elements are moved together, as many as a block of 16 bytes
// holds parts, and how many elements such a block has.
template <typename T>
inline constexpr int64_t kBlockRows = 16 / sizeof(T);
template <typename T>
inline constexpr int64_t kBlockElements = 8 / sizeof(T);
// Elements of a cache line, which are moved one after the other.
template <typename T>
inline constexpr int64_t kLineElements = 32 / sizeof(T);

template <typename T>
HWY_INLINE int64_t LesserOf(T x, T y) {
  return x < y ? x : y;
}

#if HWY_TARGET != HWY_SCALAR
template <typename T>
using BlockTag = hn::FixedTag<T, 16 / sizeof(T)>;

// rows[i] has the parts of kBlockElements elements; their parts, one row of
// lanes after the other.
HWY_INLINE void LoadBlock(const float* const* rows, int64_t at, float* re,
                          float* im, int64_t width) {
  const BlockTag<float> d;
  const auto v0 = hn::LoadU(d, rows[0] + at), v1 = hn::LoadU(d, rows[1] + at);
  const auto v2 = hn::LoadU(d, rows[2] + at), v3 = hn::LoadU(d, rows[3] + at);
  const auto l0 = hn::InterleaveLower(d, v0, v2);
  const auto l1 = hn::InterleaveLower(d, v1, v3);
  const auto u0 = hn::InterleaveUpper(d, v0, v2);
  const auto u1 = hn::InterleaveUpper(d, v1, v3);
  hn::StoreU(hn::InterleaveLower(d, l0, l1), d, re);
  hn::StoreU(hn::InterleaveUpper(d, l0, l1), d, im);
  hn::StoreU(hn::InterleaveLower(d, u0, u1), d, re + width);
  hn::StoreU(hn::InterleaveUpper(d, u0, u1), d, im + width);
}
HWY_INLINE void LoadBlock(const double* const* rows, int64_t at, double* re,
                          double* im, int64_t) {
  const BlockTag<double> d;
  const auto v0 = hn::LoadU(d, rows[0] + at), v1 = hn::LoadU(d, rows[1] + at);
  hn::StoreU(hn::InterleaveLower(d, v0, v1), d, re);
  hn::StoreU(hn::InterleaveUpper(d, v0, v1), d, im);
}

HWY_INLINE void StoreBlock(const float* re, const float* im, int64_t width,
                           float scale, float* const* rows, int64_t at) {
  const BlockTag<float> d;
  const auto by = hn::Set(d, scale);
  const auto r0 = hn::Mul(hn::LoadU(d, re), by);
  const auto i0 = hn::Mul(hn::LoadU(d, im), by);
  const auto r1 = hn::Mul(hn::LoadU(d, re + width), by);
  const auto i1 = hn::Mul(hn::LoadU(d, im + width), by);
  const auto l0 = hn::InterleaveLower(d, r0, r1);
  const auto l1 = hn::InterleaveLower(d, i0, i1);
  const auto u0 = hn::InterleaveUpper(d, r0, r1);
  const auto u1 = hn::InterleaveUpper(d, i0, i1);
  hn::StoreU(hn::InterleaveLower(d, l0, l1), d, rows[0] + at);
  hn::StoreU(hn::InterleaveUpper(d, l0, l1), d, rows[1] + at);
  hn::StoreU(hn::InterleaveLower(d, u0, u1), d, rows[2] + at);
  hn::StoreU(hn::InterleaveUpper(d, u0, u1), d, rows[3] + at);
}
HWY_INLINE void StoreBlock(const double* re, const double* im, int64_t,
                           double scale, double* const* rows, int64_t at) {
  const BlockTag<double> d;
  const auto by = hn::Set(d, scale);
  const auto r = hn::Mul(hn::LoadU(d, re), by);
  const auto i = hn::Mul(hn::LoadU(d, im), by);
  hn::StoreU(hn::InterleaveLower(d, r, i), d, rows[0] + at);
  hn::StoreU(hn::InterleaveUpper(d, r, i), d, rows[1] + at);
}
#endif  // HWY_SCALAR

// ---- elements behind one another --------------------------------------------

// Loads elements [begin, end) of transforms [l, l + rows): any number.
template <typename T>
HWY_INLINE void LoadRest(const LaneMemory<const T>& from, int64_t begin,
                         int64_t end, int64_t l, int64_t count, int64_t until,
                         LaneParts<T> to, int64_t width) {
  for (; l < until; ++l) {
    const T* row = from.data + 2 * LesserOf(l, count - 1) * from.apart;
    for (int64_t j = begin; j < end; ++j) {
      to.re[j * width + l] = row[2 * j * from.step];
      to.im[j * width + l] = row[2 * j * from.step + 1];
    }
  }
}
template <typename T>
HWY_INLINE void StoreRest(LaneParts<const T> from, int64_t begin, int64_t end,
                          int64_t l, int64_t until, int64_t width, T scale,
                          const LaneMemory<T>& to) {
  for (; l < until; ++l) {
    T* row = to.data + 2 * l * to.apart;
    for (int64_t j = begin; j < end; ++j) {
      row[2 * j * to.step] = from.re[j * width + l] * scale;
      row[2 * j * to.step + 1] = from.im[j * width + l] * scale;
    }
  }
}

template <typename T>
HWY_INLINE void LoadRows(const LaneMemory<const T>& from, int64_t n,
                         int64_t count, LaneParts<T> to, int64_t width) {
#if HWY_TARGET == HWY_SCALAR
  LoadRest(from, 0, n, 0, count, width, to, width);
#else
  const int64_t whole = n - n % kBlockElements<T>;
  for (int64_t line = 0; line < whole; line += kLineElements<T>) {
    const int64_t end = LesserOf(line + kLineElements<T>, whole);
    // Lanes behind `count` are copies of the last one.
    for (int64_t l = 0; l < width; l += kBlockRows<T>) {
      const T* rows[kBlockRows<T>];
      for (int64_t i = 0; i < kBlockRows<T>; ++i) {
        rows[i] = from.data + 2 * LesserOf(l + i, count - 1) * from.apart;
      }
      for (int64_t j = line; j < end; j += kBlockElements<T>) {
        const int64_t at = j * width + l;
        LoadBlock(rows, 2 * j, to.re + at, to.im + at, width);
      }
    }
  }
  LoadRest(from, whole, n, 0, count, width, to, width);
#endif
}

template <typename T>
HWY_INLINE void StoreRows(LaneParts<const T> from, int64_t n, int64_t count,
                          int64_t width, T scale, const LaneMemory<T>& to) {
#if HWY_TARGET == HWY_SCALAR
  StoreRest(from, 0, n, 0, count, width, scale, to);
#else
  const int64_t whole = n - n % kBlockElements<T>;
  const int64_t lanes = count - count % kBlockRows<T>;
  for (int64_t line = 0; line < whole; line += kLineElements<T>) {
    const int64_t end = LesserOf(line + kLineElements<T>, whole);
    for (int64_t l = 0; l < lanes; l += kBlockRows<T>) {
      T* rows[kBlockRows<T>];
      for (int64_t i = 0; i < kBlockRows<T>; ++i) {
        rows[i] = to.data + 2 * (l + i) * to.apart;
      }
      for (int64_t j = line; j < end; j += kBlockElements<T>) {
        const int64_t at = j * width + l;
        StoreBlock(from.re + at, from.im + at, width, scale, rows, 2 * j);
      }
    }
  }
  StoreRest(from, 0, whole, lanes, count, width, scale, to);
  StoreRest(from, whole, n, 0, count, width, scale, to);
#endif
}

// ---- transforms behind one another ------------------------------------------

template <class O>
HWY_INLINE void LoadColumns(const LaneMemory<const typename O::T>& from,
                            int64_t n, int64_t count,
                            LaneParts<typename O::T> to, int64_t width) {
  const typename O::D d;
  const int64_t whole = count - count % O::kLanes;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t l = 0; l < whole; l += O::kLanes) {
      typename O::V re, im;
      hn::LoadInterleaved2(d, from.data + 2 * (j * from.step + l), re, im);
      O::Store(re, to.re + j * width + l);
      O::Store(im, to.im + j * width + l);
    }
  }
  LoadRest(from, 0, n, whole, count, width, to, width);
}

template <class O>
HWY_INLINE void StoreColumns(LaneParts<const typename O::T> from, int64_t n,
                             int64_t count, int64_t width, typename O::T scale,
                             const LaneMemory<typename O::T>& to) {
  const typename O::D d;
  const auto by = O::Set(scale);
  const int64_t whole = count - count % O::kLanes;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t l = 0; l < whole; l += O::kLanes) {
      const auto re = O::Mul(O::Load(from.re + j * width + l), by);
      const auto im = O::Mul(O::Load(from.im + j * width + l), by);
      hn::StoreInterleaved2(re, im, d, to.data + 2 * (j * to.step + l));
    }
  }
  StoreRest(from, 0, n, whole, count, width, scale, to);
}

template <class O>
void LoadLanes(const LaneMemory<const typename O::T>& from, int64_t n,
               int64_t count, LaneParts<typename O::T> to, int64_t width) {
  if (from.step == 1) {
    LoadRows<typename O::T>(from, n, count, to, width);
  } else {
    LoadColumns<O>(from, n, count, to, width);
  }
}

template <class O>
void StoreLanes(LaneParts<const typename O::T> from, int64_t n, int64_t count,
                int64_t width, typename O::T scale,
                const LaneMemory<typename O::T>& to) {
  if (to.step == 1) {
    StoreRows<typename O::T>(from, n, count, width, scale, to);
  } else {
    StoreColumns<O>(from, n, count, width, scale, to);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
