#include "tests/reference/rows/linalg/factor_checks.h"

#include <vector>

namespace hawser::reference {
namespace {

template <typename Fn>
absl::Status OfDType(const Factors& of, Fn fn) {
  return IsComplex(of.operands[0].shape().dtype()) ? fn(WideComplex())
                                                   : fn(Wide());
}

// What rounding makes of numbers as large as these, in a product of so many.
template <typename W>
Wide BoundOf(const Factors& of, const Matrix<W>& a) {
  return kRoundings * static_cast<Wide>(a.rows() + a.columns() + 2) *
         (of.precision().epsilon * LargestOf(a) *
              std::sqrt(static_cast<Wide>(
                  std::max<int64_t>(a.rows() * a.columns(), 1))) +
          of.precision().least);
}

std::vector<int64_t> IntsOf(const Factors& of, int result) {
  const Literal& x = of.results[result];
  const int64_t size = x.shape().dim(-1);
  std::vector<int64_t> out;
  for (int64_t k = 0; k < size; ++k) {
    out.push_back(
        static_cast<int32_t>(ReadNumber(x, of.number * size + k).bits));
  }
  return out;
}

}  // namespace

// The rows of A in the order given are L U, no element of L is larger than the
// pivot it was divided by, and the exchanges make that order.
absl::Status CheckLu(const Factors& of) {
  return OfDType(of, [&](auto w) -> absl::Status {
    using W = decltype(w);
    const auto a = of.Operand<W>(0), packed = of.Result<W>(0);
    const std::vector<int64_t> pivots = IntsOf(of, 1), order = IntsOf(of, 2);
    std::vector<int64_t> made(a.rows());
    for (int64_t i = 0; i < a.rows(); ++i) made[i] = i;
    for (size_t k = 0; k < pivots.size(); ++k) {
      if (pivots[k] < static_cast<int64_t>(k) || pivots[k] >= a.rows()) {
        return Internal("pivot ", k, " is ", pivots[k]);
      }
      std::swap(made[k], made[pivots[k]]);
    }
    if (made != order) return Internal("the exchanges make another order");
    if (!a.IsFinite() || !packed.IsFinite()) return absl::OkStatus();
    const int64_t least = std::min(a.rows(), a.columns());
    Matrix<W> l(a.rows(), least), u(least, a.columns()), turned = a;
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j < a.columns(); ++j) {
        turned.At(i, j) = a.At(order[i], j);
        if (i > j && j < least) l.At(i, j) = packed.At(i, j);
        if (i <= j) u.At(i, j) = packed.At(i, j);
      }
      if (i < least) l.At(i, i) = 1;
    }
    if (LargestOf(l) > 2.01L) return Internal("an element of L is above 2");
    const Wide sizes = std::max(LargestOf(a), LargestOf(u));
    return ExpectNear(
        "L U", of, Product(l, u), turned,
        kRoundings * static_cast<Wide>(least + 2) *
            (of.precision().epsilon * sizes * static_cast<Wide>(least + 1) +
             of.precision().least));
  });
}

absl::Status CheckQr(const Factors& of) {
  return OfDType(of, [&](auto w) -> absl::Status {
    using W = decltype(w);
    const auto a = of.Operand<W>(0), q = of.Result<W>(0), r = of.Result<W>(1);
    if (!a.IsFinite() || !r.IsFinite()) return absl::OkStatus();
    for (int64_t i = 0; i < r.rows(); ++i) {
      for (int64_t j = 0; j < std::min(i, r.columns()); ++j) {
        if (r.At(i, j) != W(0)) return Internal("R is not a triangle");
      }
    }
    HAWSER_RETURN_IF_ERROR(ExpectOrthonormal("Q", of, q));
    return ExpectNear("Q R", of, Product(q, r), a, BoundOf(of, a));
  });
}

