// svd: LAPACK's divide and conquer, or Jacobi's rotations of rows, of small
// matrices side by side.
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

// Where the parts of a matrix go; u and vh have no rows where nothing asks.
template <typename T>
struct Parts {
  RealOf<T>* s = nullptr;
  View<T> u, vh;
  bool vectors = false;
};

// Room for a matrix of rows x columns.
template <typename T>
View<T> Wide(T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, columns};
}

template <typename T>
class LapackSvd {
 public:
  LapackSvd(const KernelContext& c, const LapackOf<T>& f, WorkMeter* meter)
      : c_(c), f_(&f), meter_(meter) {}

  // False: it did not converge.
  absl::StatusOr<bool> Run(View<const T> a, const Parts<T>& to) const {
    const auto call = std::make_shared<Call>();
    const int64_t least = std::min(a.rows, a.columns);
    call->m = static_cast<int>(a.columns);
    call->n = static_cast<int>(a.rows);
    HAWSER_ASSIGN_OR_RETURN(call->a, Room<T>::Of(c_, a.rows * a.columns));
    HAWSER_ASSIGN_OR_RETURN(call->s, Room<RealOf<T>>::Of(c_, least));
    if (to.vectors) {
      const bool full = to.u.columns == a.rows && to.vh.rows == a.columns;
      call->job = full ? 'A' : 'S';
      call->ldu = call->m;
      call->ldvt = static_cast<int>(to.u.columns);
      HAWSER_ASSIGN_OR_RETURN(call->u,
                              Room<T>::Of(c_, to.vh.rows * to.vh.columns));
      HAWSER_ASSIGN_OR_RETURN(call->vt,
                              Room<T>::Of(c_, to.u.rows * to.u.columns));
    }
    HAWSER_RETURN_IF_ERROR(SetRooms(call.get()));
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      std::copy_n(a.Row(i), a.columns, call->a.data + i * a.columns);
    }));
    HAWSER_RETURN_IF_ERROR(cpu::Call(
        c_, StepsOf(a.rows, a.columns, to.vectors),
        [call, f = f_] { call->Make(*f); }, meter_));
    if (call->info != 0) return false;
    std::copy_n(call->s.data, least, to.s);
    HAWSER_RETURN_IF_ERROR(ForRows(to.u, meter_, [&](int64_t i) {
      std::copy_n(call->vt.data + i * to.u.columns, to.u.columns, to.u.Row(i));
    }));
    HAWSER_RETURN_IF_ERROR(ForRows(to.vh, meter_, [&](int64_t i) {
      std::copy_n(call->u.data + i * to.vh.columns, to.vh.columns,
                  to.vh.Row(i));
    }));
    return true;
  }

 private:
  // LAPACK sees the transpose, whose left vectors are the rows of vh, and whose
  // right ones the columns of u.
  struct Call {
    char job = 'N';
    int m = 0, n = 0, ldu = 1, ldvt = 1, work_size = 0, info = 0;
    Room<T> a, u, vt, work;
    Room<RealOf<T>> s, real_work;
    Room<int> int_work;
    void Make(const LapackOf<T>& f) {
      f.Gesdd(job, m, n, a.data, s.data, u.data, ldu, vt.data, ldvt, work.data,
              work_size, real_work.data, int_work.data, &info);
    }
  };

  static double StepsOf(int64_t m, int64_t n, bool vectors) {
    const auto least = static_cast<double>(std::min(m, n));
    return (vectors ? 8 : 3) * kLibraryProductSteps<T> * least * least *
           static_cast<double>(std::max(m, n));
  }

  // Sizes by LAPACK's documentation; of `work` as much as a query says is fast.
  absl::Status SetRooms(Call* call) const {
    const double least = std::min(call->m, call->n);
    const double most = std::max(call->m, call->n);
    HAWSER_ASSIGN_OR_RETURN(
        call->real_work,
        WorkRoom<RealOf<T>>(
            c_, kIsComplexOf<T>
                    ? least * std::max(5 * least + 7, 2 * most + 2 * least + 1)
                    : 1));
    HAWSER_ASSIGN_OR_RETURN(call->int_work, WorkRoom<int>(c_, 8 * least));
    T wanted{};
    call->work.data = &wanted;
    call->work_size = -1;
    {
      const LibraryCall under_way;
      call->Make(*f_);
    }
    const double size = Wanted(wanted);
    HAWSER_ASSIGN_OR_RETURN(call->work, WorkRoom<T>(c_, size));
    call->work_size = static_cast<int>(size);
    return absl::OkStatus();
  }

  const KernelContext& c_;
  const LapackOf<T>* const f_;
  WorkMeter* const meter_;
};

