// Windows of elements, and what scatters into those that they choose.

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/contraction/shared.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/windows/windows.h"

namespace hawser::stablehlo {

std::optional<Dims> NumbersOf(const Op& op, absl::string_view name,
                              size_t count, int64_t fallback) {
  const Attribute* attribute = FindAttribute(op, name);
  if (attribute == nullptr) return Dims(count, fallback);
  Dims numbers;
  if (attribute->kind == Attribute::kInts) {
    numbers.assign(attribute->ints.begin(), attribute->ints.end());
  } else if (attribute->kind == Attribute::kElements &&
             attribute->elements->value.valid() &&
             attribute->elements->value.shape().dtype() == DType::kS64) {
    const auto values = attribute->elements->value.data<int64_t>();
    if (attribute->elements->splat) return Dims(count, values[0]);
    numbers.assign(values.begin(), values.end());
  }
  if (numbers.size() != count) return std::nullopt;
  return numbers;
}

std::vector<Expression> ExpressionsOf(ExpressionScope* scope,
                                      absl::Span<const ValueId> values) {
  std::vector<Expression> expressions;
  for (const ValueId value : values) expressions.push_back({scope, value});
  return expressions;
}

Values ValuesOf(const std::vector<Expression>& expressions) {
  Values values;
  for (const Expression& one : expressions) values.push_back(one.value());
  return values;
}

namespace {

// A list of one number an axis, each at least `least`; without it all are 1.
absl::StatusOr<Dims> OnePerAxis(OpContext& context, absl::string_view name,
                                size_t rank, int64_t least) {
  const auto numbers = NumbersOf(context.op, name, rank, 1);
  if (!numbers) {
    return InvalidArgument(name, " must hold ", rank, " numbers, one an axis");
  }
  for (const int64_t number : *numbers) {
    if (number >= least) continue;
    return InvalidArgument(name, " holds ", number, ", must be at least ",
                           least);
  }
  return *numbers;
}

absl::StatusOr<WindowSpec> WindowSpecOf(OpContext& context, size_t rank) {
  WindowSpec spec;
  const std::pair<absl::string_view, Dims*> lists[] = {
      {"window_dimensions", &spec.sizes},
      {"window_strides", &spec.strides},
      {"base_dilations", &spec.base_dilations},
      {"window_dilations", &spec.dilations}};
  for (const auto& [name, list] : lists) {
    HAWSER_ASSIGN_OR_RETURN(*list, OnePerAxis(context, name, rank, 1));
  }
  const auto padding = NumbersOf(context.op, "padding", 2 * rank, 0);
  if (!padding) {
    return InvalidArgument("padding must hold two numbers for each of ", rank,
                           " axes");
  }
  constexpr int64_t kMost = int64_t{1} << 60;  // far beyond any memory
  for (const int64_t amount : *padding) {
    if (amount >= -kMost && amount <= kMost) continue;
    return InvalidArgument("padding holds ", amount, ", which is too much");
  }
  for (size_t a = 0; a < rank; ++a) {
    spec.low.push_back((*padding)[2 * a]);
    spec.high.push_back((*padding)[2 * a + 1]);
  }
  return spec;
}

absl::StatusOr<Values> LowerWindow(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(1));
  const size_t n = context.operands.size() / 2;
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2 * n, 2 * n));
  if (n == 0) return InvalidArgument("takes at least one tensor");
  for (size_t i = 0; i < 2 * n; ++i) Promote(context, i, i);
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int> called,
                          context.ClosedRegions());
  if (const auto prefix = PrefixOf(context.op)) {
    return LowerPrefix(context, *prefix, called[0]);
  }
  HAWSER_ASSIGN_OR_RETURN(
      const WindowSpec spec,
      WindowSpecOf(context, context.operand_shape(0).dims().size()));
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const auto all = ExpressionsOf(&scope, context.operands);
  return ValuesOf(ReducedWindows(absl::MakeSpan(all).first(n),
                                 absl::MakeSpan(all).last(n), spec, called[0]));
}

absl::StatusOr<Values> LowerSelectAndScatter(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(2));
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(3, 3));
  for (size_t i = 1; i < 3; ++i) Promote(context, i, 0, /*region=*/1);
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int> called,
                          context.ClosedRegions());
  const Shape x = context.operand_shape(0), source = context.operand_shape(1);
  HAWSER_ASSIGN_OR_RETURN(const WindowSpec spec,
                          WindowSpecOf(context, x.rank()));
  const Dims counts = spec.CountsOn(x.dims());
  if (source.dims() != counts) {
    return InvalidArgument("the source is ", source.ToString(), ", but ",
                           x.ToString(), " has windows of sizes [",
                           absl::StrJoin(counts, ","), "]");
  }
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const auto all = ExpressionsOf(&scope, context.operands);
  const DType dtype = source.dtype();
  const Computation& body = scope.builder.module()->computation(called[1]);
  const OpDef* op = body.results().size() == 1 ? MonoidOf(body) : nullptr;
  const bool sums = op == &kAdd || op == &kMultiply;
  // Halves are added up in f32, and rounded once.
  const DType wide = sums ? hawser::SumDType(dtype) : dtype;
  const int scatter =
      wide == dtype ? called[1]
                    : scope.monoids.Find(*op, wide, scope.builder.module());
  HAWSER_ASSIGN_OR_RETURN(
      const Expression result,
      SelectAndScatter(all[0], ConvertTo(all[1], wide), ConvertTo(all[2], wide),
                       spec, called[0], scatter));
  return Values{ConvertTo(result, dtype).value()};
}

constexpr Row kWindowRows[] = {
    {"stablehlo.reduce_window", LowerWindow},
    {"stablehlo.select_and_scatter", LowerSelectAndScatter},
};

}  // namespace

absl::Span<const Row> WindowRows() { return kWindowRows; }

}  // namespace hawser::stablehlo
