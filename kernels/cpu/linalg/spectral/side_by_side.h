// Eigenvalues and singular values of small matrices of reals side by side, each
// in a lane of its own.
#ifndef HAWSER_KERNELS_CPU_LINALG_SPECTRAL_SIDE_BY_SIDE_H_
#define HAWSER_KERNELS_CPU_LINALG_SPECTRAL_SIDE_BY_SIDE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "kernels/cpu/linalg/long_calls.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/spectral/jacobi.h"
#include "kernels/cpu/matrix_lanes/matrix_lanes.h"

namespace hawser::cpu {

// Rows and columns of matrices that stand side by side at most; and of those
// that do however few there are.
inline constexpr int64_t kLaneRows = 16;
inline constexpr int64_t kShortLaneRows = 8;
// So many of more rows take as long side by side as by a library.
inline constexpr int64_t kFewMatrices = 6;
// Steps that a matrix takes besides, and how many take as long as one by own
// loops.
inline constexpr double kLaneSteps = 100;
inline constexpr double kLaneGain = 4;

// Decided by sizes alone, so that bits do not depend on threads. `longest`: of
// rows and columns; `library`: there is one to ask.
inline bool AreSideBySide(bool complex, int64_t longest, int64_t count,
                          bool library) {
  if (complex || longest > kLaneRows) return false;
  return longest <= kShortLaneRows || count >= kFewMatrices || !library;
}

// Writes the numbers at(i, j) to a lane, divided by a power of two near the
// largest, and returns that; 0 where one is not finite, and the lane is 0.
template <typename T, typename At>
T LoadLane(int64_t rows, int64_t columns, T* lane, At at) {
  T largest = 0, finite = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const T x = at(i, j);
      largest = std::max(largest, std::abs(x));
      finite += x * T{0};
    }
  }
  const bool good = finite == 0;
  const T scale = good ? PowerOfTwoNear(largest) : T{1};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      *lane = good ? at(i, j) / scale : T{0};
      lane += kMatrixLanes<T>;
    }
  }
  return good ? scale : T{0};
}

// The numbers below n in the order of less(i, j); equal ones stay.
template <typename Less>
std::array<int64_t, kLaneRows> OrderOf(int64_t n, Less less) {
  std::array<int64_t, kLaneRows> order = {};
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = i;
    for (; at > 0 && less(i, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

// Calls group(first, count, room) for the matrices of a batch, as many at once
// as there are lanes; `room` holds so many elements. `steps`: of a matrix.
template <typename T, typename Group>
absl::Status ForLaneGroups(const KernelContext& c, int64_t count, double steps,
                           int64_t room_size, Group group) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  return c.ForMetered(
      (count + kLanes - 1) / kLanes, steps * kLanes,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        HAWSER_ASSIGN_OR_RETURN(const Room<T> room, Room<T>::Of(c, room_size));
        for (int64_t k = begin; k < end; ++k) {
          const int64_t first = k * kLanes;
          const int64_t size = std::min(kLanes, count - first);
          HAWSER_RETURN_IF_ERROR(
              meter->Begin(steps * static_cast<double>(size)));
          HAWSER_RETURN_IF_ERROR(group(first, size, room.data, meter));
        }
        return meter->End();
      });
}

// ---- eigh -------------------------------------------------------------------

// Where the matrices of a batch are, and where theirs go.
template <typename T>
struct SymmetricBatch {
  int64_t n = 0;
  bool lower = true;
  const T* from = nullptr;
  T *w = nullptr, *v = nullptr;
};

template <typename T>
void WriteEigh(const SymmetricBatch<T>& b, int64_t matrix, T scale, const T* a,
               const T* v) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  const int64_t n = b.n;
  T* const w = b.w + matrix * n;
  T* const to = b.v + matrix * n * n;
  if (scale == 0) {
    std::fill_n(w, n, NotANumber<T>());
    std::fill_n(to, n * n, NotANumber<T>());
    return;
  }
  const auto value = [&](int64_t i) { return a[i * (n + 1) * kLanes]; };
  const auto order =
      OrderOf(n, [&](int64_t i, int64_t j) { return value(i) < value(j); });
  // Adding 0 makes every zero positive: their signs depend on other lanes.
  for (int64_t i = 0; i < n; ++i) {
    w[i] = value(order[i]) * scale + T{0};
    for (int64_t j = 0; j < n; ++j) {
      to[i * n + j] = v[(order[j] * n + i) * kLanes] + T{0};
    }
  }
}

// Matrices [first, first + count); `room` holds two of each lane.
template <typename T>
void EighOfGroup(const SymmetricBatch<T>& b, int64_t first, int64_t count,
                 T* room) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  const int64_t n = b.n;
  T* const v = room + n * n * kLanes;
  std::array<T, kLanes> scales = {};
  for (int64_t l = 0; l < kLanes; ++l) {
    const T* const a = b.from + (first + std::min(l, count - 1)) * n * n;
    scales[l] = LoadLane(n, n, room + l, [&](int64_t i, int64_t j) {
      return (i > j) == b.lower ? a[i * n + j] : a[j * n + i];
    });
  }
  FindMatrixLanes<T>(ProcessIsa()).diagonalize(n, room, v);
  for (int64_t l = 0; l < count; ++l) {
    WriteEigh(b, first + l, scales[l], room + l, v + l);
  }
}

