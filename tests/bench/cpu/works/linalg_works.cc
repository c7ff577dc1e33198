// Factorizations, beside LAPACK's on one thread each.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "client/sdk/ops.h"
#include "kernels/cpu/libraries/lapack.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

using cpu::Lapack;

// Matrices [count, n, n], or one.
struct Stack {
  int64_t count, n;
  Dims dims() const { return count == 1 ? Dims{n, n} : Dims{count, n, n}; }
  int64_t elements() const { return count * n * n; }
};

// Symmetric; with `diagonal` on the diagonal added, positive definite.
template <typename T>
Literal SymmetricMatrices(const Stack& stack, double diagonal) {
  const Literal drawn = RandomFloats({stack.elements()}, -1, 1);
  Literal out = Literal::Uninitialized(Shape::Of(kDTypeOf<T>, stack.dims()));
  const auto from = drawn.data<float>();
  auto to = out.mutable_data<T>();
  const int64_t n = stack.n;
  for (int64_t k = 0; k < stack.elements(); ++k) {
    const int64_t matrix = k / (n * n) * n * n, i = k / n % n, j = k % n;
    const T both = static_cast<T>(from[k]) + from[matrix + j * n + i];
    to[k] = both + static_cast<T>(i == j ? diagonal : 0);
  }
  return out;
}

absl::StatusOr<const Lapack*> LapackLibrary() {
  const Lapack* lapack = Lapack::OfProcess();
  if (lapack == nullptr) return FailedPrecondition("no LAPACK here");
  return lapack;
}

// The floor: fn(matrix, number) for each matrix of a copy, on so many threads.
template <typename T, typename Fn>
std::function<void()> ForEach(const Setting& s, const Stack& stack,
                              const Literal& a, std::shared_ptr<T[]> copy,
                              Fn fn) {
  return [=, threads = s.threads] {
    Split(threads, stack.count, 1, [&](int64_t begin, int64_t end, int) {
      const int64_t size = stack.n * stack.n;
      for (int64_t i = begin; i < end; ++i) {
        std::copy_n(a.data<T>().data() + i * size, size, copy.get() + i * size);
        fn(copy.get() + i * size, i);
      }
    });
  };
}

