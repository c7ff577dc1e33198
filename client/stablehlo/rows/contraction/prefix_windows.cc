// Windows that hold all elements of an axis up to a place, or from there on, as
// scans: what JAX makes of cumulative sums.
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/contraction/shared.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/inlined.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/sliced.h"
#include "core/ops/windows/windows.h"

namespace hawser::stablehlo {
namespace {

bool AreOnes(const std::optional<Dims>& numbers) {
  return numbers.has_value() && *numbers == Dims(numbers->size(), 1);
}

// Returns the constant that a scalar is, through ops that keep its one element:
// JAX broadcasts it to a scalar. Null: it is computed.
const Instruction* ConstantAt(const Computation& c, ValueId scalar) {
  while (true) {
    const Instruction& i = c.instructions()[c.producer(scalar)];
    if (i.op == &kConstant) return &i;
    if (i.op != &kBroadcastInDim && i.op != &kReshape) return nullptr;
    scalar = i.operands[0];
  }
}

// True if it folds one tensor by a monoid, from its neutral element on: then
// what windows begin with, and their padding, make no difference.
bool BeginsNeutral(OpContext& context, const OpDef* monoid) {
  const Instruction* const initial =
      ConstantAt(context.builder().computation(), context.operands[1]);
  if (monoid == nullptr || monoid->monoid.neutral == MonoidDef::kNone ||
      initial == nullptr) {
    return false;
  }
  const Literal& value = initial->attributes.GetLiteral("value");
  return value.bytes() == NeutralOf(*monoid, value.shape().dtype()).bytes();
}

// Up to so many halves are rounded at each step, as StableHLO's interpreter
// does, by which programs check themselves. Longer sums would stick so, in bf16
// at 256 times what is added: they are rounded once.
constexpr int64_t kShort = 16;

// Adds a computation to the module that rounds the halves that it gives.
absl::StatusOr<int> AddRounding(int called, Module* module) {
  // It is copied since the module may move its computations.
  const Computation body = module->computation(called);
  ComputationBuilder builder(module, "rounded");
  std::vector<ValueId> arguments;
  for (const Shape& shape : body.signature().parameters) {
    arguments.push_back(builder.Parameter(shape));
  }
  std::vector<ValueId> results = Inlined(body, arguments, &builder);
  for (ValueId& result : results) {
    const DType dtype = builder.shape(result).dtype();
    if (!IsHalf(dtype)) continue;
    const FloatBits bits = FloatBitsOf(dtype);
    result = builder.Add(kReducePrecision, {result},
                         {{"exponent_bits", int64_t{bits.exponent}},
                          {"mantissa_bits", int64_t{bits.mantissa}}});
  }
  return builder.Finish(results);
}

// Adds a computation of scalars to the module in which all halves are f32.
// Errors: the builder's, if an instruction is of halves alone.
absl::StatusOr<int> AddWidened(int called, Module* module) {
  // It is copied since the module may move its computations.
  const Computation body = module->computation(called);
  ComputationBuilder builder(module, std::string(body.name()));
  std::vector<ValueId> moved;
  for (const Shape& shape : body.signature().parameters) {
    const DType dtype = hawser::SumDType(shape.dtype());
    moved.push_back(builder.Parameter(Shape::Scalar(dtype)));
  }
  moved.resize(body.num_values(), kNoValue);
  for (const Instruction& i : body.instructions()) {
    if (i.op == &kParameter) continue;
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : i.operands) operands.push_back(moved[v]);
    Attributes attributes = i.attributes;
    if (i.op == &kConvert) {
      attributes.Set("dtype", hawser::SumDType(attributes.GetDType("dtype")));
    }
    ValueId first = builder.Add(*i.op, operands, std::move(attributes),
                                i.called, SourceLocation{});
    if (i.op == &kConstant && first != kNoValue) {
      const DType dtype = builder.shape(first).dtype();
      if (IsHalf(dtype)) {
        first = builder.Add(kConvert, {first},
                            {{"dtype", hawser::SumDType(dtype)}});
      }
    }
    for (int k = 0; k < i.num_results; ++k) {
      moved[i.first_result + k] = first == kNoValue ? kNoValue : first + k;
    }
  }
  std::vector<ValueId> results;
  for (const ValueId v : body.results()) results.push_back(moved[v]);
  return builder.Finish(results);
}

// Folds tensors along an axis by a computation.
class Scanner {
 public:
  Scanner(int64_t axis, bool reverse, int called)
      : axis_(axis), reverse_(reverse), called_(called) {}

