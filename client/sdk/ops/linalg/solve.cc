#include "client/sdk/ops/linalg/solve.h"

#include <string>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
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

}  // namespace hawser
