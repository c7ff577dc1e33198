#include "client/sdk/ops/linalg/solve.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/indexing/diagonal.h"
#include "client/sdk/ops/indexing/index.h"
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

// Sizes of the axes before the last two.
absl::Span<const int64_t> BatchOf(const Tensor& x) {
  return absl::MakeConstSpan(x.shape().dims()).subspan(0, x.rank() - 2);
}

// x with other batches.
Tensor WithBatch(const OpScope& s, const Tensor& x, const Dims& batch) {
  Dims dims = batch;
  dims.push_back(x.dim(-2));
  dims.push_back(x.dim(-1));
  return s.BroadcastTo(x, dims);
}

// Whether b is one vector for each matrix of a.
bool IsVector(const Tensor& a, const Tensor& b) {
  if (b.rank() == 1) return true;
  return b.rank() == a.rank() - 1 &&
         absl::MakeConstSpan(b.shape().dims()) ==
             absl::MakeConstSpan(a.shape().dims()).subspan(0, b.rank());
}

// a and b of the same batches, b as matrices; an error: a is it.
struct System {
  Tensor a, b;
  bool vector = false;
};

System SystemOf(const OpScope& s, const Operand& a, const Operand& b,
                DType dtype, bool left) {
  System out{s.As(a, dtype), s.As(b, dtype)};
  if (out.a.dtype() == DType::kInvalid) return out;
  if (out.b.dtype() == DType::kInvalid) return {out.b, out.b};
  const auto fail = [&](const absl::Status& status) {
    const Tensor error = s.Fail(status);
    return System{error, error};
  };
  if (out.a.rank() < 2 || out.b.rank() < 1) {
    return fail(InvalidArgument(
        "takes matrices, and on the other side matrices or vectors"));
  }
  out.vector = IsVector(out.a, out.b);
  if (out.vector) out.b = ExpandDims(out.b, left ? -1 : -2);
  const auto batch = sdk::BroadcastDims(BatchOf(out.a), BatchOf(out.b));
  if (!batch.ok()) return fail(batch.status());
  out.a = WithBatch(s, out.a, *batch);
  out.b = WithBatch(s, out.b, *batch);
  return out;
}

std::string NameOf(Turned turned) {
  switch (turned) {
    case Turned::kTransposed:
      return std::string(kTransposeOf);
    case Turned::kAdjoint:
      return std::string(kAdjointOf);
    case Turned::kNo:
      break;
  }
  return std::string(kNoTranspose);
}

// The results of lu.
struct Packed {
  Tensor factors, pivots, order;
};

Packed PackedOf(const OpScope& s, const Tensor& a) {
  const Tensor first = s.Add(kLu, {a});
  if (first.dtype() == DType::kInvalid) return {first, first, first};
  const auto all = sdk::ResultsOf(first, 3);
  return {all[0], all[1], all[2]};
}

Tensor SolvedWith(const Tensor& a, const Tensor& b, bool lower,
                  Turned turned = Turned::kNo) {
  return TriangularSolve(
      a, b, {.lower = lower, .unit_diagonal = lower, .turned = turned});
}

// The rows of b in that order.
Tensor RowsIn(const OpScope& s, const Tensor& order, const Tensor& b) {
  if (order.dtype() == DType::kInvalid || b.dtype() == DType::kInvalid) {
    return order.dtype() == DType::kInvalid ? order : b;
  }
  const Tensor rows = s.BroadcastTo(ExpandDims(order, -1), b.shape().dims());
  return TakeAlongAxis(b, rows, -2, {.clamp = true});
}

// The solution of a x = b, of the same batches.
Tensor SolvedByLu(const OpScope& s, const Tensor& a, const Tensor& b) {
  const Packed packed = PackedOf(s, a);
  const Tensor y =
      SolvedWith(packed.factors, RowsIn(s, packed.order, b), /*lower=*/true);
  return SolvedWith(packed.factors, y, /*lower=*/false);
}

// 1 or -1, of an even or odd number of exchanges.
Tensor ParityOf(const OpScope& s, const Tensor& pivots, DType dtype) {
  const int64_t n = pivots.dim(-1);
  const Tensor places = s.BroadcastTo(Iota(DType::kS32, {n}, 0, s.where()),
                                      pivots.shape().dims());
  const OpScope::Formula numbers;
  const Tensor exchanges =
      Sum(s.Convert(Ne(pivots, places), DType::kS32), {.axes = {-1}});
  return s.Convert(1 - 2 * BitwiseAnd(exchanges, 1), dtype);
}

// fn(diagonal of U, parity) of the square matrices `a`, in their dtype.
template <typename Fn>
Tensor OfDiagonal(const OpScope& s, const Tensor& a, Fn fn) {
  if (a.dtype() == DType::kInvalid) return a;
  if (const auto status = CheckSquare(a); !status.ok()) return s.Fail(status);
  const Packed packed = PackedOf(s, a);
  if (packed.factors.dtype() == DType::kInvalid) return packed.factors;
  return fn(TakeDiagonal(packed.factors),
            ParityOf(s, packed.pivots, a.dtype()));
}

}  // namespace

