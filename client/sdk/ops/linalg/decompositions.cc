#include "client/sdk/ops/linalg/decompositions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/linalg/solve.h"
#include "client/sdk/ops/linalg/square.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/linalg/linalg.h"

namespace hawser {
namespace {

using sdk::CommonDType;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::ToAccurate;
using sdk::ToFloating;

// The results of an op on x, in its own dtype or, of a half, rounded once.
template <size_t n>
std::array<Tensor, n> Factored(const OpScope& s, const OpDef& op,
                               const Operand& x, const Attributes& attributes) {
  std::array<Tensor, n> out;
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor first = s.Add(op, {s.As(x, ToAccurate(dtype))}, attributes);
  out.fill(first);
  if (first.dtype() == DType::kInvalid) return out;
  const auto results = sdk::ResultsOf(first, n);
  for (size_t k = 0; k < n; ++k) {
    const bool complex = IsComplex(results[k].dtype());
    // There are no complex halves.
    out[k] = complex && !IsComplex(dtype)
                 ? results[k]
                 : s.Convert(results[k], complex ? dtype : RealPart(dtype));
  }
  return out;
}

double EpsilonOf(DType dtype) {
  return RealPart(dtype) == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                        : std::numeric_limits<float>::epsilon();
}

// Which of the singular values of `a` are not 0.
Tensor AreLarge(const Tensor& a, const Tensor& s, const RankOptions& options) {
  const double most = static_cast<double>(std::max(a.dim(-1), a.dim(-2)));
  const double tolerance =
      options.tolerance.value_or(most * EpsilonOf(a.dtype()));
  if (s.dim(-1) == 0) return Gt(s, 0.0);
  return Gt(s, ReduceMax(s, {.axes = {-1}, .keep_axes = true}) * tolerance);
}

absl::Status CheckRank(const Tensor& a) {
  if (a.rank() >= 2) return absl::OkStatus();
  return InvalidArgument("takes matrices, not ", a.shape().ToString());
}

// Pade's quotient of degree 13 for e^x, whose numerator has these numbers, the
// denominator the same with other signs. Up to kPadeNorm it is exact in f64.
constexpr double kPade[] = {64764752532480000.0,
                            32382376266240000.0,
                            7771770303897600.0,
                            1187353796428800.0,
                            129060195264000.0,
                            10559470521600.0,
                            670442572800.0,
                            33522128640.0,
                            1323241920.0,
                            40840800.0,
                            960960.0,
                            16380.0,
                            182.0,
                            1.0};
constexpr double kPadeNorm = 5.371920351148152;
// Larger norms are halved so often at most; JAX's number.
constexpr int64_t kMostSquarings = 16;

Tensor PadeOf(const Tensor& a) {
  const auto b = [](int k) { return kPade[k] / kPade[0]; };
  const Tensor one = Eye(a.dtype(), a.dim(-1), a.dim(-1));
  const Tensor a2 = MatMul(a, a), a4 = MatMul(a2, a2), a6 = MatMul(a4, a2);
  const Tensor odd =
      MatMul(a, MatMul(a6, b(13) * a6 + b(11) * a4 + b(9) * a2) + b(7) * a6 +
                    b(5) * a4 + b(3) * a2 + b(1) * one);
  const Tensor even = MatMul(a6, b(12) * a6 + b(10) * a4 + b(8) * a2) +
                      b(6) * a6 + b(4) * a4 + b(2) * a2 + one;
  return Solve(even - odd, even + odd);
}

// Matrices are halved until Pade's quotient is exact, and what it gives is
// squared as often. A turn in which no matrix is squared costs nothing.
Tensor ExponentialOf(const Tensor& a) {
  const Over columns{.axes = {-2}, .keep_axes = true};
  const Over rows{.axes = {-1}, .keep_axes = true};
  const Tensor norm = StopGradient(ReduceMax(Sum(Abs(a), columns), rows));
  Tensor scale = BroadcastTo(Scalar(norm.dtype(), 1), norm.shape().dims());
  double limit = kPadeNorm;
  for (int64_t k = 0; k < kMostSquarings; ++k, limit *= 2) {
    scale = scale * Select(Gt(norm, limit), 0.5, 1.0);
  }
  const std::tuple first(PadeOf(a * scale), Scalar(norm.dtype(), kPadeNorm));
  const auto [out, last] = For(
      kMostSquarings, first, [&](const Tensor&, Tensor x, const Tensor& most) {
        const Tensor more = Gt(norm, most);
        x = Cond(
            Any(more), [&] { return Select(more, MatMul(x, x), x); },
            [&] { return x; });
        return std::tuple(x, most * 2);
      });
  return Select(Gt(norm, limit), std::numeric_limits<float>::quiet_NaN(), out);
}

}  // namespace

QrFactors Qr(const Operand& a, const QrOptions& options) {
  const OpScope s("Qr", {&a});
  if (!s.ok()) return {s.error(), s.error()};
  const auto all = Factored<2>(s, kQr, a, {{"full_matrices", options.full}});
  return {all[0], all[1]};
}

EighFactors Eigh(const Operand& a, const EighOptions& options) {
  const OpScope s("Eigh", {&a});
  if (!s.ok()) return {s.error(), s.error()};
  const auto all = Factored<2>(s, kEigh, a, {{"lower", !options.upper}});
  return {all[0], all[1]};
}

EigFactors Eig(const Operand& a) {
  const OpScope s("Eig", {&a});
  if (!s.ok()) return {s.error(), s.error()};
  const auto all = Factored<2>(s, kEig, a, {});
  return {all[0], all[1]};
}

Tensor Eigvals(const Operand& a) {
  const OpScope s("Eigvals", {&a});
  if (!s.ok()) return s.error();
  return Factored<2>(s, kEig, a, {})[0];
}

SvdFactors Svd(const Operand& a, const SvdOptions& options) {
  const OpScope s("Svd", {&a});
  if (!s.ok()) return {s.error(), s.error(), s.error()};
  const auto all = Factored<3>(
      s, kSvd, a, {{"compute_uv", true}, {"full_matrices", options.full}});
  return {all[1], all[0], all[2]};
}

Tensor SingularValues(const Operand& a) {
  const OpScope s("SingularValues", {&a});
  if (!s.ok()) return s.error();
  return Factored<1>(s, kSvd, a,
                     {{"compute_uv", false}, {"full_matrices", false}})[0];
}

Tensor MatrixRank(const Operand& a, const RankOptions& options) {
  const OpScope s("MatrixRank", {&a});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(a, ToAccurate(ToFloating(DTypeOf(a))));
  const Tensor values = SingularValues(value);
  if (values.dtype() == DType::kInvalid) return values;
  const OpScope::Formula numbers;
  return Sum(AreLarge(value, values, options), {.axes = {-1}});
}

Tensor Pinv(const Operand& a, const RankOptions& options) {
  return sdk::Compose("Pinv", a, [&](const Tensor& x) {
    const SvdFactors f = Svd(x);
    if (f.s.dtype() == DType::kInvalid) return f.s;
    const Tensor large = AreLarge(x, f.s, options);
    const Tensor inverse = Select(large, 1 / Select(large, f.s, 1), 0);
    return MatMul(Adjoint(f.vh), ExpandDims(inverse, -1) * Adjoint(f.u));
  });
}

Tensor LeastSquares(const Operand& a, const Operand& b,
                    const RankOptions& options) {
  const OpScope s("LeastSquares", {&a, &b});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(CommonDType({&a, &b}));
  const Tensor x = s.As(a, ToAccurate(dtype));
  const Tensor y = s.As(b, ToAccurate(dtype));
  if (x.dtype() == DType::kInvalid) return x;
  if (y.dtype() == DType::kInvalid) return y;
  if (const auto status = CheckRank(x); !status.ok()) return s.Fail(status);
  const bool vectors =
      y.rank() == x.rank() - 1 && y.rank() > 1 && y.dim(-1) == x.dim(-2);
  const Tensor inverse = Pinv(x, options);
  const Tensor out = vectors ? Squeeze(MatMul(inverse, ExpandDims(y, -1)), {-1})
                             : MatMul(inverse, y);
  return s.Convert(out, dtype);
}

Tensor MatrixPower(const Operand& a, int64_t power) {
  const auto formula = [&](const Tensor& x) {
    const int64_t n = x.rank() < 2 ? 0 : x.dim(-1);
    Tensor base = power < 0 ? Inverse(x) : x;
    Tensor out = BroadcastTo(Eye(x.dtype(), n, n), x.shape().dims());
    bool is_one = true;
    for (uint64_t left = power < 0 ? -static_cast<uint64_t>(power) : power;
         left > 0; left /= 2) {
      if (left % 2 == 1) {
        out = is_one ? base : MatMul(out, base);
        is_one = false;
      }
      if (left > 1) base = MatMul(base, base);
    }
    return out;
  };
  const OpScope s("MatrixPower", {&a}, {{power}});
  if (!s.ok()) return s.error();
  const Tensor x = s.As(a);
  if (x.dtype() == DType::kInvalid) return x;
  if (const auto status = CheckSquare(x); !status.ok()) return s.Fail(status);
  return sdk::Compose("MatrixPower", x, formula);
}

Tensor MatrixExponential(const Operand& a) {
  const OpScope s("MatrixExponential", {&a});
  if (!s.ok()) return s.error();
  const Tensor x = s.As(a, ToFloating(DTypeOf(a)));
  if (x.dtype() == DType::kInvalid) return x;
  if (const auto status = CheckSquare(x); !status.ok()) return s.Fail(status);
  if (x.shape().num_elements() == 0) return x;
  return sdk::Compose("MatrixExponential", x, ExponentialOf);
}

}  // namespace hawser
