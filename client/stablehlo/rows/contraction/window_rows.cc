// Windows: as scans where each holds all elements of an axis up to its place,
// or from there on.

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/contraction/shared.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/inlined.h"
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

namespace {

bool AreOnes(const std::optional<Dims>& numbers) {
  return numbers.has_value() && *numbers == Dims(numbers->size(), 1);
}

struct Prefix {
  int64_t axis = 0;
  bool reverse = false;
};

// The axis whose windows hold all that is before them, or after.
std::optional<Prefix> PrefixOf(const Op& op) {
  if (op.operand_types.empty()) return std::nullopt;
  const auto& dims = op.operand_types[0].dims;
  const size_t rank = dims.size();
  const auto sizes = NumbersOf(op, "window_dimensions", rank, 1);
  const auto padding = NumbersOf(op, "padding", 2 * rank, 0);
  if (!sizes || !padding ||
      !AreOnes(NumbersOf(op, "window_strides", rank, 1)) ||
      !AreOnes(NumbersOf(op, "base_dilations", rank, 1)) ||
      !AreOnes(NumbersOf(op, "window_dilations", rank, 1))) {
    return std::nullopt;
  }
  std::optional<Prefix> prefix;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t low = (*padding)[2 * d], high = (*padding)[2 * d + 1];
    if ((*sizes)[d] == 1 && low == 0 && high == 0) continue;
    const int64_t others = dims[d] - 1;
    if (prefix || (*sizes)[d] != dims[d] || low + high != others ||
        (low != 0 && high != 0)) {
      return std::nullopt;
    }
    prefix = Prefix{static_cast<int64_t>(d), low == 0};
  }
  // An axis of one element is a window of one, as in JAX's cumsum of it.
  for (size_t d = 0; d < rank && !prefix; ++d) {
    if (dims[d] == 1) prefix = Prefix{static_cast<int64_t>(d)};
  }
  return prefix;
}

// The computation, after which halves are rounded: our scans add them up in
// wider floats, and StableHLO's windows do not.
absl::StatusOr<int> Rounding(OpContext& context, int called) {
  // It is copied since the module may move its computations.
  const Computation body = context.builder().module()->computation(called);
  ComputationBuilder builder(context.builder().module(), "rounded");
  std::vector<ValueId> arguments;
  for (const Shape& shape : body.signature().parameters) {
    arguments.push_back(builder.Parameter(shape));
  }
  std::vector<ValueId> results = Inlined(body, arguments, &builder);
  for (ValueId& result : results) {
    const DType dtype = builder.shape(result).dtype();
    if (!IsFloat(dtype) || BitWidth(dtype) > 16) continue;
    const FloatBits bits = FloatBitsOf(dtype);
    result = builder.Add(kReducePrecision, {result},
                         {{"exponent_bits", int64_t{bits.exponent}},
                          {"mantissa_bits", int64_t{bits.mantissa}}});
  }
  return builder.Finish(results);
}

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

std::vector<Expression> ExpressionsOf(ExpressionScope* scope,
                                      absl::Span<const ValueId> values) {
  std::vector<Expression> expressions;
  for (const ValueId value : values) expressions.push_back({scope, value});
  return expressions;
}

// Makes it a scan that rounds halves at each step, as StableHLO does.
absl::StatusOr<Values> LowerPrefix(OpContext& context, const Prefix& prefix,
                                   int called) {
  HAWSER_ASSIGN_OR_RETURN(const int rounded, Rounding(context, called));
  context.operands.resize(context.operands.size() / 2);
  return context.Add(kScan, context.operands,
                     {{"dimension", prefix.axis}, {"reverse", prefix.reverse}},
                     {rounded});
}

// True if a scan would leave out what the windows of a monoid begin with.
bool BeginsWithMore(OpContext& context, int called) {
  const ComputationBuilder& builder = context.builder();
  const Computation& body = builder.module()->computation(called);
  if (context.operands.size() != 2 || body.results().size() != 1) return false;
  const OpDef* op = MonoidOf(body);
  const Instruction& initial =
      builder.computation()
          .instructions()[builder.computation().producer(context.operands[1])];
  if (op == nullptr || op->monoid.neutral == MonoidDef::kNone ||
      initial.op != &kConstant) {
    return false;
  }
  const Literal& value = initial.attributes.GetLiteral("value");
  return value.bytes() != NeutralOf(*op, value.shape().dtype()).bytes();
}

// The initial values of prefixes are taken to be neutral, unless they are known
// not to be.
absl::StatusOr<Values> LowerWindow(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(1));
  const size_t n = context.operands.size() / 2;
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2 * n, 2 * n));
  if (n == 0) return InvalidArgument("takes at least one tensor");
  for (size_t i = 0; i < 2 * n; ++i) Promote(context, i, i);
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int> called,
                          context.ClosedRegions());
  const std::optional<Prefix> prefix = PrefixOf(context.op);
  if (prefix && !BeginsWithMore(context, called[0])) {
    return LowerPrefix(context, *prefix, called[0]);
  }
  HAWSER_ASSIGN_OR_RETURN(
      const WindowSpec spec,
      WindowSpecOf(context, context.operand_shape(0).dims().size()));
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const auto all = ExpressionsOf(&scope, context.operands);
  Values results;
  for (const Expression& x :
       ReducedWindows(absl::MakeSpan(all).first(n), absl::MakeSpan(all).last(n),
                      spec, called[0])) {
    results.push_back(x.value());
  }
  return results;
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
  HAWSER_ASSIGN_OR_RETURN(
      const Expression result,
      SelectAndScatter(all[0], all[1], all[2], spec, called[0], called[1]));
  return Values{result.value()};
}

constexpr Row kWindowRows[] = {
    {"stablehlo.reduce_window", LowerWindow},
    {"stablehlo.select_and_scatter", LowerSelectAndScatter},
};

}  // namespace

absl::Span<const Row> WindowRows() { return kWindowRows; }

}  // namespace hawser::stablehlo
