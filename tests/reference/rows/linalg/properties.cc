#include "tests/reference/rows/linalg/properties.h"

#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "core/ops/linalg/linalg.h"
#include "tests/reference/rows/linalg/factor_checks.h"

namespace hawser::reference {
namespace {

// A sum of products, the sum of their sizes, and that of the left factors.
template <typename W>
struct Sum {
  void Add(const W& x, const W& y) {
    value += TimesOf(x, y);
    sizes += PartsOf(x) * PartsOf(y);
    left += PartsOf(x);
  }
  // Whether `want` is the value but for roundings of so many terms.
  bool Is(const W& want, int64_t terms, const Precision& precision) const {
    const Wide roundings = kRoundings * static_cast<Wide>(terms + 2);
    return PartsOf(value - want) <=
           roundings * (precision.epsilon * (sizes + PartsOf(want)) +
                        precision.least * (left + 1));
  }

  W value = 0;
  Wide sizes = 0, left = 0;
};

template <typename W>
absl::Status Off(absl::string_view what, int64_t matrix, int64_t i, int64_t j,
                 const Sum<W>& got, const W& want) {
  return Internal(what, " of matrix ", matrix, " is off by ",
                  static_cast<double>(PartsOf(got.value - want)), " at (", i,
                  ", ", j, "), of sizes ", static_cast<double>(got.sizes));
}

template <typename W>
absl::Status CheckCholesky(const Matrix<W>& a, const Matrix<W>& factor,
                           bool lower, int64_t number,
                           const Precision& precision) {
  const int64_t n = a.rows();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (!IsFinite(factor.At(i, j))) return absl::OkStatus();
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const bool inside = i == j || (i > j) == lower;
      if (!inside && factor.At(i, j) != W(0)) {
        return Internal("(", i, ", ", j, ") of matrix ", number, " is not 0");
      }
      if (!inside) continue;
      Sum<W> product;
      for (int64_t k = 0; k < n; ++k) {
        if (lower) {
          product.Add(factor.At(i, k), Conjugated(factor.At(j, k)));
        } else {
          product.Add(Conjugated(factor.At(k, i)), factor.At(k, j));
        }
      }
      const W want = i == j ? W(RealPart(a.At(i, j))) : a.At(i, j);
      if (!product.Is(want, n, precision)) {
        return Off("the factor's square", number, i, j, product, want);
      }
    }
  }
  return absl::OkStatus();
}

// The matrix that acts, of its triangle alone.
template <typename W>
Matrix<W> ActingMatrix(const Matrix<W>& a, const Attributes& by) {
  const absl::string_view op = by.GetString("transpose_a");
  Matrix<W> out(a.rows(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.rows(); ++j) {
      if (i != j && (i > j) != by.GetBool("lower")) continue;
      W x = i == j && by.GetBool("unit_diagonal") ? W(1) : a.At(i, j);
      if (op == kAdjointOf) x = Conjugated(x);
      (op == kNoTranspose ? out.At(i, j) : out.At(j, i)) = x;
    }
  }
  return out;
}

template <typename W>
absl::Status CheckSolved(const Matrix<W>& acting, const Matrix<W>& b,
                         const Matrix<W>& x, bool left, int64_t number,
                         const Precision& precision) {
  const int64_t n = acting.rows();
  const int64_t sides = left ? x.columns() : x.rows();
  for (int64_t s = 0; s < sides; ++s) {
    const auto at = [&](const Matrix<W>& m, int64_t k) {
      return left ? m.At(k, s) : m.At(s, k);
    };
    bool finite = true;
    for (int64_t k = 0; k < n; ++k) finite = finite && IsFinite(at(x, k));
    for (int64_t i = 0; i < n && finite; ++i) {
      Sum<W> product;
      for (int64_t k = 0; k < n; ++k) {
        product.Add(left ? acting.At(i, k) : acting.At(k, i), at(x, k));
      }
      if (!IsFinite(product.value)) continue;
      if (!product.Is(at(b, i), n, precision)) {
        return Off("what is solved", number, left ? i : s, left ? s : i,
                   product, at(b, i));
      }
    }
  }
  return absl::OkStatus();
}

template <typename W>
absl::Status CheckTriangles(const Factors& of) {
  const auto a = of.Operand<W>(0), first = of.Result<W>(0);
  if (&of.op == &kCholesky) {
    return CheckCholesky(a, first, of.attributes.GetBool("lower"), of.number,
                         of.precision());
  }
  return CheckSolved(ActingMatrix(a, of.attributes), of.Operand<W>(1), first,
                     of.attributes.GetBool("left_side"), of.number,
                     of.precision());
}

absl::Status CheckTriangles(const Factors& of) {
  return IsComplex(of.operands[0].shape().dtype())
             ? CheckTriangles<WideComplex>(of)
             : CheckTriangles<Wide>(of);
}

using Check = absl::Status (*)(const Factors&);
constexpr std::pair<const OpDef*, Check> kChecks[] = {
    {&kCholesky, CheckTriangles},
    {&kEig, CheckEig},
    {&kEigh, CheckEigh},
    {&kGeqrf, CheckGeqrf},
    {&kHouseholderProduct, CheckHouseholderProduct},
    {&kLu, CheckLu},
    {&kQr, CheckQr},
    {&kSvd, CheckSvd},
    {&kTriangularSolve, CheckTriangles},
};

Check CheckOf(const OpDef& op) {
  for (const auto& [of, check] : kChecks) {
    if (of == &op) return check;
  }
  return nullptr;
}

}  // namespace

bool HasFactors(const OpDef& op) { return CheckOf(op) != nullptr; }

absl::Status CheckFactors(const OpDef& op, const Attributes& attributes,
                          absl::Span<const Literal> operands,
                          absl::Span<const Literal> results) {
  bool none = true;
  for (const Literal& x : results) {
    none = none && x.shape().num_elements() == 0;
  }
  const int64_t count = none ? 0 : CountOf(operands[0].shape());
  for (int64_t i = 0; i < count; ++i) {
    HAWSER_RETURN_IF_ERROR(
        CheckOf(op)(Factors{op, attributes, operands, results, i}));
  }
  return absl::OkStatus();
}

}  // namespace hawser::reference
