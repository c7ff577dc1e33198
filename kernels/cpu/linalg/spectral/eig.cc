// eig: LAPACK's geev, or shifted QR of a complex copy.
#include <algorithm>
#include <complex>
#include <limits>
#include <memory>

#include "core/base/status.h"
#include "kernels/cpu/linalg/long_calls.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/rows.h"
#include "kernels/cpu/linalg/spectral/schur.h"

namespace hawser::cpu {
namespace {

// Rows up to which there is nothing to ask a library about.
constexpr int64_t kOwnEigRows = 1;
// Products of a call, of so many rows cubed.
constexpr double kLibraryProducts = 30;
// Of own loops: reflections, three steps a value, and vectors.
constexpr double kOwnProducts = 20;

template <typename T>
class Eig {
 public:
  using Complex = std::complex<RealOf<T>>;

  Eig(const KernelContext& c, const Lapack* lapack, WorkMeter* meter)
      : c_(c),
        f_(lapack == nullptr ? nullptr : &lapack->Of<T>()),
        meter_(meter) {}

  absl::Status Run(View<const T> a, Complex* w, View<Complex> v) const {
    HAWSER_RETURN_IF_ERROR(meter_->Begin(kSpectralSteps));
    bool finite = true;
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      finite = finite && AllFinite(a.Row(i), a.columns);
    }));
    bool found = false;
    if (finite) {
      HAWSER_ASSIGN_OR_RETURN(
          found, f_ == nullptr ? RunOwn(a, w, v) : RunLapack(a, w, v));
    }
    if (found) return absl::OkStatus();
    std::fill_n(w, a.rows, NotANumber<Complex>());
    return ForRows(v, meter_, [&](int64_t i) {
      std::fill_n(v.Row(i), v.columns, NotANumber<Complex>());
    });
  }

 private:
  struct LapackCall {
    int n = 0, info = 0, work_size = -1;
    Room<T> a, w, imaginary, v, work;
    Room<RealOf<T>> real_work;
    void Make(const LapackOf<T>& f) {
      f.Geev(n, a.data, w.data, imaginary.data, v.data, work.data, work_size,
             real_work.data, &info);
    }
  };

  absl::Status SetRooms(int64_t n, LapackCall* call) const {
    call->n = static_cast<int>(n);
    HAWSER_ASSIGN_OR_RETURN(call->a, Room<T>::Of(c_, n * n));
    HAWSER_ASSIGN_OR_RETURN(call->v, Room<T>::Of(c_, n * n));
    HAWSER_ASSIGN_OR_RETURN(call->w, Room<T>::Of(c_, n));
    HAWSER_ASSIGN_OR_RETURN(call->imaginary, Room<T>::Of(c_, n));
    HAWSER_ASSIGN_OR_RETURN(call->real_work, Room<RealOf<T>>::Of(c_, 2 * n));
    T wanted{};
    call->work.data = &wanted;
    {
      const LibraryCall under_way;
      call->Make(*f_);
    }
    const double size = Wanted(wanted);
    HAWSER_ASSIGN_OR_RETURN(call->work, WorkRoom<T>(c_, size));
    call->work_size = static_cast<int>(size);
    return absl::OkStatus();
  }

  // LAPACK has a column after the other.
  absl::StatusOr<bool> RunLapack(View<const T> a, Complex* w,
                                 View<Complex> v) const {
    const int64_t n = a.rows;
    const auto call = std::make_shared<LapackCall>();
    HAWSER_RETURN_IF_ERROR(SetRooms(n, call.get()));
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) call->a.data[j * n + i] = a.At(i, j);
    }));
    const auto size = static_cast<double>(n);
    HAWSER_RETURN_IF_ERROR(cpu::Call(
        c_, kLibraryProducts * kLibraryProductSteps<T> * size * size * size,
        [call, f = f_] { call->Make(*f); }, meter_));
    if (call->info != 0) return false;
    HAWSER_RETURN_IF_ERROR(ForRows(v, meter_, [&](int64_t i) {
      w[i] = ValueOf(*call, i);
      ReadVectors(*call, i, v.Row(i));
    }));
    return true;
  }

  static Complex ValueOf(const LapackCall& call, int64_t i) {
    if constexpr (kIsComplexOf<T>) {
      return call.w.data[i];
    } else {
      return {call.w.data[i], call.imaginary.data[i]};
    }
  }

  // Of reals two values that are conjugates have one vector and its conjugate,
  // the first column of which is the real part.
  static void ReadVectors(const LapackCall& call, int64_t i, Complex* to) {
    const int64_t n = call.n;
    for (int64_t j = 0; j < n; ++j) {
      const T x = call.v.data[j * n + i];
      to[j] = x;
      if constexpr (!kIsComplexOf<T>) {
        if (call.imaginary.data[j] == 0 || j + 1 == n) continue;
        to[j] = Complex(x, call.v.data[(j + 1) * n + i]);
        to[j + 1] = std::conj(to[j]);
        ++j;
      }
    }
  }

  absl::StatusOr<bool> RunOwn(View<const T> a, Complex* w,
                              View<Complex> v) const {
    const int64_t n = a.rows;
    HAWSER_ASSIGN_OR_RETURN(const Room<Complex> room,
                            Room<Complex>::Of(c_, 2 * n * n + n));
    const View<Complex> h{room.data, n, n, n};
    const View<Complex> z{room.data + n * n, n, n, n};
    RealOf<T> largest = 0;
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) {
        largest = std::max(largest, LargestPart(a.At(i, j)));
      }
    }));
    const RealOf<T> scale = PowerOfTwoNear(largest);
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) h.At(i, j) = a.At(i, j) / scale;
    }));
    HAWSER_ASSIGN_OR_RETURN(const bool found,
                            Schur<Complex>(h, z, meter_).Run());
    if (!found) return false;
    for (int64_t i = 0; i < n; ++i) w[i] = h.At(i, i) * scale;
    HAWSER_RETURN_IF_ERROR(
        VectorsOfTriangle<Complex>(h, z, room.data + 2 * n * n, v, meter_));
    return true;
  }

  const KernelContext& c_;
  const LapackOf<T>* const f_;
  WorkMeter* const meter_;
};