template <typename T>
class JacobiSvd {
 public:
  JacobiSvd(const KernelContext& c, WorkMeter* meter) : c_(c), meter_(meter) {}

  absl::StatusOr<bool> Run(View<const T> a, const Parts<T>& to) const {
    // Of a tall matrix the rows of its adjoint are turned.
    const bool tall = a.rows > a.columns;
    const int64_t m = std::min(a.rows, a.columns);
    const int64_t n = std::max(a.rows, a.columns);
    const int64_t full = std::max(tall ? to.u.columns : to.vh.rows, m);
    HAWSER_ASSIGN_OR_RETURN(const Room<T> room,
                            Room<T>::Of(c_, full * n + m * m));
    const View<T> rows = Wide(room.data, m, n);
    const View<T> turns = Wide(room.data + full * n, m, m);
    RealOf<T> largest = 0;
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < a.columns; ++j) {
        (tall ? rows.At(j, i) : rows.At(i, j)) =
            tall ? ConjugateOf(a.At(i, j)) : a.At(i, j);
        largest = std::max(largest, LargestPart(a.At(i, j)));
      }
    }));
    const RealOf<T> scale = PowerOfTwoNear(largest);
    HAWSER_RETURN_IF_ERROR(ForRows(rows, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < n; ++j) rows.At(i, j) /= scale;
    }));
    HAWSER_RETURN_IF_ERROR(OrthogonalizeByJacobi(rows, turns, meter_));
    HAWSER_ASSIGN_OR_RETURN(const std::vector<int64_t> order,
                            Normalize(rows, scale, to.s));
    if (!to.vectors) return true;
    return Write(a, to, rows, turns, order, full);
  }

 private:
  // The lengths of rows, descending, in s, and the rows of length 1; zeros
  // stay.
  absl::StatusOr<std::vector<int64_t>> Normalize(View<T> rows, RealOf<T> scale,
                                                 RealOf<T>* s) const {
    std::vector<RealOf<T>> lengths(rows.rows);
    HAWSER_RETURN_IF_ERROR(ForRows(rows, meter_, [&](int64_t i) {
      RealOf<T> sum = 0;
      for (int64_t j = 0; j < rows.columns; ++j) {
        sum += Re(Times(rows.At(i, j), ConjugateOf(rows.At(i, j))));
      }
      lengths[i] = std::sqrt(sum);
      for (int64_t j = 0; j < rows.columns && lengths[i] > 0; ++j) {
        rows.At(i, j) /= lengths[i];
      }
    }));
    std::vector<int64_t> order(rows.rows);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return lengths[i] > lengths[j];
    });
    for (int64_t i = 0; i < rows.rows; ++i) s[i] = lengths[order[i]] * scale;
    return order;
  }

  // A = turns^H s rows, or of a tall one its adjoint.
  absl::StatusOr<bool> Write(View<const T> a, const Parts<T>& to, View<T> rows,
                             View<T> turns, const std::vector<int64_t>& order,
                             int64_t full) const {
    const bool tall = a.rows > a.columns;
    const int64_t m = rows.rows, n = rows.columns;
    HAWSER_ASSIGN_OR_RETURN(const Room<T> room, Room<T>::Of(c_, full * n));
    const View<T> sorted = Wide(room.data, full, n);
    int64_t known = 0;
    for (int64_t i = 0; i < m; ++i) {
      std::copy_n(rows.Row(order[i]), n, sorted.Row(i));
      if (to.s[i] > 0) known = i + 1;
    }
    HAWSER_RETURN_IF_ERROR(CompleteRows(sorted, known, meter_));
    HAWSER_RETURN_IF_ERROR(ForRows(to.u, meter_, [&](int64_t i) {
      for (int64_t j = 0; j < to.u.columns; ++j) {
        to.u.At(i, j) =
            ConjugateOf(tall ? sorted.At(j, i) : turns.At(order[j], i));
      }
    }));
    HAWSER_RETURN_IF_ERROR(ForRows(to.vh, meter_, [&](int64_t i) {
      std::copy_n(tall ? turns.Row(order[i]) : sorted.Row(i), to.vh.columns,
                  to.vh.Row(i));
    }));
    return true;
  }

  const KernelContext& c_;
  WorkMeter* const meter_;
};

