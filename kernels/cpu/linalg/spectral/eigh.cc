// eigh: LAPACK's divide and conquer, or Jacobi's rotations, of small matrices
// side by side.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/linalg/long_calls.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/rows.h"
#include "kernels/cpu/linalg/spectral/jacobi.h"
#include "kernels/cpu/linalg/spectral/side_by_side.h"

namespace hawser::cpu {
namespace {

template <typename T>
double LibrarySteps(double n) {
  return 4 * kLibraryProductSteps<T> * n * n * n;
}
// Eight sweeps.
template <typename T>
double OwnSteps(double n) {
  return 24 * kOwnProductSteps<T> * n * n * n;
}

template <typename T>
class Eigh {
 public:
  Eigh(const KernelContext& c, const Lapack* lapack, WorkMeter* meter)
      : c_(c),
        f_(lapack == nullptr ? nullptr : &lapack->Of<T>()),
        lower_(c.attributes().GetBool("lower")),
        meter_(meter) {}

  absl::Status Run(View<const T> a, RealOf<T>* w, View<T> v) const {
    HAWSER_RETURN_IF_ERROR(meter_->Begin(kSpectralSteps));
    bool finite = true;
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      const int64_t begin = lower_ ? 0 : i, end = lower_ ? i + 1 : a.rows;
      finite = finite && AllFinite(a.Row(i) + begin, end - begin);
    }));
    bool found = false;
    if (finite) {
      HAWSER_ASSIGN_OR_RETURN(
          found, f_ == nullptr ? RunOwn(a, w, v) : RunLapack(a, w, v));
    }
    if (found) return absl::OkStatus();
    std::fill_n(w, a.rows, std::numeric_limits<RealOf<T>>::quiet_NaN());
    return ForRows(v, meter_, [&](int64_t i) {
      std::fill_n(v.Row(i), v.columns, NotANumber<T>());
    });
  }

 private:
  // Element (i, j) of the Hermitian that the triangle says.
  T ElementOf(View<const T> a, int64_t i, int64_t j) const {
    if (i == j) return Re(a.At(i, i));
    return (i > j) == lower_ ? a.At(i, j) : ConjugateOf(a.At(j, i));
  }

  // LAPACK sees the conjugate: its vectors are those of a, conjugated.
  absl::StatusOr<bool> RunLapack(View<const T> a, RealOf<T>* w,
                                 View<T> v) const {
    struct Call {
      int n = 0, info = 0, work_size = -1, real_size = -1, int_size = -1;
      Room<T> a, work;
      Room<RealOf<T>> w, real_work;
      Room<int> int_work;
      void Make(const LapackOf<T>& f, const char* uplo) {
        f.Heevd(uplo, n, a.data, w.data, work.data, work_size, real_work.data,
                real_size, int_work.data, int_size, &info);
      }
    };
    const int64_t n = a.rows;
    const auto call = std::make_shared<Call>();
    call->n = static_cast<int>(n);
    const char* const uplo = lower_ ? "U" : "L";
    HAWSER_ASSIGN_OR_RETURN(call->a, Room<T>::Of(c_, n * n));
    HAWSER_ASSIGN_OR_RETURN(call->w, Room<RealOf<T>>::Of(c_, n));
    // Sizes by LAPACK's documentation: what a query says of f32 is rounded.
    const double size = static_cast<double>(n);
    const double plain = kIsComplexOf<T> ? 2 * size + size * size
                                         : 1 + 6 * size + 2 * size * size;
    const double real = kIsComplexOf<T> ? 1 + 5 * size + 2 * size * size : 1;
    HAWSER_ASSIGN_OR_RETURN(call->work, WorkRoom<T>(c_, plain));
    HAWSER_ASSIGN_OR_RETURN(call->real_work, WorkRoom<RealOf<T>>(c_, real));
    HAWSER_ASSIGN_OR_RETURN(call->int_work, WorkRoom<int>(c_, 3 + 5 * size));
    call->work_size = static_cast<int>(plain);
    call->real_size = static_cast<int>(real);
    call->int_size = static_cast<int>(3 + 5 * size);
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      std::copy_n(a.Row(i), n, call->a.data + i * n);
    }));
    HAWSER_RETURN_IF_ERROR(cpu::Call(
        c_, LibrarySteps<T>(size),
        [call, uplo, f = f_] { call->Make(*f, uplo); }, meter_));
    if (call->info != 0) return false;
    std::copy_n(call->w.data, n, w);
    HAWSER_RETURN_IF_ERROR(ForRows(v, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) {
        v.At(i, j) = ConjugateOf(call->a.data[j * n + i]);
      }
    }));
    return true;
  }

  absl::StatusOr<bool> RunOwn(View<const T> a, RealOf<T>* w, View<T> v) const {
    const int64_t n = a.rows;
    HAWSER_ASSIGN_OR_RETURN(const Room<T> room, Room<T>::Of(c_, 2 * n * n));
    const View<T> copy{room.data, n, n, n};
    const View<T> vectors{room.data + n * n, n, n, n};
    RealOf<T> largest = 0;
    HAWSER_RETURN_IF_ERROR(ForRows(copy, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) {
        copy.At(i, j) = ElementOf(a, i, j);
        largest = std::max(largest, LargestPart(copy.At(i, j)));
      }
    }));
    const RealOf<T> scale = PowerOfTwoNear(largest);
    HAWSER_RETURN_IF_ERROR(ForRows(copy, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) copy.At(i, j) /= scale;
    }));
    HAWSER_RETURN_IF_ERROR(DiagonalizeByJacobi(copy, vectors, meter_));
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return Re(copy.At(i, i)) < Re(copy.At(j, j));
    });
    for (int64_t i = 0; i < n; ++i) {
      w[i] = Re(copy.At(order[i], order[i])) * scale;
    }
    HAWSER_RETURN_IF_ERROR(ForRows(v, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) {
        v.At(i, j) = ConjugateOf(vectors.At(order[j], i));
      }
    }));
    return true;
  }

  const KernelContext& c_;
  const LapackOf<T>* const f_;
  const bool lower_;
  WorkMeter* const meter_;
};