namespace {

// (I - tau v v^H) c for reflection k of a, with all numbers' sizes if `sizes`.
template <typename W>
void ApplyReflection(const Matrix<W>& a, int64_t k, W tau, bool sizes,
                     Matrix<W>* c) {
  const auto v = [&](int64_t i) { return i == k ? W(1) : a.At(i, k); };
  for (int64_t j = 0; j < c->columns(); ++j) {
    W sum = 0;
    for (int64_t i = k; i < a.rows(); ++i) {
      sum += TimesOf(Conjugated(v(i)), c->At(i, j));
    }
    for (int64_t i = k; i < a.rows(); ++i) {
      const W term = TimesOf(v(i), TimesOf(tau, sum));
      c->At(i, j) = sizes ? c->At(i, j) + term : c->At(i, j) - term;
    }
  }
}

template <typename W>
Matrix<Wide> SizesOf(const Matrix<W>& a) {
  Matrix<Wide> out(a.rows(), a.columns());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.columns(); ++j) {
      out.At(i, j) = PartsOf(a.At(i, j));
    }
  }
  return out;
}

template <typename W>
Matrix<W> MadeOf(const Matrix<W>& a, const Matrix<W>& taus, int64_t columns,
                 bool sizes) {
  Matrix<W> q(a.rows(), columns);
  for (int64_t i = 0; i < std::min(a.rows(), columns); ++i) q.At(i, i) = 1;
  for (int64_t k = taus.columns(); k-- > 0;) {
    ApplyReflection(a, k, taus.At(0, k), sizes, &q);
  }
  return q;
}

}  // namespace

absl::Status CheckGeqrf(const Factors& of) {
  return OfDType(of, [&](auto w) -> absl::Status {
    using W = decltype(w);
    const auto a = of.Operand<W>(0), packed = of.Result<W>(0);
    if (!a.IsFinite() || !packed.IsFinite()) return absl::OkStatus();
    const auto q = MadeOf(packed, of.RowOf<W>(of.results[1]), a.rows(), false);
    Matrix<W> r(a.rows(), a.columns());
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = i; j < a.columns(); ++j) r.At(i, j) = packed.At(i, j);
    }
    HAWSER_RETURN_IF_ERROR(ExpectOrthonormal("Q", of, q));
    return ExpectNear("Q R", of, Product(q, r), a, BoundOf(of, a));
  });
}

// Of any numbers: as far off as products of their sizes may be.
absl::Status CheckHouseholderProduct(const Factors& of) {
  return OfDType(of, [&](auto w) -> absl::Status {
    using W = decltype(w);
    const auto a = of.Operand<W>(0), q = of.Result<W>(0);
    const auto taus = of.RowOf<W>(of.operands[1]);
    if (!q.IsFinite()) return absl::OkStatus();
    const auto sizes = MadeOf(SizesOf(a), SizesOf(taus), a.columns(), true);
    return ExpectNear(
        "Q", of, q, MadeOf(a, taus, a.columns(), false),
        kRoundings * static_cast<Wide>(a.rows() + 2) *
            static_cast<Wide>(taus.columns() + 1) *
            (of.precision().epsilon * LargestOf(sizes) + of.precision().least));
  });
}

absl::Status CheckEigh(const Factors& of) {
  return OfDType(of, [&](auto one) -> absl::Status {
    using W = decltype(one);
    auto a = of.Operand<W>(0);
    const auto v = of.Result<W>(1);
    const auto w = of.RowOf<W>(of.results[0]);
    const bool lower = of.attributes.GetBool("lower");
    for (int64_t i = 0; i < a.rows(); ++i) {
      a.At(i, i) = RealPart(a.At(i, i));
      for (int64_t j = 0; j < a.rows(); ++j) {
        if (i != j && (i > j) != lower) a.At(i, j) = Conjugated(a.At(j, i));
      }
    }
    if (!a.IsFinite() || !v.IsFinite() || !w.IsFinite()) {
      return absl::OkStatus();
    }
    Matrix<W> scaled = v;
    for (int64_t j = 0; j < a.rows(); ++j) {
      if (j > 0 && RealPart(w.At(0, j)) < RealPart(w.At(0, j - 1))) {
        return Internal("eigenvalue ", j, " is below the one before");
      }
      for (int64_t i = 0; i < a.rows(); ++i) {
        scaled.At(i, j) = TimesOf(v.At(i, j), w.At(0, j));
      }
    }
    HAWSER_RETURN_IF_ERROR(ExpectOrthonormal("v", of, v));
    return ExpectNear("A v", of, Product(a, v), scaled, BoundOf(of, a));
  });
}

