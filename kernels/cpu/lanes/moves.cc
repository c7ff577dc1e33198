// Highway compiles it once for each instruction set, as convert.cc.
#include "kernels/cpu/lanes/moves.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lanes/moves.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/elements/independent_iterations.h"
#include "kernels/cpu/isa/by_isa.h"
#include "kernels/cpu/lanes/lanes.h"

// Scalar code would gain nothing.
#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kLine = 64;  // bytes
// Rows that are asked for before they are read. Their lines lie too far apart
// for the processor to ask by itself, and often where the nearest cache keeps
// few of them. (Measured: f32 of 4096 x 4096 takes a third less; 32 rows give
// the same, 64 take longer. u8 takes 3.8 ms by the nearest cache, 2.3 by the
// second.)
constexpr int64_t kAhead = 16;
// Elements of a block, a part of a vector in which its instructions interleave.
template <typename W>
constexpr int64_t kBlock = 16 / sizeof(W);

// ---- rows to columns --------------------------------------------------------

// Puts blocks where they belong: each is kBlock rows below the one before.
template <class D, typename W>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> v, W* to, int64_t pitch) {
  if constexpr (hn::MaxLanes(D()) == kBlock<W>) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    StoreBlocks(half, hn::LowerHalf(half, v), to, pitch);
    StoreBlocks(half, hn::UpperHalf(half, v), to + hn::Lanes(half) * pitch,
                pitch);
  }
}

// kBlock rows of a vector's lanes become as many rows of kBlock.
template <class D, typename W>
HWY_INLINE void TransposeBlock(D d, const W* from, int64_t pitch, W* to,
                               int64_t to_pitch) {
  constexpr int64_t n = kBlock<W>;
  hn::Vec<D> v[n], w[n];
  for (int64_t k = 0; k < n; ++k) v[k] = hn::LoadU(d, from + k * pitch);
  for (int64_t step = 1; step < n; step *= 2) {
    for (int64_t k = 0; k < n / 2; ++k) {
      w[2 * k] = hn::InterleaveLower(d, v[k], v[k + n / 2]);
      w[2 * k + 1] = hn::InterleaveUpper(d, v[k], v[k + n / 2]);
    }
    for (int64_t k = 0; k < n; ++k) v[k] = w[k];
  }
  for (int64_t k = 0; k < n; ++k) {
    StoreBlocks(d, v[k], to + k * to_pitch, to_pitch);
  }
}

// ny is at least a vector, nx at least a block. The rest beyond whole ones is
// moved together with some lanes before it.
template <class D, typename W>
HWY_INLINE void AcrossBy(D d, const W* from, int64_t pitch, int64_t ny,
                         int64_t nx, W* to, int64_t to_pitch) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t n = kBlock<W>;
  constexpr int64_t line = kLine / sizeof(W);
  for (int64_t i0 = 0; i0 < nx; i0 += n) {
    const int64_t i = i0 + n <= nx ? i0 : nx - n;
    const W* rows = from + i * pitch;
    for (int64_t j0 = 0; j0 < ny; j0 += lanes) {
      const int64_t j = j0 + lanes <= ny ? j0 : ny - lanes;
      if (j0 % line == 0) {
        for (int64_t k = 0; k < n; ++k) {
          __builtin_prefetch(rows + (kAhead + k) * pitch + j, /*rw=*/0,
                             kSecondCache);
        }
      }
      TransposeBlock(d, rows + j, pitch, to + j * to_pitch + i, to_pitch);
    }
  }
}

// One by one.
template <typename W>
HWY_INLINE void AcrossEach(const W* from, int64_t pitch, int64_t ny, int64_t nx,
                           W* to, int64_t to_pitch) {
  constexpr int64_t line = kLine / sizeof(W);
  for (int64_t j0 = 0; j0 < ny; j0 += line) {
    const int64_t j1 = j0 + line < ny ? j0 + line : ny;
    for (int64_t i = 0; i < nx; ++i) {
      for (int64_t j = j0; j < j1; ++j) {
        to[j * to_pitch + i] = from[i * pitch + j];
      }
    }
  }
}

