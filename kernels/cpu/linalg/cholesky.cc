// cholesky: blocks by a library, or own loops. A matrix is factored where its
// factor goes.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/rows.h"
#include "kernels/cpu/matrix_lanes/matrix_lanes.h"

namespace hawser::cpu {
namespace {

// The part of row i in a triangle, with the diagonal: [begin, end).
std::pair<int64_t, int64_t> InTriangle(bool lower, int64_t i, int64_t n) {
  return lower ? std::pair<int64_t, int64_t>(0, i + 1)
               : std::pair<int64_t, int64_t>(i, n);
}

// The factor U of a = U^H U, row by row; false: it is not positive definite.
template <typename T>
absl::StatusOr<bool> OwnUpper(View<T> a, WorkMeter* meter) {
  const int64_t n = a.rows;
  for (int64_t k = 0; k < n; ++k) {
    T* const row = a.Row(k);
    const RealOf<T> pivot = Re(row[k]);
    if (!(pivot > 0)) return false;
    const RealOf<T> root = std::sqrt(pivot);
    row[k] = root;
    for (int64_t j = k + 1; j < n; ++j) row[j] /= root;
    for (int64_t i = k + 1; i < n; ++i) {
      HAWSER_RETURN_IF_ERROR(
          meter->Begin(kOwnProductSteps<T> * static_cast<double>(n - i)));
      SubtractTimes(ConjugateOf(row[i]), row + i, n - i, a.Row(i) + i);
    }
  }
  return true;
}

// A lower triangle is turned into the other, which the factor leaves empty.
template <typename T>
absl::StatusOr<bool> OwnFactor(View<T> a, bool lower, WorkMeter* meter) {
  if (!lower) return OwnUpper(a, meter);
  const auto turn = [&](bool to_upper) {
    return ForRows(a, meter, [&](int64_t i) {
      for (int64_t j = 0; j < i; ++j) {
        (to_upper ? a.At(j, i) : a.At(i, j)) =
            ConjugateOf(to_upper ? a.At(i, j) : a.At(j, i));
      }
    });
  };
  HAWSER_RETURN_IF_ERROR(turn(/*to_upper=*/true));
  HAWSER_ASSIGN_OR_RETURN(const bool definite, OwnUpper(a, meter));
  if (definite) HAWSER_RETURN_IF_ERROR(turn(/*to_upper=*/false));
  return definite;
}

// Each block's own factor, what is beside it, and what that leaves.
template <typename T>
absl::StatusOr<bool> FactorBlocks(View<T> a, bool lower,
                                  const DenseCalls<T>& calls) {
  const int64_t n = a.rows;
  for (int64_t k = 0; k < n; k += kBlockRows) {
    const int64_t size = std::min(kBlockRows, n - k), rest = n - k - size;
    const View<T> block = a.Block(k, k, size, size);
    HAWSER_ASSIGN_OR_RETURN(const bool definite, calls.Cholesky(block, lower));
    if (!definite) return false;
    if (rest == 0) break;
    const View<T> beside = lower ? a.Block(k + size, k, rest, size)
                                 : a.Block(k, k + size, size, rest);
    HAWSER_RETURN_IF_ERROR(calls.SolveTriangle(
        /*left=*/!lower, lower, Op::kAdjoint, /*unit=*/false, block, beside));
    HAWSER_RETURN_IF_ERROR(
        calls.SubtractSquare(a.Block(k + size, k + size, rest, rest), lower,
                             lower ? Op::kNone : Op::kAdjoint, beside));
  }
  return true;
}

// Never asks a library about what is not finite.
template <typename T>
absl::Status FactorOne(View<T> a, bool lower, const Lapack* lapack,
                       WorkMeter* meter) {
  const int64_t n = a.rows;
  bool finite = true;
  HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
    a.At(i, i) = Re(a.At(i, i));
    const auto [begin, end] = InTriangle(lower, i, n);
    finite = finite && AllFinite(a.Row(i) + begin, end - begin);
  }));
  bool definite = false;
  if (finite && lapack != nullptr) {
    HAWSER_ASSIGN_OR_RETURN(
        definite,
        FactorBlocks(a, lower, DenseCalls<T>(lapack->Of<T>(), meter)));
  } else if (finite) {
    HAWSER_ASSIGN_OR_RETURN(definite, OwnFactor(a, lower, meter));
  }
  return ForRows(a, meter, [&](int64_t i) {
    const auto [begin, end] = InTriangle(lower, i, n);
    if (definite) {
      std::fill(a.Row(i), a.Row(i) + begin, T{});
      std::fill(a.Row(i) + end, a.Row(i) + n, T{});
    } else {
      std::fill_n(a.Row(i), n, NotANumber<T>());
    }
  });
}

