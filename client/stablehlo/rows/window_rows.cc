// Windows, as far as they are scans: each holds all elements of an axis up to
// its place, or from there on.

#include <optional>
#include <string>
#include <vector>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/inlined.h"

namespace hawser::stablehlo {
namespace {

// An attribute's `count` numbers, `fallback` for each where there is none.
// Returns nullopt if it holds something else.
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
  const Computation body =
      context.builder().module()->computation(called);
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

// The padding of a window must be an identity of its computation: else
// StableHLO leaves open what it gives.
absl::StatusOr<Values> LowerWindow(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(1));
  const size_t n = context.operands.size() / 2;
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2 * n, 2 * n));
  const std::optional<Prefix> prefix = PrefixOf(context.op);
  if (!prefix) return Unimplemented("windows that are no prefixes");
  for (size_t i = 0; i < n; ++i) Promote(context, i, i);
  HAWSER_ASSIGN_OR_RETURN(std::vector<int> called, context.ClosedRegions());
  HAWSER_ASSIGN_OR_RETURN(called[0], Rounding(context, called[0]));
  context.operands.resize(n);
  return context.Add(
      kScan, context.operands,
      {{"dimension", prefix->axis}, {"reverse", prefix->reverse}}, called);
}

std::string MissingWindow(const Op& op) {
  return PrefixOf(op) ? "" : "with windows that are no prefixes";
}

constexpr Row kRows[] = {
    {"stablehlo.reduce_window", LowerWindow, nullptr, MissingWindow},
};

}  // namespace

absl::Span<const Row> WindowRows() { return kRows; }

}  // namespace hawser::stablehlo
