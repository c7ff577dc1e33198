// MatrixLanes: small matrices of reals side by side, one in each lane.
#ifndef HAWSER_KERNELS_CPU_MATRIX_LANES_MATRIX_LANES_H_
#define HAWSER_KERNELS_CPU_MATRIX_LANES_MATRIX_LANES_H_

#include <cstdint>

#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {

// Matrices side by side: element k of matrix l stands at k * kMatrixLanes + l,
// a cache line for each element.
template <typename T>
inline constexpr int64_t kMatrixLanes = 64 / sizeof(T);

// What a lane becomes depends on that lane alone, and is the same in each set
// of instructions, but for the signs of zeros. Elements are numbers around 1 or
// smaller; none is infinite or NaN, but where the function says so.
template <typename T>
struct MatrixLanes {
  // The factors U of x = U^T U, of which the upper triangles are read and
  // written, with any elements. bad: 1 for a lane that has none, else 0.
  void (*factor)(int64_t n, T* x, T* bad);
  // Makes the symmetric a, of which the upper triangles are read, diagonals,
  // and v, from anything, the orthogonal of a = v^T diag v.
  void (*diagonalize)(int64_t n, T* a, T* v);
  // Makes the rows of a, m of n elements, orthogonal to each other, and j, m x
  // m, from anything, what gives a = j^T a'.
  void (*orthogonalize)(int64_t m, int64_t n, T* a, T* j);
};

template <typename T>
const MatrixLanes<T>& FindMatrixLanes(Isa isa);
template <>
const MatrixLanes<float>& FindMatrixLanes(Isa isa);
template <>
const MatrixLanes<double>& FindMatrixLanes(Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MATRIX_LANES_MATRIX_LANES_H_