double StepsOf(DType dtype, int64_t rows) {
  const auto n = static_cast<double>(rows);
  // Side by side four of them take as long as one.
  const bool lanes = rows <= kOwnRows && !IsComplex(dtype);
  return (n * n * n / 6 * ProductSteps(dtype, rows) +
          2 * kElementSteps * n * n) /
         (lanes ? 4 : 1);
}

// ---- small matrices of reals, side by side ---------------------------------

// Fewer of them take longer side by side than one after the other.
constexpr int64_t kFewLanes = 4;

// Matrices [first, first + count) of a batch, at most as many as there are
// lanes; `room` is theirs. They are factored in the order of OwnUpper, so with
// its bits.
template <typename T>
void FactorGroup(const Batch& batch, const T* from, T* to, int64_t first,
                 int64_t count, bool lower, T* room) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  const int64_t n = batch.rows;
  // Element (i, j) of a factor U is in memory at i n + j, or turned.
  const int64_t down = lower ? 1 : n, along = lower ? n : 1;
  T bad[kLanes] = {};
  for (int64_t l = 0; l < kLanes; ++l) {
    const T* const a = from + (first + std::min(l, count - 1)) * n * n;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) {
        room[(i * n + j) * kLanes + l] = a[i * down + j * along];
      }
    }
  }
  FindMatrixLanes<T>(ProcessIsa()).factor(n, room, bad);
  for (int64_t l = 0; l < count; ++l) {
    T* const a = to + (first + l) * n * n;
    if (bad[l] != 0) {
      std::fill_n(a, n * n, NotANumber<T>());
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) a[i * down + j * along] = T{};
      for (int64_t j = i; j < n; ++j) {
        a[i * down + j * along] = room[(i * n + j) * kLanes + l];
      }
    }
  }
}

template <typename T>
absl::Status FactorRange(const KernelContext& c, const Batch& batch,
                         const T* from, T* to, int64_t begin, int64_t end,
                         const Lapack* lapack, WorkMeter* meter) {
  const bool lower = c.attributes().GetBool("lower");
  int64_t at = begin;
  if constexpr (!kIsComplexOf<T>) {
    const int64_t n = batch.rows;
    constexpr int64_t kLanes = kMatrixLanes<T>;
    std::vector<T> room;
    while (n <= kOwnRows && end - at >= kFewLanes) {
      room.resize(n * n * kLanes);
      const int64_t count = std::min(kLanes, end - at);
      HAWSER_RETURN_IF_ERROR(meter->Begin(static_cast<double>(count) *
                                          StepsOf(kDTypeOf<T>, batch.rows)));
      FactorGroup(batch, from, to, at, count, lower, room.data());
      at += count;
    }
  }
  for (; at < end; ++at) {
    const View<const T> a = batch.At(from, at);
    const View<T> factor = batch.At(to, at);
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
      if (from != to) std::copy_n(a.Row(i), a.columns, factor.Row(i));
    }));
    HAWSER_RETURN_IF_ERROR(FactorOne(factor, lower, lapack, meter));
  }
  return meter->End();
}

}  // namespace

absl::StatusOr<Literals> RunCholesky(const KernelContext& c) {
  const char* const from = c.data(0);
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.ReuseOrAllocate());
  if (out.shape().num_elements() == 0) return Literals{std::move(out)};
  const Batch batch(out.shape());
  const DType dtype = out.shape().dtype();
  const Lapack* const lapack = LapackFor(c, batch.rows, batch.rows);
  char* const data = out.mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(VisitFactored(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return c.ForMetered(batch.count, StepsOf(dtype, batch.rows),
                        [&](int64_t begin, int64_t end, WorkMeter* meter) {
                          return FactorRange(c, batch,
                                             reinterpret_cast<const T*>(from),
                                             reinterpret_cast<T*>(data), begin,
                                             end, lapack, meter);
                        });
  }));
  return Literals{std::move(out)};
}

double CholeskyCost(const CostContext& c) {
  const Batch batch(c.operand(0));
  return static_cast<double>(batch.count) *
             StepsOf(c.operand(0).dtype(), batch.rows) +
         ResultCost(c);
}

}  // namespace hawser::cpu
