// qr, and what its reflections are made of and make: geqrf and
// householder_product.
#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/linalg/long_calls.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/reflectors.h"
#include "kernels/cpu/linalg/rows.h"

namespace hawser::cpu {
namespace {

// One matrix turned so that its columns are contiguous, or back.
template <typename T>
absl::Status ToColumns(View<const T> from, Columns<T> to, WorkMeter* meter) {
  return ForRows(from, meter, [&](int64_t i) {
    for (int64_t j = 0; j < from.columns; ++j) *to.At(i, j) = from.At(i, j);
  });
}
template <typename T>
absl::Status FromColumns(Columns<T> from, View<T> to, WorkMeter* meter) {
  return ForRows(to, meter, [&](int64_t i) {
    for (int64_t j = 0; j < to.columns; ++j) to.At(i, j) = *from.At(i, j);
  });
}

template <typename T>
absl::StatusOr<bool> IsFinite(View<const T> a, WorkMeter* meter) {
  bool finite = true;
  HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
    finite = finite && AllFinite(a.Row(i), a.columns);
  }));
  return finite;
}

template <typename T>
absl::Status SpoilRows(View<T> a, WorkMeter* meter) {
  return ForRows(a, meter, [&](int64_t i) {
    std::fill_n(a.Row(i), a.columns, NotANumber<T>());
  });
}

// R of what stands there: on and above the diagonal.
template <typename T>
absl::Status WriteR(Columns<T> from, View<T> to, WorkMeter* meter) {
  return ForRows(to, meter, [&](int64_t i) {
    for (int64_t j = 0; j < to.columns; ++j) {
      to.At(i, j) = j < i ? T{} : *from.At(i, j);
    }
  });
}

// Memory of one thread.
template <typename T>
struct QrRooms {
  static absl::StatusOr<QrRooms> Of(const KernelContext& c, int64_t columns,
                                    int64_t product, int64_t taus) {
    QrRooms rooms;
    HAWSER_ASSIGN_OR_RETURN(rooms.all,
                            Room<T>::Of(c, columns + product + taus));
    rooms.columns = rooms.all.data;
    rooms.product = rooms.columns + columns;
    rooms.taus = rooms.product + product;
    return rooms;
  }
  Room<T> all;
  T *columns = nullptr, *product = nullptr, *taus = nullptr;
};

// Steps of k reflections of m rows on n columns.
double ReflectionSteps(DType dtype, int64_t m, int64_t n, int64_t k) {
  return 2 * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k) * ProductSteps(dtype, std::min({m, n, k}));
}

bool AllAreEmpty(const Literals& out) {
  return std::all_of(out.begin(), out.end(), [](const Literal& x) {
    return x.shape().num_elements() == 0;
  });
}

// The matrices of operand 0, one after the other: fn(one, meter, rooms, i).
template <typename Fn>
absl::Status ForMatrices(const KernelContext& c, const Batch& a,
                         int64_t product, int64_t taus, double steps, Fn fn) {
  const int64_t least = std::min(a.rows, a.columns);
  const Lapack* const lapack = LapackFor(c, least, std::max(a.rows, a.columns));
  return VisitFactored(c.shape(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return c.ForMetered(
        a.count, steps,
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          HAWSER_ASSIGN_OR_RETURN(
              const QrRooms<T> rooms,
              QrRooms<T>::Of(c, a.elements(), product, taus));
          const Reflectors<T> reflectors(lapack, meter);
          for (int64_t i = begin; i < end; ++i) {
            HAWSER_RETURN_IF_ERROR(fn(reflectors, rooms, i, meter));
          }
          return meter->End();
        });
  });
}

template <typename T>
View<const T> Matrix(const KernelContext& c, int operand, int64_t i) {
  return Batch(c.shape(operand))
      .At(reinterpret_cast<const T*>(c.data(operand)), i);
}

}  // namespace

absl::StatusOr<Literals> RunQr(const KernelContext& c) {
  absl::InlinedVector<char*, 2> to;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&to));
  if (AllAreEmpty(out)) return out;
  const Batch of_a(c.shape(0)), of_q(c.result_shape(0)),
      of_r(c.result_shape(1));
  const int64_t count = std::min(of_a.rows, of_a.columns);
  const auto one = [&]<typename T>(const Reflectors<T>& reflectors,
                                   const QrRooms<T>& rooms, int64_t i,
                                   WorkMeter* meter) -> absl::Status {
    const auto a = Matrix<T>(c, 0, i);
    const auto q = of_q.At(reinterpret_cast<T*>(to[0]), i);
    const auto r = of_r.At(reinterpret_cast<T*>(to[1]), i);
    HAWSER_ASSIGN_OR_RETURN(const bool finite, IsFinite(a, meter));
    if (!finite) {
      HAWSER_RETURN_IF_ERROR(SpoilRows(q, meter));
      return SpoilRows(r, meter);
    }
    const Columns<T> columns{rooms.columns, of_a.rows, of_a.columns};
    const Columns<T> product{rooms.product, of_q.rows, of_q.columns};
    HAWSER_RETURN_IF_ERROR(ToColumns(a, columns, meter));
    HAWSER_RETURN_IF_ERROR(reflectors.Factor(columns, rooms.taus));
    HAWSER_RETURN_IF_ERROR(WriteR(columns, r, meter));
    HAWSER_RETURN_IF_ERROR(
        reflectors.Product(columns, rooms.taus, count, product));
    return FromColumns(product, q, meter);
  };
  HAWSER_RETURN_IF_ERROR(ForMatrices(
      c, of_a, of_q.elements(), count,
      2 * ReflectionSteps(c.shape(0).dtype(), of_a.rows, of_a.columns, count),
      one));
  return out;
}

