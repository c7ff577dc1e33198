#include "kernels/cpu/tile_steps/lane_moves.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/elements/element_loops.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

// Elements that are read along one axis and written along another: so many of
// each at a time, whose lines the nearest cache holds.
constexpr int64_t kBlock = 16;
// Rows of so few lanes are not worth a call each.
constexpr int64_t kFewLanes = 16;
// Rows of a table that are asked for before they are read, and how much of
// each.
constexpr int64_t kRowsAhead = 8;
constexpr int64_t kAskedBytes = 256, kLineBytes = 64;

template <typename W>
void PlainAcross(const W* from, int64_t pitch, int64_t ny, int64_t nx, W* to,
                 int64_t to_pitch) {
  for (int64_t i0 = 0; i0 < nx; i0 += kBlock) {
    const int64_t i1 = std::min(i0 + kBlock, nx);
    for (int64_t j = 0; j < ny; ++j) {
      for (int64_t i = i0; i < i1; ++i)
        to[j * to_pitch + i] = from[i * pitch + j];
    }
  }
}

// to[j * to_pitch + i] = from[i * pitch + j].
template <typename W>
void Across(const MoveLoops* loops, const W* from, int64_t pitch, int64_t ny,
            int64_t nx, W* to, int64_t to_pitch) {
  if (loops == nullptr) {
    return PlainAcross(from, pitch, ny, nx, to, to_pitch);
  }
  loops->across(reinterpret_cast<const char*>(from), pitch, ny, nx,
                reinterpret_cast<char*>(to), to_pitch);
}

template <typename W>
void LoadRow(const MoveLoops* loops, const W* from, int64_t step, int64_t n,
             W* to) {
  if (step == 1) {
    std::memcpy(to, from, n * sizeof(W));
  } else if (step == 0) {
    std::fill_n(to, n, *from);
  } else if (loops != nullptr) {
    loops->strided(reinterpret_cast<const char*>(from), step, n,
                   reinterpret_cast<char*>(to));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  }
}

// The first n of them again and again, up to `all`.
template <typename W>
void Repeat(int64_t n, int64_t all, W* lanes) {
  for (int64_t done = n; done < all; done += std::min(done, all - done)) {
    std::memcpy(lanes + done, lanes, std::min(done, all - done) * sizeof(W));
  }
}

template <typename W>
void LoadElements(const MoveLoops* loops, const W* from, LaneSteps steps,
                  int64_t ny, int64_t nx, W* to) {
  if (ny == 1) return LoadRow(loops, from, steps.x, nx, to);
  if (nx == 1) return LoadRow(loops, from, steps.y, ny, to);
  if (steps.y == nx * steps.x) {
    return LoadRow(loops, from, steps.x, ny * nx, to);
  }
  if (steps.y == 0) {
    LoadRow(loops, from, steps.x, nx, to);
    return Repeat(nx, ny * nx, to);
  }
  const bool crosses = steps.x != 1 && (steps.x != 0 || nx < kFewLanes);
  if (steps.y == 1 && crosses && (ny >= kFewLanes || nx < ny)) {
    return Across(loops, from, steps.x, ny, nx, to, nx);
  }
  if (nx < kFewLanes) {
    for (int64_t j = 0; j < ny; ++j) {
      const W* const row = from + j * steps.y;
      for (int64_t i = 0; i < nx; ++i) to[j * nx + i] = row[i * steps.x];
    }
    return;
  }
  for (int64_t j = 0; j < ny; ++j) {
    LoadRow(loops, from + j * steps.y, steps.x, nx, to + j * nx);
  }
}

template <typename W>
void StoreElements(const MoveLoops* loops, const W* from, LaneSteps steps,
                   int64_t ny, int64_t nx, W* to) {
  if (steps.y == 1 && steps.x != 1 && nx > 1) {
    return Across(loops, from, nx, nx, ny, to, steps.x);
  }
  for (int64_t j = 0; j < ny; ++j) {
    W* row = to + j * steps.y;
    if (steps.x == 1) {
      std::memcpy(row, from + j * nx, nx * sizeof(W));
      continue;
    }
    for (int64_t i = 0; i < nx; ++i) row[i * steps.x] = from[j * nx + i];
  }
}

}  // namespace

void LaneMoves::Load(const char* elements, LaneSteps steps, int64_t ny,
                     int64_t nx, char* lanes) const {
  VisitWidth(width_, [&](auto tag) {
    using W = typename decltype(tag)::type;
    LoadElements(loops_, reinterpret_cast<const W*>(elements), steps, ny, nx,
                 reinterpret_cast<W*>(lanes));
  });
}

void LaneMoves::Store(const char* lanes, LaneSteps steps, int64_t ny,
                      int64_t nx, char* elements) const {
  VisitWidth(width_, [&](auto tag) {
    using W = typename decltype(tag)::type;
    StoreElements(loops_, reinterpret_cast<const W*>(lanes), steps, ny, nx,
                  reinterpret_cast<W*>(elements));
  });
}

void LaneMoves::Stream(const char* lanes, LaneSteps steps, int64_t ny,
                       int64_t nx, char* elements) const {
  if (loops_ == nullptr) return Store(lanes, steps, ny, nx, elements);
  if (steps.y == nx) {
    loops_->stream(lanes, 1, ny * nx, elements, 0);
  } else {
    loops_->stream(lanes, ny, nx, elements, steps.y);
  }
}

void LaneMoves::GatherRows(const char* elements, const int64_t* rows,
                           int64_t step, int64_t ny, int64_t nx,
                           char* lanes) const {
  VisitWidth(width_, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* const from = reinterpret_cast<const W*>(elements);
    W* const to = reinterpret_cast<W*>(lanes);
    const int64_t asked = std::min<int64_t>(nx * sizeof(W), kAskedBytes);
    for (int64_t j = 0; j < ny; ++j) {
      const W* const ahead = from + rows[std::min(j + kRowsAhead, ny - 1)];
      for (int64_t byte = 0; byte < asked; byte += kLineBytes) {
        __builtin_prefetch(reinterpret_cast<const char*>(ahead) + byte);
      }
      LoadRow(loops_, from + rows[j], step, nx, to + j * nx);
    }
  });
}

void LaneMoves::Gather(const char* elements, const int64_t* indices,
                       const bool* holds, int64_t n, char* lanes) const {
  VisitWidth(width_, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* from = reinterpret_cast<const W*>(elements);
    W* to = reinterpret_cast<W*>(lanes);
    if (holds == nullptr) {
      HAWSER_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < n; ++k) to[k] = from[indices[k]];
      return;
    }
    for (int64_t k = 0; k < n; ++k) to[k] = holds[k] ? from[indices[k]] : W{};
  });
}

void LaneMoves::Scatter(const char* lanes, const int64_t* indices, int64_t n,
                        char* elements) const {
  VisitWidth(width_, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* from = reinterpret_cast<const W*>(lanes);
    W* to = reinterpret_cast<W*>(elements);
    for (int64_t k = 0; k < n; ++k) to[indices[k]] = from[k];
  });
}

void LaneMoves::Blend(const char* from, const bool* holds, int64_t n,
                      char* lanes) const {
  VisitWidth(width_, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* other = reinterpret_cast<const W*>(from);
    W* to = reinterpret_cast<W*>(lanes);
    HAWSER_INDEPENDENT_ITERATIONS
    for (int64_t k = 0; k < n; ++k) to[k] = holds[k] ? other[k] : to[k];
  });
}

}  // namespace hawser::cpu
