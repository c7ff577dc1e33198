#include "kernels/cpu/products/own_tile.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/conversion.h"

namespace hawser::cpu {
namespace {

// Rows of b whose part of a tile is packed at once.
constexpr int64_t kOwnDepth = 128;

template <typename T>
struct TileAccumulator {
  using type = ComputeType<T>;
};
template <IntegerType T>
struct TileAccumulator<T> {
  using type = Wrapping<T>;
};

template <typename T>
T Product(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return Multiply::Apply(a, b);
  } else {
    return a * b;
  }
}

// acc[j] += a[0] * b[0][j] + ... over `depth` rows of b, four at a time.
template <typename Acc>
void AddProducts(const Acc* a, const Acc* b, int64_t depth, int64_t columns,
                 Acc* acc) {
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4, b += 4 * columns) {
    for (int64_t j = 0; j < columns; ++j) {
      acc[j] += (Product(a[k], b[j]) + Product(a[k + 1], b[columns + j])) +
                (Product(a[k + 2], b[2 * columns + j]) +
                 Product(a[k + 3], b[3 * columns + j]));
    }
  }
  for (; k < depth; ++k, b += columns) {
    for (int64_t j = 0; j < columns; ++j) acc[j] += Product(a[k], b[j]);
  }
}

template <typename T>
absl::Status RunTile(const GemmProblem& p, const GemmBox& t,
                     const Environment& environment) {
  using Acc = typename TileAccumulator<T>::type;
  std::vector<Acc> acc(t.rows * t.columns, Acc{});
  std::vector<Acc> b(kOwnDepth * t.columns);
  std::vector<Acc> a(kOwnDepth);
  for (int64_t k0 = 0; k0 < p.k; k0 += kOwnDepth) {
    const int64_t depth = std::min(kOwnDepth, p.k - k0);
    for (int64_t k = 0; k < depth; ++k) {
      const T* from = p.b.At<T>(t.batch, k0 + k, t.column);
      for (int64_t j = 0; j < t.columns; ++j) {
        b[k * t.columns + j] = static_cast<Acc>(from[j * p.b.column_stride]);
      }
    }
    for (int64_t i = 0; i < t.rows; ++i) {
      const T* from = p.a.At<T>(t.batch, t.row + i, k0);
      for (int64_t k = 0; k < depth; ++k) {
        a[k] = static_cast<Acc>(from[k * p.a.column_stride]);
      }
      AddProducts(a.data(), b.data(), depth, t.columns,
                  acc.data() + i * t.columns);
    }
    HAWSER_RETURN_IF_ERROR(environment.Look(
        GemmSteps(p.dtype) * ProductsOf(t.rows, t.columns, depth)));
  }
  T* c = reinterpret_cast<T*>(p.c) + (t.batch * p.m + t.row) * p.n + t.column;
  for (int64_t i = 0; i < t.rows; ++i) {
    for (int64_t j = 0; j < t.columns; ++j) {
      c[i * p.n + j] = static_cast<T>(acc[i * t.columns + j]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunOwnTile(const GemmProblem& problem, const GemmBox& box,
                        const Environment& environment) {
  return VisitDType(problem.dtype, [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return Unimplemented("no product of bool");
    } else {
      return RunTile<T>(problem, box, environment);
    }
  });
}

}  // namespace hawser::cpu
