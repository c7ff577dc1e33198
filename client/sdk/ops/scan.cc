#include "client/sdk/ops/scan.h"

#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;
using sdk::Region;

// Scans `xs`, of the dtypes that the region takes; the first result.
Tensor ScanBy(const OpScope& s, absl::Span<const Tensor> xs,
              const Region& region, const Along& along) {
  for (const Tensor& x : xs) {
    if (x.dtype() == DType::kInvalid) return x;
  }
  const auto axis = NormalizeAxis(along.axis, xs[0].rank());
  if (!axis.ok()) return s.Fail(axis.status());
  return s.Add(kScan, xs,
               {{"dimension", int64_t{*axis}}, {"reverse", along.reverse}},
               {&region, 1});
}

Tensor ByMonoid(const OpScope& s, const OpDef& op, const Tensor& x,
                const Along& along) {
  if (x.dtype() == DType::kInvalid) return x;
  return ScanBy(s, {&x, 1}, sdk::Monoid(op, x.dtype()), along);
}

// Scans bool in the dtype of its sum, other dtypes as they are.
Tensor Aggregated(absl::string_view name, const OpDef& op, const Operand& x,
                  const Along& along) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  const DType dtype = DTypeOf(x);
  return ByMonoid(
      s, op,
      s.As(x, dtype == DType::kBool ? sdk::ToAggregate(dtype) : dtype), along);
}

Tensor Extreme(absl::string_view name, const OpDef& op, const Operand& x,
               const Along& along) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  if (IsComplex(DTypeOf(x))) {
    return s.Fail(InvalidArgument("complex numbers have no order"));
  }
  return ByMonoid(s, op, s.As(x), along);
}

}  // namespace

Tensor CumulativeSum(const Operand& x, const Along& along) {
  return Aggregated("CumulativeSum", kAdd, x, along);
}
Tensor CumulativeProduct(const Operand& x, const Along& along) {
  return Aggregated("CumulativeProduct", kMultiply, x, along);
}
Tensor CumulativeMax(const Operand& x, const Along& along) {
  return Extreme("CumulativeMax", kMaximum, x, along);
}
Tensor CumulativeMin(const Operand& x, const Along& along) {
  return Extreme("CumulativeMin", kMinimum, x, along);
}

Tensor Cumulative(const Operand& x, absl::FunctionRef<Tensor(Tensor, Tensor)> fn,
                  const Along& along) {
  const OpScope s("Cumulative", {&x});
  if (!s.ok()) return s.error();
  return Cumulative(
      std::vector<Tensor>{s.As(x)},
      [&](const std::vector<Tensor>& running, const std::vector<Tensor>& next) {
        return std::vector<Tensor>{fn(running[0], next[0])};
      },
      along, s.where())[0];
}

std::vector<Tensor> Cumulative(
    const std::vector<Tensor>& xs,
    absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor>&,
                                          const std::vector<Tensor>&)>
        fn,
    const Along& along, SourceLocation where) {
  const OpScope s("Cumulative", where, xs);
  const auto all = [&](const Tensor& first) {
    return std::vector<Tensor>(xs.size(), first);
  };
  if (xs.empty()) return {};
  if (!s.ok()) return all(s.error());
  sdk::Trace trace("scan", sdk::Captures::kNone);
  std::vector<Tensor> running, next;
  for (std::vector<Tensor>* values : {&running, &next}) {
    for (const Tensor& x : xs) {
      values->push_back(trace.Parameter(Shape::Scalar(x.dtype()), s.where()));
    }
  }
  {
    const sdk::Trace::Scope scope(&trace);
    trace.Return(fn(running, next), s.where());
  }
  auto module = trace.Finish();
  if (!module.ok()) return all(s.Keep(module.status()));
  return sdk::ResultsOf(
      ScanBy(s, xs, sdk::MakeRegion(*std::move(module)), along), xs.size());
}

}  // namespace hawser