// Two to four rows into one.
template <typename W>
HWY_INLINE void Interleave(const W* from, int64_t pitch, int64_t ny, int64_t nx,
                           W* to) {
  const hn::ScalableTag<W> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const W* const a = from;
  const W* const b = from + pitch;
  const W* const c = from + (nx > 2 ? 2 * pitch : 0);
  const W* const e = from + (nx > 3 ? 3 * pitch : 0);
  int64_t j = 0;
  for (; j + lanes <= ny; j += lanes) {
    const auto x = hn::LoadU(d, a + j), y = hn::LoadU(d, b + j);
    if (nx == 2) {
      hn::StoreInterleaved2(x, y, d, to + j * 2);
      continue;
    }
    const auto z = hn::LoadU(d, c + j);
    if (nx == 3) {
      hn::StoreInterleaved3(x, y, z, d, to + j * 3);
    } else {
      hn::StoreInterleaved4(x, y, z, hn::LoadU(d, e + j), d, to + j * 4);
    }
  }
  AcrossEach(from + j, pitch, ny - j, nx, to + j * nx, nx);
}

template <typename W>
void Across(const char* from, int64_t pitch, int64_t ny, int64_t nx, char* to,
            int64_t to_pitch) {
  const W* const x = reinterpret_cast<const W*>(from);
  W* const y = reinterpret_cast<W*>(to);
  if constexpr (sizeof(W) < 16) {
    const hn::ScalableTag<W> whole;
    const hn::Full128<W> block;
    if (nx >= 2 && nx <= 4 && to_pitch == nx) {
      return Interleave(x, pitch, ny, nx, y);
    }
    if (nx >= kBlock<W>) {
      if (ny >= static_cast<int64_t>(hn::Lanes(whole))) {
        return AcrossBy(whole, x, pitch, ny, nx, y, to_pitch);
      }
      if (ny >= kBlock<W>) {
        return AcrossBy(block, x, pitch, ny, nx, y, to_pitch);
      }
    }
  }
  AcrossEach(x, pitch, ny, nx, y, to_pitch);
}

// ---- steps ------------------------------------------------------------------

// Every second to fourth element. The last vector would read beyond the last
// of them.
template <typename W>
HWY_INLINE int64_t Deinterleave(const W* from, int64_t step, int64_t n, W* to) {
  const hn::ScalableTag<W> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes < n; i += lanes) {
    hn::Vec<decltype(d)> x, y, z, w;
    if (step == 2) {
      hn::LoadInterleaved2(d, from + i * 2, x, y);
    } else if (step == 3) {
      hn::LoadInterleaved3(d, from + i * 3, x, y, z);
    } else {
      hn::LoadInterleaved4(d, from + i * 4, x, y, z, w);
    }
    hn::StoreU(x, d, to + i);
  }
  return i;
}

template <typename W>
void Strided(const char* from, int64_t step, int64_t n, char* to) {
  const W* const x = reinterpret_cast<const W*>(from);
  W* const y = reinterpret_cast<W*>(to);
  if (step == -1) {
    HAWSER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) y[i] = x[-i];
    return;
  }
  int64_t i = 0;
  if constexpr (sizeof(W) < 16) {
    if (step >= 2 && step <= 4) i = Deinterleave(x, step, n, y);
  }
  for (; i < n; ++i) y[i] = x[i * step];
}

// ---- past the caches --------------------------------------------------------

HWY_INLINE void StreamRow(const char* from, int64_t bytes, char* to) {
  const auto into_line = reinterpret_cast<uintptr_t>(to) % kLine;
  const int64_t head =
      into_line == 0 ? 0 : kLine - static_cast<int64_t>(into_line);
  if (bytes < head + kLine) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, head);
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* x = reinterpret_cast<const uint8_t*>(from);
  auto* y = reinterpret_cast<uint8_t*>(to);
  int64_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    for (int64_t k = 0; k < kLine; k += lanes) {
      hn::Stream(hn::LoadU(d, x + i + k), d, y + i + k);
    }
  }
  std::memcpy(to + i, from + i, bytes - i);
}

template <typename W>
void Stream(const char* from, int64_t ny, int64_t nx, char* to,
            int64_t to_pitch) {
  const int64_t bytes = nx * sizeof(W);
  for (int64_t j = 0; j < ny; ++j) {
    StreamRow(from + j * bytes, bytes, to + j * to_pitch * sizeof(W));
  }
  hwy::FlushStream();
}

// ---- the table --------------------------------------------------------------

struct Wide {
  uint64_t halves[2];
};

template <typename W>
const MoveLoops* LoopsOf() {
  static constexpr MoveLoops kLoops = {Across<W>, Strided<W>, Stream<W>};
  return &kLoops;
}

}  // namespace

const MoveLoops* MovesOf(int64_t width) {
  switch (width) {
    case 1:
      return LoopsOf<uint8_t>();
    case 2:
      return LoopsOf<uint16_t>();
    case 4:
      return LoopsOf<uint32_t>();
    case 8:
      return LoopsOf<uint64_t>();
    default:
      return LoopsOf<Wide>();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

const MoveLoops* FindMoves(int64_t width, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, MovesOf(width))
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
