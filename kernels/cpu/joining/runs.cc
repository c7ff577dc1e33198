#include "kernels/cpu/joining/runs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "absl/container/inlined_vector.h"

namespace hawser::cpu {
namespace {

// Runs of more bytes are copied by memcpy, whose call they are worth.
constexpr int64_t kChunk = 16;
constexpr int kMostChunks = 8;
// Two sources of so few bytes a row are interleaved, as a store of each run
// would move too little (measured: 0.4 ns and more for each).
constexpr int64_t kFewBytes = 4;
// Rows behind those that read and write a chunk of each run, however short.
constexpr int64_t kRowsBehind = 16;
constexpr int64_t kLine = 64;

using RunsFn = void (*)(const char* from, int64_t from_pitch, int64_t bytes,
                        int64_t n, char* to, int64_t to_pitch);

// Runs of kBytes, which the compiler makes one to three moves.
template <size_t kBytes>
void FixedRuns(const char* from, int64_t from_pitch, int64_t, int64_t n,
               char* to, int64_t to_pitch) {
  for (int64_t i = 0; i < n; ++i, from += from_pitch, to += to_pitch) {
    std::memcpy(to, from, kBytes);
  }
}

// Runs of kChunks chunks, of which the last two may overlap.
template <size_t kChunks>
void ChunkRuns(const char* from, int64_t from_pitch, int64_t bytes, int64_t n,
               char* to, int64_t to_pitch) {
  const int64_t last = bytes - kChunk;
  for (int64_t i = 0; i < n; ++i, from += from_pitch, to += to_pitch) {
    for (size_t k = 0; k + 1 < kChunks; ++k) {
      std::memcpy(to + k * kChunk, from + k * kChunk, kChunk);
    }
    std::memcpy(to + last, from + last, kChunk);
  }
}

template <size_t... kBytes>
constexpr std::array<RunsFn, sizeof...(kBytes)> FixedRunsTable(
    std::index_sequence<kBytes...>) {
  return {FixedRuns<kBytes>...};
}
template <size_t... kChunks>
constexpr std::array<RunsFn, sizeof...(kChunks)> ChunkRunsTable(
    std::index_sequence<kChunks...>) {
  return {ChunkRuns<kChunks + 1>...};
}
constexpr auto kFixedRuns =
    FixedRunsTable(std::make_index_sequence<kChunk + 1>());
constexpr auto kChunkRuns =
    ChunkRunsTable(std::make_index_sequence<kMostChunks>());

template <typename W>
void Interleave(const char* a, const char* b, int64_t n, char* to) {
  const W* const __restrict x = reinterpret_cast<const W*>(a);
  const W* const __restrict y = reinterpret_cast<const W*>(b);
  W* const __restrict both = reinterpret_cast<W*>(to);
  for (int64_t i = 0; i < n; ++i) {
    both[2 * i] = x[i];
    both[2 * i + 1] = y[i];
  }
}

// The index is the bytes of an element; no element has three.
constexpr decltype(&Interleave<uint8_t>) kInterleave[] = {
    nullptr, Interleave<uint8_t>, Interleave<uint16_t>, nullptr,
    Interleave<uint32_t>};

using Sources = absl::InlinedVector<RunSource, 8>;

// Interleaves pairs of neighbours that have equally few bytes a row into
// `room`, which has place for all rows. False: there are none.
bool PairUp(int64_t rows, char* room, Sources* sources) {
  Sources paired;
  bool any = false;
  for (size_t k = 0; k < sources->size(); ++k) {
    const RunSource a = (*sources)[k];
    if (k + 1 == sources->size() || a.bytes > kFewBytes ||
        kInterleave[a.bytes] == nullptr || (*sources)[k + 1].bytes != a.bytes) {
      paired.push_back(a);
      continue;
    }
    kInterleave[a.bytes](a.data, (*sources)[k + 1].data, rows, room);
    paired.push_back({room, 2 * a.bytes});
    room += 2 * a.bytes * rows;
    any = true;
    ++k;
  }
  *sources = std::move(paired);
  return any;
}

// Row by row, kWide bytes of each run: what is too much the next one writes
// over. Room for that is behind `to`, and more rows are behind the sources'.
template <size_t kWide, size_t kCount>
void WideRows(const Sources& sources, int64_t rows, char* to) {
  const char* from[kCount];
  int64_t bytes[kCount];
  for (size_t k = 0; k < kCount; ++k) {
    from[k] = sources[k].data;
    bytes[k] = sources[k].bytes;
  }
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < kCount; ++k) {
      std::memcpy(to, from[k], kWide);
      to += bytes[k];
      from[k] += bytes[k];
    }
  }
}