  std::vector<Expression> Of(const std::vector<Expression>& xs) const {
    return Along(xs, axis_, reverse_);
  }
  // Folds what a window has besides x, before it or, if reversed, after it: the
  // initial value, once for each place of the padding and once more.
  std::vector<Expression> OfPadding(const std::vector<Expression>& initial,
                                    const Dims& dims) const {
    std::vector<Expression> spread;
    for (const Expression& one : initial) {
      spread.push_back(OfAllSizes(one, dims));
    }
    return Along(spread, axis_, !reverse_);
  }
  // Folds both, element by element, in the window's order.
  std::vector<Expression> Joined(const std::vector<Expression>& padding,
                                 const std::vector<Expression>& x) const {
    const auto& [first, second] =
        reverse_ ? std::tie(x, padding) : std::tie(padding, x);
    const Dims dims = x[0].dims();
    Dims layer = {1};
    layer.insert(layer.end(), dims.begin(), dims.end());
    std::vector<Expression> both;
    for (size_t k = 0; k < x.size(); ++k) {
      both.push_back(Apply(
          kConcatenate, {Reshaped(first[k], layer), Reshaped(second[k], layer)},
          {{"dimension", int64_t{0}}}));
    }
    Dims begin(layer.size(), 0), end = layer;
    begin[0] = 1;
    end[0] = 2;
    std::vector<Expression> joined;
    for (const Expression& done : Along(both, 0, false)) {
      joined.push_back(Reshaped(SliceOf(done, begin, end), dims));
    }
    return joined;
  }

 private:
  std::vector<Expression> Along(const std::vector<Expression>& xs, int64_t axis,
                                bool reverse) const {
    const Expression first = Apply(
        kScan, xs, {{"dimension", axis}, {"reverse", reverse}}, {called_});
    std::vector<Expression> results;
    for (size_t k = 0; k < xs.size(); ++k) {
      results.push_back(ResultOf(first, static_cast<int>(k)));
    }
    return results;
  }

  const int64_t axis_;
  const bool reverse_;
  const int called_;
};

}  // namespace

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

absl::StatusOr<Values> LowerPrefix(OpContext& context, const Prefix& prefix,
                                   int called) {
  const size_t n = context.operands.size() / 2;
  ExpressionScope scope{context.builder(), context.program.monoids()};
  Module* const module = scope.builder.module();
  const Computation& body = module->computation(called);
  const OpDef* const monoid =
      n == 1 && body.results().size() == 1 ? MonoidOf(body) : nullptr;
  auto all = ExpressionsOf(&scope, context.operands);
  std::vector<DType> dtypes;
  bool halves = false;
  for (size_t k = 0; k < n; ++k) {
    dtypes.push_back(all[k].dtype());
    halves |= IsHalf(dtypes[k]);
  }
  const bool is_short = all[0].dims()[prefix.axis] <= kShort;
  if (halves && is_short) {
    HAWSER_ASSIGN_OR_RETURN(called, AddRounding(called, module));
  }
  if (BeginsNeutral(context, monoid)) {
    all.resize(n);
    return ValuesOf(Scanner(prefix.axis, prefix.reverse, called).Of(all));
  }
  if (halves && !is_short) {
    const absl::StatusOr<int> wide = AddWidened(called, module);
    if (wide.ok()) {
      called = *wide;
      for (Expression& one : all) {
        one = ConvertTo(one, hawser::SumDType(one.dtype()));
      }
    }
  }
  const Scanner scanner(prefix.axis, prefix.reverse, called);
  const std::vector<Expression> xs(all.begin(), all.begin() + n);
  const std::vector<Expression> initial(all.begin() + n, all.end());
  std::vector<Expression> results =
      scanner.Joined(scanner.OfPadding(initial, xs[0].dims()), scanner.Of(xs));
  for (size_t k = 0; k < n; ++k) results[k] = ConvertTo(results[k], dtypes[k]);
  return ValuesOf(results);
}

}  // namespace hawser::stablehlo
