#include "client/sdk/ops/linalg/decompositions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

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
  if (x.rank() < 2 || x.dim(-1) != x.dim(-2)) {
    return s.Fail(
        InvalidArgument("takes square matrices, not ", x.shape().ToString()));
  }
  return sdk::Compose("MatrixPower", x, formula);
}

}  // namespace hawser
