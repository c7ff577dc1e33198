// triangular_solve: blocks of the triangle by a library, or own loops. B is
// solved where its copy stands.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/status.h"
#include "core/ops/linalg/linalg.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/rows.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

// How the instruction solves.
struct By {
  explicit By(const KernelContext& c)
      : left(c.attributes().GetBool("left_side")),
        lower(c.attributes().GetBool("lower")),
        unit(c.attributes().GetBool("unit_diagonal")) {
    const absl::string_view name = c.attributes().GetString("transpose_a");
    if (name == kTransposeOf) op = Op::kTranspose;
    if (name == kAdjointOf) op = Op::kAdjoint;
  }

  // True if op(A), or on the right its transpose, is solved with from its first
  // row on.
  bool forward() const { return (lower == (op == Op::kNone)) == left; }

  const bool left, lower, unit;
  Op op = Op::kNone;
};

// The triangle t of t x = b with the columns of b, turned so that the
// coefficients of each unknown lie side by side. On the right everything is the
// transpose.
template <typename T>
class OwnSolver {
 public:
  OwnSolver(const By& by, View<const T> a, T* packed, WorkMeter* meter)
      : by_(by), a_(a), packed_(packed), meter_(meter) {}

  absl::Status Run(View<T> b) const {
    HAWSER_RETURN_IF_ERROR(Pack());
    return by_.left ? SolveRows(b) : SolveEachRow(b);
  }

 private:
  int64_t n() const { return a_.rows; }
  // Of unknown k in equation i.
  const T* Of(int64_t k) const { return packed_ + k * n(); }
  // The unknowns in the order in which they are found.
  int64_t Nth(int64_t k) const { return by_.forward() ? k : n() - 1 - k; }
  // The equations that unknown k is still in: [begin, end).
  std::pair<int64_t, int64_t> After(int64_t k) const {
    return by_.forward() ? std::pair<int64_t, int64_t>(k + 1, n())
                         : std::pair<int64_t, int64_t>(0, k);
  }

  absl::Status Pack() const {
    // Whether equation i of unknown k is at (i, k) of A, or at (k, i).
    const bool straight = (by_.op == Op::kNone) == by_.left;
    return ForRows(View<T>{packed_, n(), n(), n()}, meter_, [&](int64_t k) {
      T* const to = packed_ + k * n();
      auto [begin, end] = After(k);
      (by_.forward() ? begin : end) += by_.forward() ? -1 : 1;
      for (int64_t i = begin; i < end; ++i) {
        const T x = straight ? a_.At(i, k) : a_.At(k, i);
        to[i] = by_.op == Op::kAdjoint ? ConjugateOf(x) : x;
      }
    });
  }

  absl::Status Begin(int64_t m, int64_t n) const {
    return meter_->Begin(kOwnProductSteps<T> * static_cast<double>(m) *
                         static_cast<double>(n));
  }

  // All columns of b at once.
  absl::Status SolveRows(View<T> b) const {
    for (int64_t step = 0; step < n(); ++step) {
      const int64_t k = Nth(step);
      const auto [begin, end] = After(k);
      T* const found = b.Row(k);
      if (!by_.unit) {
        const T pivot = Of(k)[k];
        for (int64_t j = 0; j < b.columns; ++j) found[j] /= pivot;
      }
      for (int64_t i = begin; i < end; ++i) {
        HAWSER_RETURN_IF_ERROR(Begin(1, b.columns));
        SubtractTimes(Of(k)[i], found, b.columns, b.Row(i));
      }
    }
    return absl::OkStatus();
  }

  // A row of b after the other, each a right side.
  absl::Status SolveEachRow(View<T> b) const {
    for (int64_t r = 0; r < b.rows; ++r) {
      T* const x = b.Row(r);
      for (int64_t step = 0; step < n(); ++step) {
        const int64_t k = Nth(step);
        const auto [begin, end] = After(k);
        HAWSER_RETURN_IF_ERROR(Begin(1, end - begin));
        if (!by_.unit) x[k] /= Of(k)[k];
        SubtractTimes(x[k], Of(k) + begin, end - begin, x + begin);
      }
    }
    return absl::OkStatus();
  }

  const By& by_;
  const View<const T> a_;
  T* const packed_;
  WorkMeter* const meter_;
};