using WideRowsFn = void (*)(const Sources&, int64_t, char*);
template <size_t kWide>
WideRowsFn WideRowsOf(size_t count) {
  constexpr WideRowsFn kFns[] = {nullptr,
                                 nullptr,
                                 WideRows<kWide, 2>,
                                 WideRows<kWide, 3>,
                                 WideRows<kWide, 4>,
                                 WideRows<kWide, 5>,
                                 WideRows<kWide, 6>,
                                 WideRows<kWide, 7>,
                                 WideRows<kWide, 8>};
  return count < std::size(kFns) ? kFns[count] : nullptr;
}
// Null: there are too many sources, or runs are too long.
WideRowsFn FindWideRows(const Sources& sources) {
  int64_t most = 0;
  for (const RunSource& source : sources) most = std::max(most, source.bytes);
  if (most <= 4) return WideRowsOf<4>(sources.size());
  if (most <= 8) return WideRowsOf<8>(sources.size());
  return most <= kChunk ? WideRowsOf<kChunk>(sources.size()) : nullptr;
}

// Rooms of a block; a chunk more, for rows that are wider than they are.
struct BlockRooms {
  alignas(kLine) char pairs[3][kRunsBlock + kChunk];
  alignas(kLine) char joined[kRunsBlock + kChunk];
};

// `rows_behind`: of the sources. Returns where the block is.
const char* JoinBlock(Sources sources, int64_t rows, int64_t rows_behind,
                      int64_t pitch, BlockRooms& rooms) {
  // One byte becomes two, two become four, and four become eight.
  for (char* const room : {rooms.pairs[0], rooms.pairs[1], rooms.pairs[2]}) {
    if (!PairUp(rows, room, &sources)) break;
  }
  if (sources.size() == 1) return sources[0].data;
  char* to = rooms.joined;
  const WideRowsFn wide =
      rows_behind >= kRowsBehind ? FindWideRows(sources) : nullptr;
  if (wide != nullptr) {
    wide(sources, rows, to);
    return rooms.joined;
  }
  for (const RunSource& source : sources) {
    CopyRuns(source.data, source.bytes, source.bytes, rows, to, pitch);
    to += source.bytes;
  }
  return rooms.joined;
}

}  // namespace

void CopyRuns(const char* from, int64_t from_pitch, int64_t bytes, int64_t n,
              char* to, int64_t to_pitch) {
  if (from_pitch == bytes && to_pitch == bytes) {
    bytes *= n;
    n = 1;
  }
  if (bytes <= kChunk) {
    return kFixedRuns[bytes](from, from_pitch, bytes, n, to, to_pitch);
  }
  if (bytes <= kChunk * kMostChunks) {
    return kChunkRuns[(bytes - 1) / kChunk](from, from_pitch, bytes, n, to,
                                            to_pitch);
  }
  for (int64_t i = 0; i < n; ++i, from += from_pitch, to += to_pitch) {
    std::memcpy(to, from, bytes);
  }
}

void CopyOut(const char* from, int64_t bytes, bool past_caches, char* to) {
#if defined(__SSE2__)
  const auto into_line = reinterpret_cast<uintptr_t>(to) % kLine;
  const auto head = static_cast<int64_t>((kLine - into_line) % kLine);
  if (past_caches && bytes >= head + kLine) {
    std::memcpy(to, from, head);
    int64_t at = head;
    for (; at + kLine <= bytes; at += kLine) {
      for (int64_t k = at; k < at + kLine; k += sizeof(__m128i)) {
        _mm_stream_si128(
            reinterpret_cast<__m128i*>(to + k),
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
      }
    }
    from += at, to += at, bytes -= at;
  }
#endif
  std::memcpy(to, from, bytes);
}

void EndPastCaches() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

void JoinRows(absl::Span<const RunSource> sources, int64_t rows,
              bool past_caches, char* to) {
  int64_t pitch = 0;
  for (const RunSource& source : sources) pitch += source.bytes;
  if (pitch == 0) return;
  const int64_t most = std::max<int64_t>(kRunsBlock / pitch, 1);
  BlockRooms rooms;
  Sources block;
  for (int64_t row = 0; row < rows; row += most, to += most * pitch) {
    block.clear();
    for (const RunSource& source : sources) {
      if (source.bytes == 0) continue;
      block.push_back({source.data + row * source.bytes, source.bytes});
    }
    const int64_t n = std::min(most, rows - row);
    CopyOut(JoinBlock(block, n, rows - row - n, pitch, rooms), n * pitch,
            past_caches, to);
  }
  if (past_caches) EndPastCaches();
}

}  // namespace hawser::cpu