// Columns of length 1, and sums of the values and of their squares that are
// those of the matrix: a value that was found twice would show.
absl::Status CheckEig(const Factors& of) {
  const auto a = of.Operand<WideComplex>(0), v = of.Result<WideComplex>(1);
  const auto w = of.RowOf<WideComplex>(of.results[0]);
  if (!a.IsFinite() || !v.IsFinite() || !w.IsFinite()) return absl::OkStatus();
  const int64_t n = a.rows();
  const Wide bound = BoundOf(of, a);
  auto scaled = v;
  WideComplex values = 0, squares = 0;
  for (int64_t j = 0; j < n; ++j) {
    Wide length = 0;
    values += w.At(0, j) - a.At(j, j);
    squares += TimesOf(w.At(0, j), w.At(0, j));
    for (int64_t i = 0; i < n; ++i) {
      length += SquareOf(v.At(i, j));
      squares -= TimesOf(a.At(i, j), a.At(j, i));
      scaled.At(i, j) = TimesOf(v.At(i, j), w.At(0, j));
    }
    if (!(std::abs(length - 1) <=
          kRoundings * static_cast<Wide>(n + 2) * of.precision().epsilon)) {
      return Internal("the length of vector ", j, " is off");
    }
  }
  const Wide sizes = LargestOf(a) * static_cast<Wide>(n);
  if (PartsOf(values) > bound * static_cast<Wide>(n) ||
      PartsOf(squares) > bound * static_cast<Wide>(n) * (sizes + bound)) {
    return Internal("the values are not those of the matrix");
  }
  return ExpectNear("A v", of, Product(a, v), scaled, bound);
}

absl::Status CheckSvd(const Factors& of) {
  return OfDType(of, [&](auto one) -> absl::Status {
    using W = decltype(one);
    const auto a = of.Operand<W>(0);
    const auto s = of.RowOf<W>(of.results[0]);
    if (!a.IsFinite() || !s.IsFinite()) return absl::OkStatus();
    Wide squares = 0, of_a = 0;
    for (int64_t k = 0; k < s.columns(); ++k) {
      const Wide value = RealPart(s.At(0, k));
      if (value < 0 || (k > 0 && value > RealPart(s.At(0, k - 1)))) {
        return Internal("singular value ", k, " is out of order");
      }
      squares += value * value;
    }
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j < a.columns(); ++j) of_a += SquareOf(a.At(i, j));
    }
    if (std::abs(std::sqrt(squares) - std::sqrt(of_a)) > BoundOf(of, a)) {
      return Internal("the singular values are not those of the matrix");
    }
    if (of.results.size() == 1) return absl::OkStatus();
    const auto u = of.Result<W>(1), vh = of.Result<W>(2);
    Matrix<W> scaled(vh.rows(), vh.columns());
    for (int64_t i = 0; i < s.columns(); ++i) {
      for (int64_t j = 0; j < vh.columns(); ++j) {
        scaled.At(i, j) = TimesOf(s.At(0, i), vh.At(i, j));
      }
    }
    Matrix<W> used(u.rows(), vh.rows());
    for (int64_t i = 0; i < u.rows(); ++i) {
      for (int64_t j = 0; j < s.columns(); ++j) used.At(i, j) = u.At(i, j);
    }
    HAWSER_RETURN_IF_ERROR(ExpectOrthonormal("u", of, u));
    HAWSER_RETURN_IF_ERROR(ExpectOrthonormal("v", of, AdjointOf(vh)));
    return ExpectNear("u s vh", of, Product(used, scaled), a, BoundOf(of, a));
  });
}

}  // namespace hawser::reference