// Blocks of unknowns, and what they leave of the others.
template <typename T>
absl::Status SolveBlocks(const By& by, View<const T> a, View<T> b,
                         const DenseCalls<T>& calls) {
  const int64_t n = a.rows;
  // Rows of b on the left, columns on the right.
  const auto part = [&](int64_t begin, int64_t end) {
    return by.left ? b.Block(begin, 0, end - begin, b.columns)
                   : b.Block(0, begin, b.rows, end - begin);
  };
  for (int64_t done = 0; done < n; done += kBlockRows) {
    const int64_t size = std::min(kBlockRows, n - done);
    const int64_t begin = by.forward() ? done : n - done - size;
    const int64_t end = begin + size;
    const View<T> found = part(begin, end);
    HAWSER_RETURN_IF_ERROR(
        calls.SolveTriangle(by.left, by.lower, by.op, by.unit,
                            a.Block(begin, begin, size, size), found));
    if (done + size == n) break;
    const int64_t first = by.forward() ? end : 0;
    const int64_t count = n - done - size;
    const bool straight = (by.op == Op::kNone) == by.left;
    const View<const T> coefficients = straight
                                           ? a.Block(first, begin, count, size)
                                           : a.Block(begin, first, size, count);
    const View<T> others = part(first, first + count);
    HAWSER_RETURN_IF_ERROR(
        by.left
            ? calls.Subtract(others, by.op, coefficients, Op::kNone, found)
            : calls.Subtract(others, Op::kNone, found, by.op, coefficients));
  }
  return absl::OkStatus();
}

// Whether a library divides by the diagonal as own loops do: it takes its
// inverse.
template <typename T>
bool HasInverse(T pivot) {
  constexpr RealOf<T> kLeast = std::numeric_limits<RealOf<T>>::min();
  return SizeOf(pivot) >= kLeast * 4;
}

// What is not finite, or not to be divided by, goes through own loops: each
// right side is spoilt by itself alone.
template <typename T>
absl::StatusOr<bool> IsPlain(const By& by, View<const T> a, View<T> b,
                             WorkMeter* meter) {
  bool plain = true;
  HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
    const int64_t begin = by.lower ? 0 : i;
    const int64_t end = by.lower ? i + 1 : a.columns;
    plain = plain && AllFinite(a.Row(i) + begin, end - begin) &&
            (by.unit || HasInverse(a.At(i, i)));
  }));
  HAWSER_RETURN_IF_ERROR(ForRows(b, meter, [&](int64_t i) {
    plain = plain && AllFinite(b.Row(i), b.columns);
  }));
  return plain;
}

// `packed`: room for own loops, made where it is needed first.
template <typename T>
absl::Status SolveOne(const KernelContext& c, const By& by, View<const T> a,
                      View<T> b, Literal* packed, const Lapack* lapack,
                      WorkMeter* meter) {
  if (lapack != nullptr) {
    HAWSER_ASSIGN_OR_RETURN(const bool plain, IsPlain(by, a, b, meter));
    if (plain) {
      return SolveBlocks(by, a, b, DenseCalls<T>(lapack->Of<T>(), meter));
    }
  }
  if (packed->bytes().empty()) {
    HAWSER_ASSIGN_OR_RETURN(
        *packed,
        c.Allocate(Shape::Of(c.result_shape().dtype(), {a.rows, a.rows})));
  }
  T* const room = reinterpret_cast<T*>(packed->mutable_bytes().data());
  return OwnSolver<T>(by, a, room, meter).Run(b);
}

double StepsOf(DType dtype, int64_t rows, int64_t elements_of_b) {
  const auto n = static_cast<double>(rows);
  const auto elements = static_cast<double>(elements_of_b);
  return n * elements / 2 * ProductSteps(dtype, rows) +
         kElementSteps * (n * n + elements);
}

}  // namespace

absl::StatusOr<Literals> RunTriangularSolve(const KernelContext& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, WritableCopy(c, 1));
  if (out.shape().num_elements() == 0) return Literals{std::move(out)};
  const Batch of_a(c.shape(0)), of_b(out.shape());
  const By by(c);
  const DType dtype = out.shape().dtype();
  const Lapack* const lapack =
      LapackFor(c, of_a.rows, std::max(of_b.rows, of_b.columns));
  const double steps = StepsOf(dtype, of_a.rows, of_b.elements());
  char* const data = out.mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(VisitFactored(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return c.ForMetered(
        of_b.count, steps,
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          Literal packed;
          for (int64_t i = begin; i < end; ++i) {
            HAWSER_RETURN_IF_ERROR(SolveOne(
                c, by, of_a.At(reinterpret_cast<const T*>(c.data(0)), i),
                of_b.At(reinterpret_cast<T*>(data), i), &packed, lapack,
                meter));
          }
          return meter->End();
        });
  }));
  return Literals{std::move(out)};
}

double TriangularSolveCost(const CostContext& c) {
  const Batch of_a(c.operand(0)), of_b(c.operand(1));
  return static_cast<double>(of_b.count) *
             StepsOf(c.operand(0).dtype(), of_a.rows, of_b.elements()) +
         ResultCost(c);
}

}  // namespace hawser::cpu