double QrCost(const CostContext& c) {
  const Batch a(c.operand(0)), q(c.result(0));
  const int64_t k = std::min(a.rows, a.columns);
  const DType dtype = c.operand(0).dtype();
  return static_cast<double>(a.count) *
         ((ReflectionSteps(dtype, a.rows, a.columns, k) +
           ReflectionSteps(dtype, q.rows, q.columns, k)) /
              1.5 +
          4 * kElementSteps * static_cast<double>(a.elements() + q.elements()));
}

absl::StatusOr<Literals> RunGeqrf(const KernelContext& c) {
  absl::InlinedVector<char*, 2> to;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&to));
  if (AllAreEmpty(out)) return out;
  const Batch of_a(c.shape(0));
  const int64_t count = std::min(of_a.rows, of_a.columns);
  const auto one = [&]<typename T>(const Reflectors<T>& reflectors,
                                   const QrRooms<T>& rooms, int64_t i,
                                   WorkMeter* meter) -> absl::Status {
    const auto a = Matrix<T>(c, 0, i);
    const auto packed = of_a.At(reinterpret_cast<T*>(to[0]), i);
    T* const taus = reinterpret_cast<T*>(to[1]) + i * count;
    HAWSER_ASSIGN_OR_RETURN(const bool finite, IsFinite(a, meter));
    if (!finite) {
      std::fill_n(taus, count, NotANumber<T>());
      return SpoilRows(packed, meter);
    }
    const Columns<T> columns{rooms.columns, of_a.rows, of_a.columns};
    HAWSER_RETURN_IF_ERROR(ToColumns(a, columns, meter));
    HAWSER_RETURN_IF_ERROR(reflectors.Factor(columns, taus));
    return FromColumns(columns, packed, meter);
  };
  HAWSER_RETURN_IF_ERROR(ForMatrices(
      c, of_a, 0, 0,
      ReflectionSteps(c.shape(0).dtype(), of_a.rows, of_a.columns, count),
      one));
  return out;
}

double GeqrfCost(const CostContext& c) {
  const Batch a(c.operand(0));
  return static_cast<double>(a.count) *
         (ReflectionSteps(c.operand(0).dtype(), a.rows, a.columns,
                          std::min(a.rows, a.columns)) /
              1.5 +
          4 * kElementSteps * static_cast<double>(a.elements()));
}

// Any numbers may be the reflections': own loops and a library's are safe.
absl::StatusOr<Literals> RunHouseholderProduct(const KernelContext& c) {
  absl::InlinedVector<char*, 2> to;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&to));
  if (AllAreEmpty(out)) return out;
  const Batch of_a(c.shape(0));
  const int64_t count = c.shape(1).dim(-1);
  const auto one = [&]<typename T>(const Reflectors<T>& reflectors,
                                   const QrRooms<T>& rooms, int64_t i,
                                   WorkMeter* meter) -> absl::Status {
    const auto q = of_a.At(reinterpret_cast<T*>(to[0]), i);
    const Columns<T> columns{rooms.columns, of_a.rows, of_a.columns};
    const Columns<T> product{rooms.product, of_a.rows, of_a.columns};
    const T* const taus = reinterpret_cast<const T*>(c.data(1)) + i * count;
    HAWSER_RETURN_IF_ERROR(ToColumns(Matrix<T>(c, 0, i), columns, meter));
    HAWSER_RETURN_IF_ERROR(reflectors.Product(columns, taus, count, product));
    return FromColumns(product, q, meter);
  };
  HAWSER_RETURN_IF_ERROR(ForMatrices(
      c, of_a, of_a.elements(), 0,
      ReflectionSteps(c.shape(0).dtype(), of_a.rows, of_a.columns, count),
      one));
  return out;
}

double HouseholderProductCost(const CostContext& c) {
  const Batch a(c.operand(0));
  return static_cast<double>(a.count) *
         (ReflectionSteps(c.operand(0).dtype(), a.rows, a.columns,
                          c.operand(1).dim(-1)) /
              1.5 +
          4 * kElementSteps * static_cast<double>(a.elements()));
}

}  // namespace hawser::cpu