// What is not finite gives NaN, and so does what a library does not find.
template <typename T>
absl::Status FactorOne(const KernelContext& c, const Lapack* lapack,
                       View<const T> a, const Parts<T>& to, WorkMeter* meter) {
  HAWSER_RETURN_IF_ERROR(meter->Begin(kSpectralSteps));
  bool finite = true;
  HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
    finite = finite && AllFinite(a.Row(i), a.columns);
  }));
  bool found = false;
  if (finite && lapack != nullptr) {
    HAWSER_ASSIGN_OR_RETURN(found,
                            LapackSvd<T>(c, lapack->Of<T>(), meter).Run(a, to));
  } else if (finite) {
    HAWSER_ASSIGN_OR_RETURN(found, JacobiSvd<T>(c, meter).Run(a, to));
  }
  if (found) return absl::OkStatus();
  std::fill_n(to.s, std::min(a.rows, a.columns),
              std::numeric_limits<RealOf<T>>::quiet_NaN());
  for (const View<T>& part : {to.u, to.vh}) {
    HAWSER_RETURN_IF_ERROR(ForRows(part, meter, [&](int64_t i) {
      std::fill_n(part.Row(i), part.columns, NotANumber<T>());
    }));
  }
  return absl::OkStatus();
}

double StepsOf(DType dtype, const Batch& batch, bool vectors) {
  const int64_t rows = std::min(batch.rows, batch.columns);
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(std::max(batch.rows, batch.columns));
  if (AreSideBySide(IsComplex(dtype), std::max(batch.rows, batch.columns),
                    batch.count, Lapack::OfProcess() != nullptr)) {
    return 24 / kLaneGain * m * m * n * ProductSteps(dtype, rows, kLaneRows) +
           kLaneSteps + 4 * kElementSteps * n * n;
  }
  const bool own = rows <= kOwnSpectralRows || Lapack::OfProcess() == nullptr;
  return (own       ? 24
          : vectors ? 8
                    : 3) *
             m * m * n * ProductSteps(dtype, rows, kOwnSpectralRows) +
         kSpectralSteps + 4 * kElementSteps * n * n;
}

}  // namespace

namespace {

template <typename T>
absl::Status RunSideBySide(const KernelContext& c, const Batch& batch,
                           absl::Span<char* const> to) {
  const bool vectors = to.size() > 1;
  const AnyBatch<T> all{
      .rows = batch.rows,
      .columns = batch.columns,
      .full = vectors && c.attributes().GetBool("full_matrices"),
      .from = reinterpret_cast<const T*>(c.data(0)),
      .s = reinterpret_cast<T*>(to[0]),
      .u = vectors ? reinterpret_cast<T*>(to[1]) : nullptr,
      .vh = vectors ? reinterpret_cast<T*>(to[2]) : nullptr};
  const int64_t least = all.least();
  return ForLaneGroups<T>(
      c, batch.count, StepsOf(c.shape(0).dtype(), batch, vectors),
      (batch.elements() + least * least) * kMatrixLanes<T>,
      [&](int64_t first, int64_t count, T* room, WorkMeter* meter) {
        return SvdOfGroup(all, first, count, room, meter);
      });
}

}  // namespace

absl::StatusOr<Literals> RunSvd(const KernelContext& c) {
  absl::InlinedVector<char*, 2> to;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&to));
  const Shape& shape = c.shape(0);
  const bool vectors = out.size() > 1;
  const Batch batch(shape);
  const int64_t least = std::min(batch.rows, batch.columns);
  const bool none = std::all_of(out.begin(), out.end(), [](const Literal& x) {
    return x.shape().num_elements() == 0;
  });
  const Lapack* const lapack = LapackFor(
      c, least, std::max(batch.rows, batch.columns), kOwnSpectralRows);
  HAWSER_RETURN_IF_ERROR(VisitFactored(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplexOf<T>) {
      if (!none && AreSideBySide(false, std::max(batch.rows, batch.columns),
                                 batch.count, lapack != nullptr)) {
        return RunSideBySide<T>(c, batch, to);
      }
    }
    return ForEachMatrix(
        c, none ? 0 : batch.count, StepsOf(shape.dtype(), batch, vectors),
        [&](int64_t i, WorkMeter* meter) {
          Parts<T> parts{.s = reinterpret_cast<RealOf<T>*>(to[0]) + i * least,
                         .vectors = vectors};
          if (vectors) {
            parts.u =
                Batch(c.result_shape(1)).At(reinterpret_cast<T*>(to[1]), i);
            parts.vh =
                Batch(c.result_shape(2)).At(reinterpret_cast<T*>(to[2]), i);
          }
          return FactorOne(c, lapack,
                           batch.At(reinterpret_cast<const T*>(c.data(0)), i),
                           parts, meter);
        });
  }));
  return out;
}

double SvdCost(const CostContext& c) {
  const Batch batch(c.operand(0));
  return static_cast<double>(batch.count) *
             StepsOf(c.operand(0).dtype(), batch,
                     c.instruction.num_results > 1) +
         ResultCost(c);
}

}  // namespace hawser::cpu