// ---- svd --------------------------------------------------------------------

// Where the matrices of a batch are, and where theirs go; u and vh are null
// where nothing asks for them.
template <typename T>
struct AnyBatch {
  int64_t rows = 0, columns = 0;
  bool full = false;
  const T* from = nullptr;
  T *s = nullptr, *u = nullptr, *vh = nullptr;

  bool tall() const { return rows > columns; }
  int64_t least() const { return std::min(rows, columns); }
  int64_t most() const { return std::max(rows, columns); }
  View<T> U(int64_t matrix) const {
    const int64_t k = full ? rows : least();
    return {u + matrix * rows * k, rows, k, k};
  }
  View<T> Vh(int64_t matrix) const {
    const int64_t k = full ? columns : least();
    return {vh + matrix * k * columns, k, columns, columns};
  }
};

// Writes s, and to the first rows of `sorted` the rows of length 1 in its
// order; returns that.
template <typename T>
std::array<int64_t, kLaneRows> NormalizeLane(int64_t m, T scale, const T* rows,
                                             T* s, View<T> sorted) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  const int64_t n = sorted.columns;
  std::array<T, kLaneRows> lengths = {};
  for (int64_t i = 0; i < m; ++i) {
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const T x = rows[(i * n + j) * kLanes];
      sum += x * x;
    }
    lengths[i] = std::sqrt(sum);
  }
  const auto order =
      OrderOf(m, [&](int64_t i, int64_t j) { return lengths[i] > lengths[j]; });
  for (int64_t i = 0; i < m; ++i) {
    const T length = lengths[order[i]];
    s[i] = length * scale;
    for (int64_t j = 0; j < n; ++j) {
      const T x = rows[(order[i] * n + j) * kLanes] + T{0};
      sorted.At(i, j) = length > 0 ? x / length : x;
    }
  }
  return order;
}

// A = turns^T s rows, or of a tall one its transpose.
template <typename T>
absl::Status WriteSvd(const AnyBatch<T>& b, int64_t matrix, T scale,
                      const T* rows, const T* turns, WorkMeter* meter) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  const int64_t m = b.least(), n = b.most();
  T* const s = b.s + matrix * m;
  const View<T> u = b.u == nullptr ? View<T>() : b.U(matrix);
  const View<T> vh = b.vh == nullptr ? View<T>() : b.Vh(matrix);
  if (scale == 0) {
    std::fill_n(s, m, NotANumber<T>());
    FillNan(u);
    FillNan(vh);
    return absl::OkStatus();
  }
  std::array<T, kLaneRows * kLaneRows> room;
  const View<T> sorted{room.data(), b.full ? n : m, n, n};
  const auto order = NormalizeLane(m, scale, rows, s, sorted);
  if (b.u == nullptr) return absl::OkStatus();
  int64_t known = 0;
  while (known < m && s[known] > 0) ++known;
  HAWSER_RETURN_IF_ERROR(CompleteRows(sorted, known, meter));
  const auto turn = [&](int64_t i, int64_t j) {
    return turns[(order[i] * m + j) * kLanes] + T{0};
  };
  for (int64_t i = 0; i < u.rows; ++i) {
    for (int64_t j = 0; j < u.columns; ++j) {
      u.At(i, j) = b.tall() ? sorted.At(j, i) : turn(j, i);
    }
  }
  for (int64_t i = 0; i < vh.rows; ++i) {
    for (int64_t j = 0; j < vh.columns; ++j) {
      vh.At(i, j) = b.tall() ? turn(i, j) : sorted.At(i, j);
    }
  }
  return absl::OkStatus();
}

// Matrices [first, first + count); `room` holds a matrix and its turns of each
// lane.
template <typename T>
absl::Status SvdOfGroup(const AnyBatch<T>& b, int64_t first, int64_t count,
                        T* room, WorkMeter* meter) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  const int64_t m = b.least(), n = b.most();
  T* const turns = room + m * n * kLanes;
  std::array<T, kLanes> scales = {};
  for (int64_t l = 0; l < kLanes; ++l) {
    const T* const a = b.from + (first + std::min(l, count - 1)) * m * n;
    scales[l] = LoadLane(m, n, room + l, [&](int64_t i, int64_t j) {
      return b.tall() ? a[j * m + i] : a[i * n + j];
    });
  }
  FindMatrixLanes<T>(ProcessIsa()).orthogonalize(m, n, room, turns);
  for (int64_t l = 0; l < count; ++l) {
    HAWSER_RETURN_IF_ERROR(
        WriteSvd(b, first + l, scales[l], room + l, turns + l, meter));
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_SPECTRAL_SIDE_BY_SIDE_H_