Tensor Cholesky(const Operand& a, const CholeskyOptions& options) {
  const OpScope s("Cholesky", {&a});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(a));
  const Tensor factor = s.Add(kCholesky, {s.As(a, ToAccurate(dtype))},
                              {{"lower", !options.upper}});
  return s.Convert(factor, dtype);
}

Tensor TriangularSolve(const Operand& a, const Operand& b,
                       const TriangularSolveOptions& options) {
  const OpScope s("TriangularSolve", {&a, &b});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(CommonDType({&a, &b}));
  const System system = SystemOf(s, a, b, ToAccurate(dtype), options.left);
  if (system.a.dtype() == DType::kInvalid) return system.a;
  const Tensor x = s.Add(kTriangularSolve, {system.a, system.b},
                         {{"left_side", options.left},
                          {"lower", options.lower},
                          {"transpose_a", NameOf(options.turned)},
                          {"unit_diagonal", options.unit_diagonal}});
  const Tensor result = s.Convert(x, dtype);
  return system.vector ? Squeeze(result, {options.left ? -1 : -2}) : result;
}

LuFactors Lu(const Operand& a) {
  const OpScope s("Lu", {&a});
  const auto all = [](const Tensor& x) { return LuFactors{x, x, x}; };
  if (!s.ok()) return all(s.error());
  const DType dtype = ToFloating(DTypeOf(a));
  const Packed packed = PackedOf(s, s.As(a, ToAccurate(dtype)));
  if (packed.factors.dtype() == DType::kInvalid) return all(packed.factors);
  const Tensor& factors = packed.factors;
  const int64_t m = factors.dim(-2), n = factors.dim(-1), k = std::min(m, n);
  const Tensor below = SliceAlongAxis(factors, 0, k, -1);
  const OpScope::Formula numbers;
  const Tensor lower = Tril(below, -1) + Eye(factors.dtype(), m, k, s.where());
  const Tensor upper = Triu(SliceAlongAxis(factors, 0, k, -2));
  return {packed.order, s.Convert(lower, dtype), s.Convert(upper, dtype)};
}

Tensor Solve(const Operand& a, const Operand& b) {
  const OpScope s("Solve", {&a, &b});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(CommonDType({&a, &b}));
  const System system = SystemOf(s, a, b, ToAccurate(dtype), /*left=*/true);
  if (system.a.dtype() == DType::kInvalid) return system.a;
  if (const auto status = CheckSquare(system.a); !status.ok()) {
    return s.Fail(status);
  }
  if (system.b.dim(-2) != system.a.dim(-1)) {
    return s.Fail(InvalidArgument("a has ", system.a.dim(-1), " rows, b ",
                                  system.b.dim(-2)));
  }
  const Tensor x = s.Convert(SolvedByLu(s, system.a, system.b), dtype);
  return system.vector ? Squeeze(x, {-1}) : x;
}

Tensor Inverse(const Operand& a) {
  const OpScope s("Inverse", {&a});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(a));
  const Tensor value = s.As(a, ToAccurate(dtype));
  if (value.dtype() == DType::kInvalid) return value;
  if (const auto status = CheckSquare(value); !status.ok()) {
    return s.Fail(status);
  }
  const int64_t n = value.dim(-1);
  const Tensor identity =
      s.BroadcastTo(Eye(value.dtype(), n, n, s.where()), value.shape().dims());
  return s.Convert(SolvedByLu(s, value, identity), dtype);
}

Tensor Determinant(const Operand& a) {
  const OpScope s("Determinant", {&a});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(a));
  const Tensor result =
      OfDiagonal(s, s.As(a, ToAccurate(dtype)),
                 [](const Tensor& diagonal, const Tensor& parity) {
                   return Product(diagonal, {.axes = {-1}}) * parity;
                 });
  return s.Convert(result, dtype);
}

SignAndLogarithm LogDeterminant(const Operand& a) {
  const OpScope s("LogDeterminant", {&a});
  if (!s.ok()) return {s.error(), s.error()};
  const DType dtype = ToFloating(DTypeOf(a));
  const Tensor value = s.As(a, ToAccurate(dtype));
  const Tensor sign =
      OfDiagonal(s, value, [](const Tensor& diagonal, const Tensor& parity) {
        return Product(Sign(diagonal), {.axes = {-1}}) * parity;
      });
  const Tensor logarithm =
      OfDiagonal(s, value, [](const Tensor& diagonal, const Tensor&) {
        return Sum(Log(Abs(diagonal)), {.axes = {-1}});
      });
  return {s.Convert(sign, dtype), s.Convert(logarithm, RealPart(dtype))};
}

}  // namespace hawser
