// Random bits.

#include <vector>

#include "absl/strings/match.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/random.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::stablehlo {
namespace {

// A scalar of `words`, of rank 1.
Expression WordAt(const Expression& words, int64_t i) {
  const Dims starts = {i}, limits = {i + 1}, strides = {1};
  return Reshaped(Apply(kSlice, {words},
                        {{"start_indices", starts},
                         {"limit_indices", limits},
                         {"strides", strides}}),
                  {});
}

// u32[count] words, one after the other.
Expression Joined(absl::Span<const Expression> words) {
  return Apply(kConcatenate, words, {{"dimension", int64_t{0}}});
}

// Pairs of words as u64, the first one below.
Expression Wide(const Expression& low, const Expression& high) {
  const Expression above = ConvertTo(high, DType::kU64);
  return Apply(kOr, {Apply(kShiftLeft, {above, Like(above, 32)}),
                     ConvertTo(low, DType::kU64)});
}

// The words of a generator, of rank 1 and at least as many as were asked for,
// and how many counters it took.
struct Drawn {
  Expression bits;
  int64_t counters = 0;
};

// A counter gives two words, or one number of 64 bits.
Drawn ByThreefry(const formulas::TwoWords& key, const Expression& start,
                 int64_t count, bool is_wide) {
  const int64_t counters = is_wide ? count : (count + 1) / 2;
  const formulas::TwoWords words =
      formulas::ThreefryFrom(key, start, counters);
  const Expression all[] = {words.first, words.second};
  return {is_wide ? Wide(words.first, words.second) : Joined(all), counters};
}

// A counter gives four words, or two numbers of 64 bits.
Drawn ByPhilox(const formulas::TwoWords& key, const Expression& start,
               int64_t count, bool is_wide) {
  const int64_t each = is_wide ? 2 : 4;
  const int64_t counters = (count + each - 1) / each;
  const Expression rows = formulas::PhiloxWords(key, start, counters);
  const Dims by_counter = {1, 0};
  const Expression words =
      Reshaped(Transposed(rows, by_counter), {4 * counters});
  if (!is_wide) return {words, counters};
  const auto every_second = [&](int64_t from) {
    const Dims starts = {from}, limits = {4 * counters}, strides = {2};
    return Apply(kSlice, {words},
                 {{"start_indices", starts},
                  {"limit_indices", limits},
                  {"strides", strides}});
  };
  return {Wide(every_second(0), every_second(1)), counters};
}

// The state: a key and the first counter. Which bits they give is the
// implementation's; these of Threefry are XLA's.
absl::StatusOr<Values> LowerRngBitGenerator(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  if (context.results.size() != 2) return InvalidArgument("has two results");
  const Shape state_shape = context.operand_shape(0);
  const Shape shape = context.results[1];
  if (state_shape != Shape::Of(DType::kU64, {2})) {
    return Unimplemented("a state of ", state_shape.ToString());
  }
  const int width = static_cast<int>(BitWidth(shape.dtype()));
  if (!IsInteger(shape.dtype()) || width < 32) {
    return Unimplemented("bits of ", DTypeName(shape.dtype()));
  }
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression state(&scope, context.operands[0]);
  const Expression own = WordAt(state, 0), start = WordAt(state, 1);
  const formulas::TwoWords key = {
      ConvertTo(own, DType::kU32),
      ConvertTo(Apply(kShiftRightLogical, {own, Like(own, 32)}), DType::kU32)};
  const int64_t count = shape.num_elements();
  const bool is_philox =
      absl::StrContains(context.Text("rng_algorithm"), "PHILOX");
  const Drawn drawn = (is_philox ? ByPhilox : ByThreefry)(
      key, start, count, /*is_wide=*/width == 64);
  const Dims starts = {0}, limits = {count}, strides = {1};
  const Expression bits = Apply(kSlice, {drawn.bits},
                                {{"start_indices", starts},
                                 {"limit_indices", limits},
                                 {"strides", strides}});
  const Expression next[] = {
      Reshaped(own, {1}),
      Reshaped(start + static_cast<double>(drawn.counters), {1})};
  return Values{
      Joined(next).value(),
      Reshaped(ConvertTo(bits, shape.dtype()), shape.dims()).value()};
}

constexpr Row kRows[] = {
    {"stablehlo.rng_bit_generator", LowerRngBitGenerator},
};

}  // namespace

absl::Span<const Row> RandomRows() { return kRows; }

}  // namespace hawser::stablehlo