double StepsOf(DType dtype, int64_t rows) {
  const auto n = static_cast<double>(rows);
  const bool own = rows <= kOwnEigRows || Lapack::OfProcess() == nullptr;
  // Own loops are complex ones.
  const double products =
      own ? kOwnProducts * (IsComplex(dtype) ? 1 : 4) : kLibraryProducts;
  return products * n * n * n * ProductSteps(dtype, rows, kOwnEigRows) +
         kSpectralSteps + 6 * kElementSteps * n * n;
}

}  // namespace

absl::StatusOr<Literals> RunEig(const KernelContext& c) {
  absl::InlinedVector<char*, 2> to;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&to));
  const Shape& shape = c.shape(0);
  if (shape.num_elements() == 0) return out;
  const Batch batch(shape);
  const Lapack* const lapack =
      LapackFor(c, batch.rows, batch.rows, kOwnEigRows);
  HAWSER_RETURN_IF_ERROR(VisitFactored(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Complex = typename Eig<T>::Complex;
    return ForEachMatrix(
        c, batch.count, StepsOf(shape.dtype(), batch.rows),
        [&](int64_t i, WorkMeter* meter) {
          return Eig<T>(c, lapack, meter)
              .Run(batch.At(reinterpret_cast<const T*>(c.data(0)), i),
                   reinterpret_cast<Complex*>(to[0]) + i * batch.rows,
                   batch.At(reinterpret_cast<Complex*>(to[1]), i));
        });
  }));
  return out;
}

double EigCost(const CostContext& c) {
  const Batch batch(c.operand(0));
  return static_cast<double>(batch.count) *
             StepsOf(c.operand(0).dtype(), batch.rows) +
         ResultCost(c);
}

}  // namespace hawser::cpu