// Lower triangles of `got` against upper ones of columns.
template <typename T>
absl::Status SameTriangles(const Stack& stack, absl::Span<const T> got,
                           const T* want, double off) {
  const int64_t n = stack.n;
  for (int64_t k = 0; k < stack.elements(); ++k) {
    if (k / n % n < k % n) continue;
    if (std::abs(got[k] - want[k]) <= off) continue;
    return DataLoss("element ", k, " is ", got[k], " instead of ", want[k]);
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<Race> RaceCholesky(const Setting& s, const Stack& stack) {
  HAWSER_ASSIGN_OR_RETURN(const Lapack* lapack, LapackLibrary());
  const Literal a =
      SymmetricMatrices<T>(stack, 4 * std::sqrt(static_cast<double>(stack.n)));
  const auto copy = Room<T>(stack.elements());
  const int n = static_cast<int>(stack.n);
  const auto floor = ForEach<T>(s, stack, a, copy, [=](T* matrix, int64_t) {
    int info = 0;
    lapack->Of<T>().potrf("U", &n, matrix, &n, &info, 1);
  });
  return RaceOf(
      s, {.body = [](const Tensors& t) { return Tensors{Cholesky(t[0])}; },
          .arguments = {a},
          .floor = floor,
          .check =
              [=](absl::Span<const Literal> got) {
                return SameTriangles<T>(stack, got[0].data<T>(), copy.get(),
                                        sizeof(T) == 4 ? 1e-3 : 1e-10);
              }});
}

template <typename T>
absl::StatusOr<Race> RaceEigh(const Setting& s, const Stack& stack) {
  HAWSER_ASSIGN_OR_RETURN(const Lapack* lapack, LapackLibrary());
  const Literal a = SymmetricMatrices<T>(stack, 0);
  const auto copy = Room<T>(stack.elements());
  const auto w = Room<T>(stack.count * stack.n);
  const int n = static_cast<int>(stack.n);
  const int size = 1 + 6 * n + 2 * n * n, ints = 3 + 5 * n;
  const auto floor = ForEach<T>(s, stack, a, copy, [=](T* matrix, int64_t i) {
    std::vector<T> work(size);
    std::vector<int> int_work(ints);
    int info = 0;
    lapack->Of<T>().Heevd("U", n, matrix, w.get() + i * n, work.data(), size,
                          nullptr, 0, int_work.data(), ints, &info);
  });
  return RaceOf(s, {.body =
                        [](const Tensors& t) {
                          const EighFactors f = Eigh(t[0]);
                          return Tensors{f.values, f.vectors};
                        },
                    .arguments = {a},
                    .floor = floor,
                    .check =
                        [=](absl::Span<const Literal> got) {
                          return Near<T>(
                              got[0],
                              {w.get(), static_cast<size_t>(stack.count * n)},
                              {.absolute = sizeof(T) == 4 ? 1e-3 : 1e-9});
                        }});
}

template <typename T>
absl::StatusOr<Race> RaceSvd(const Setting& s, const Stack& stack) {
  HAWSER_ASSIGN_OR_RETURN(const Lapack* lapack, LapackLibrary());
  const Literal a = SymmetricMatrices<T>(stack, 0);
  const auto copy = Room<T>(stack.elements()), u = Room<T>(stack.elements());
  const auto vt = Room<T>(stack.elements());
  const auto values = Room<T>(stack.count * stack.n);
  const int n = static_cast<int>(stack.n);
  const int size = 8 * n * n + 128 * n;
  const auto floor = ForEach<T>(s, stack, a, copy, [=](T* matrix, int64_t i) {
    std::vector<T> work(size);
    std::vector<int> int_work(8 * n);
    int info = 0;
    lapack->Of<T>().Gesdd('S', n, n, matrix, values.get() + i * n,
                          u.get() + i * n * n, n, vt.get() + i * n * n, n,
                          work.data(), size, nullptr, int_work.data(), &info);
  });
  return RaceOf(s,
                {.body =
                     [](const Tensors& t) {
                       const SvdFactors f = Svd(t[0]);
                       return Tensors{f.s, f.u, f.vh};
                     },
                 .arguments = {a},
                 .floor = floor,
                 .check =
                     [=](absl::Span<const Literal> got) {
                       return Near<T>(
                           got[0],
                           {values.get(), static_cast<size_t>(stack.count * n)},
                           {.absolute = sizeof(T) == 4 ? 1e-3 : 1e-9});
                     }});
}

template <typename T>
absl::StatusOr<Race> RaceLu(const Setting& s, const Stack& stack) {
  HAWSER_ASSIGN_OR_RETURN(const Lapack* lapack, LapackLibrary());
  const Literal a = SymmetricMatrices<T>(stack, 0);
  const auto copy = Room<T>(stack.elements());
  const int n = static_cast<int>(stack.n);
  const auto floor = ForEach<T>(s, stack, a, copy, [=](T* matrix, int64_t) {
    std::vector<int> pivots(n);
    int info = 0;
    lapack->Of<T>().getrf(&n, &n, matrix, &n, pivots.data(), &info);
  });
  return RaceOf(
      s,
      {.body = [](const Tensors& t) { return Tensors{Lu(t[0]).upper}; },
       .arguments = {a},
       .floor = floor,
       // Of a symmetric matrix columns are rows.
       .check =
           [=](absl::Span<const Literal> got) {
             const auto upper = got[0].data<T>();
             for (int64_t i = 0; i < n; ++i) {
               const T want = copy[i * n + i];
               if (std::abs(upper[i * n + i] - want) <= 1e-2 * std::abs(want)) {
                 continue;
               }
               return DataLoss("pivot ", i, " is ", upper[i * n + i],
                               " instead of ", want);
             }
             return absl::OkStatus();
           }});
}

}  // namespace

std::vector<Work> LinalgWorks() {
  const char* lapack = "the same by LAPACK, on a thread for each matrix";
  const auto work = [&](const char* name, double target, auto race, Stack stack,
                        Stack small) {
    return Work{
        .name = name,
        .floor = lapack,
        .targets = {.floor = target},
        .prepare =
            [=](const Setting& s) { return race(s, s.small ? small : stack); },
        .has_peers = false};
  };
  return {
      work("cholesky", 1.0, RaceCholesky<float>, {1, 2048}, {1, 200}),
      work("cholesky_f64", 1.0, RaceCholesky<double>, {1, 2048}, {1, 200}),
      work("cholesky_small", 0.15, RaceCholesky<float>, {4096, 8}, {64, 8}),
      work("lu", 1.0, RaceLu<float>, {1, 2048}, {1, 200}),
      work("eigh", 1.1, RaceEigh<double>, {1, 512}, {1, 60}),
      work("eigh_small", 0.25, RaceEigh<float>, {4096, 8}, {64, 8}),
      work("svd", 1.1, RaceSvd<double>, {1, 512}, {1, 60}),
      work("svd_small", 0.25, RaceSvd<float>, {65536, 3}, {64, 3}),
  };
}

}  // namespace hawser::bench