double StepsOf(DType dtype, const Batch& batch) {
  const int64_t rows = batch.rows;
  const auto n = static_cast<double>(rows);
  if (AreSideBySide(IsComplex(dtype), rows, batch.count,
                    Lapack::OfProcess() != nullptr)) {
    return 24 / kLaneGain * n * n * n * ProductSteps(dtype, rows, kLaneRows) +
           kLaneSteps + 4 * kElementSteps * n * n;
  }
  const bool own = rows <= kOwnSpectralRows || Lapack::OfProcess() == nullptr;
  return (own ? 24 : 4) * n * n * n *
             ProductSteps(dtype, rows, kOwnSpectralRows) +
         kSpectralSteps + 4 * kElementSteps * n * n;
}

template <typename T>
absl::Status RunSideBySide(const KernelContext& c, const Batch& batch, T* w,
                           T* v) {
  const SymmetricBatch<T> all{batch.rows, c.attributes().GetBool("lower"),
                              reinterpret_cast<const T*>(c.data(0)), w, v};
  return ForLaneGroups<T>(
      c, batch.count, StepsOf(c.shape(0).dtype(), batch),
      2 * batch.elements() * kMatrixLanes<T>,
      [&](int64_t first, int64_t count, T* room, WorkMeter*) {
        EighOfGroup(all, first, count, room);
        return absl::OkStatus();
      });
}

}  // namespace

absl::StatusOr<Literals> RunEigh(const KernelContext& c) {
  absl::InlinedVector<char*, 2> to;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&to));
  const Shape& shape = c.shape(0);
  if (shape.num_elements() == 0) return out;
  const Batch batch(shape);
  const Lapack* const lapack =
      LapackFor(c, batch.rows, batch.rows, kOwnSpectralRows);
  HAWSER_RETURN_IF_ERROR(VisitFactored(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplexOf<T>) {
      if (AreSideBySide(false, batch.rows, batch.count, lapack != nullptr)) {
        return RunSideBySide(c, batch, reinterpret_cast<T*>(to[0]),
                             reinterpret_cast<T*>(to[1]));
      }
    }
    return ForEachMatrix(
        c, batch.count, StepsOf(shape.dtype(), batch),
        [&](int64_t i, WorkMeter* meter) {
          return Eigh<T>(c, lapack, meter)
              .Run(batch.At(reinterpret_cast<const T*>(c.data(0)), i),
                   reinterpret_cast<RealOf<T>*>(to[0]) + i * batch.rows,
                   batch.At(reinterpret_cast<T*>(to[1]), i));
        });
  }));
  return out;
}

double EighCost(const CostContext& c) {
  const Batch batch(c.operand(0));
  return static_cast<double>(batch.count) *
             StepsOf(c.operand(0).dtype(), batch) +
         ResultCost(c);
}

}  // namespace hawser::cpu
