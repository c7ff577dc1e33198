#include "kernels/cpu/tile_steps/lane_moves.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/element_loops.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

// Elements that are read along one axis and written along another: so many of
// each at a time, whose lines the nearest cache holds.
constexpr int64_t kBlock = 16;

template <typename W>
void LoadAcross(const W* from, LaneSteps steps, int64_t ny, int64_t nx, W* to) {
  for (int64_t i0 = 0; i0 < nx; i0 += kBlock) {
    const int64_t i1 = std::min(i0 + kBlock, nx);
    for (int64_t j0 = 0; j0 < ny; j0 += kBlock) {
      const int64_t j1 = std::min(j0 + kBlock, ny);
      for (int64_t i = i0; i < i1; ++i) {
        const W* column = from + i * steps.x;
        for (int64_t j = j0; j < j1; ++j) {
          to[j * nx + i] = column[j * steps.y];
        }
      }
    }
  }
}

template <typename W>
void LoadRow(const W* from, int64_t step, int64_t n, W* to) {
  if (step == 1) {
    std::memcpy(to, from, n * sizeof(W));
  } else if (step == 0) {
    std::fill_n(to, n, *from);
  } else if (step == -1) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  }
}

template <typename W>
void Load(const W* from, LaneSteps steps, int64_t ny, int64_t nx, W* to) {
  if (ny > 1 && nx > 1 && steps.x != 0 && steps.x != 1 &&
      (steps.y == 1 || steps.y == -1)) {
    return LoadAcross(from, steps, ny, nx, to);
  }
  if (nx == 1) return LoadRow(from, steps.y, ny, to);
  for (int64_t j = 0; j < ny; ++j) {
    LoadRow(from + j * steps.y, steps.x, nx, to + j * nx);
  }
}

template <typename W>
void Store(const W* from, LaneSteps steps, int64_t ny, int64_t nx, W* to) {
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

void LoadLanes(int64_t width, const char* elements, LaneSteps steps, int64_t ny,
               int64_t nx, char* lanes) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    Load(reinterpret_cast<const W*>(elements), steps, ny, nx,
         reinterpret_cast<W*>(lanes));
  });
}

void StoreLanes(int64_t width, const char* lanes, LaneSteps steps, int64_t ny,
                int64_t nx, char* elements) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    Store(reinterpret_cast<const W*>(lanes), steps, ny, nx,
          reinterpret_cast<W*>(elements));
  });
}

void GatherLanes(int64_t width, const char* elements, const int64_t* indices,
                 const bool* holds, int64_t n, char* lanes) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* from = reinterpret_cast<const W*>(elements);
    W* to = reinterpret_cast<W*>(lanes);
    if (holds == nullptr) {
      HAWSER_INDEPENDENT_TURNS
      for (int64_t k = 0; k < n; ++k) to[k] = from[indices[k]];
      return;
    }
    for (int64_t k = 0; k < n; ++k) to[k] = holds[k] ? from[indices[k]] : W{};
  });
}

void ScatterLanes(int64_t width, const char* lanes, const int64_t* indices,
                  int64_t n, char* elements) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* from = reinterpret_cast<const W*>(lanes);
    W* to = reinterpret_cast<W*>(elements);
    for (int64_t k = 0; k < n; ++k) to[indices[k]] = from[k];
  });
}

void BlendLanes(int64_t width, const char* from, const bool* holds, int64_t n,
                char* lanes) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* other = reinterpret_cast<const W*>(from);
    W* to = reinterpret_cast<W*>(lanes);
    HAWSER_INDEPENDENT_TURNS
    for (int64_t k = 0; k < n; ++k) to[k] = holds[k] ? other[k] : to[k];
  });
}

}  // namespace hawser::cpu
