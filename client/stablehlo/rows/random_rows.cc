// Random bits.

#include <algorithm>

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

// The numbers of a generator, of the shape that was asked for, and how many
// counters they took.
struct Drawn {
  Expression bits;
  int64_t counters = 0;
};

// The axis along which Threefry's two words alternate: the first even one, or
// the longest.
int64_t PairedAxis(const Dims& dims) {
  const auto even = std::find_if(dims.begin(), dims.end(),
                                 [](int64_t size) { return size % 2 == 0; });
  return (even != dims.end() ? even
                             : std::max_element(dims.begin(), dims.end())) -
         dims.begin();
}

// A counter gives two words, one after the other along the paired axis, which
// is filled up to an even size.
Drawn ThreefryOf32(const formulas::TwoWords& key, const Expression& start,
                   const Dims& shape) {
  Dims dims = shape;
  if (dims.empty()) dims.push_back(1);
  const auto axis = static_cast<size_t>(PairedAxis(dims));
  Dims halves = dims;
  halves[axis] = (dims[axis] + 1) / 2;
  int64_t counters = 1;
  for (const int64_t size : halves) counters *= size;
  const formulas::TwoWords words = formulas::ThreefryFrom(key, start, counters);
  Dims pairs = halves;  // [..., half, 2, ...]
  pairs.insert(pairs.begin() + static_cast<int64_t>(axis) + 1, 1);
  const Expression both =
      Apply(kConcatenate,
            {Reshaped(words.first, pairs), Reshaped(words.second, pairs)},
            {{"dimension", static_cast<int64_t>(axis) + 1}});
  Dims whole = halves;
  whole[axis] *= 2;
  const Dims starts(dims.size(), 0), strides(dims.size(), 1);
  const Expression bits = Apply(kSlice, {Reshaped(both, whole)},
                                {{"limit_indices", dims},
                                 {"start_indices", starts},
                                 {"strides", strides}});
  return {Reshaped(bits, shape), counters};
}

// A counter gives one number.
Drawn ThreefryOf64(const formulas::TwoWords& key, const Expression& start,
                   const Dims& shape, int64_t count) {
  const formulas::TwoWords words = formulas::ThreefryFrom(key, start, count);
  return {Reshaped(Wide(words.first, words.second), shape), count};
}

// A counter of 128 bits, whose upper half is the key, gives four words, or two
// numbers of 64 bits.
Drawn ByPhilox(const formulas::TwoWords& key, const Expression& own,
               const Expression& start, const Shape& shape) {
  const bool is_wide = BitWidth(shape.dtype()) == 64;
  const int64_t each = is_wide ? 2 : 4;
  const int64_t count = shape.num_elements();
  const int64_t counters = (count + each - 1) / each;
  const Expression rows = formulas::PhiloxWords(key, start, own, counters);
  const Dims by_counter = {1, 0};
  const Expression words =
      Reshaped(Transposed(rows, by_counter), {4 * counters});
  const auto taken = [&](const Expression& x, int64_t from, int64_t limit,
                         int64_t stride) {
    const Dims starts = {from}, limits = {limit}, strides = {stride};
    return Apply(kSlice, {x},
                 {{"start_indices", starts},
                  {"limit_indices", limits},
                  {"strides", strides}});
  };
  const Expression numbers = is_wide ? Wide(taken(words, 0, 4 * counters, 2),
                                            taken(words, 1, 4 * counters, 2))
                                     : words;
  return {Reshaped(taken(numbers, 0, count, 1), shape.dims()), counters};
}

// The state: a key and the first counter. Which bits they give is the
// implementation's; these are XLA's on CPUs and GPUs, whose default is Philox.
// Narrower numbers are the lower bits of 32.
absl::StatusOr<Values> LowerRngBitGenerator(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  if (context.results.size() != 2) return InvalidArgument("has two results");
  const Shape state_shape = context.operand_shape(0);
  const Shape shape = context.results[1];
  if (state_shape != Shape::Of(DType::kU64, {2})) {
    return Unimplemented("a state of ", state_shape.ToString());
  }
  if (!IsInteger(shape.dtype())) {
    return Unimplemented("bits of ", DTypeName(shape.dtype()));
  }
  const bool is_wide = BitWidth(shape.dtype()) == 64;
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression state(&scope, context.operands[0]);
  const Expression own = WordAt(state, 0), start = WordAt(state, 1);
  const formulas::TwoWords key = {
      ConvertTo(own, DType::kU32),
      ConvertTo(Apply(kShiftRightLogical, {own, Like(own, 32)}), DType::kU32)};
  const Drawn drawn = [&]() -> Drawn {
    if (shape.num_elements() == 0) {
      return {Filled(&scope, shape, 0), 0};
    }
    if (!absl::StrContains(context.Text("rng_algorithm"), "THREE_FRY")) {
      return ByPhilox(key, own, start, shape);
    }
    return is_wide
               ? ThreefryOf64(key, start, shape.dims(), shape.num_elements())
               : ThreefryOf32(key, start, shape.dims());
  }();
  const Expression next[] = {
      Reshaped(own, {1}),
      Reshaped(start + static_cast<double>(drawn.counters), {1})};
  return Values{Joined(next).value(),
                ConvertTo(drawn.bits, shape.dtype()).value()};
}

constexpr Row kRandomRows[] = {
    {"stablehlo.rng_bit_generator", LowerRngBitGenerator},
};

}  // namespace

absl::Span<const Row> RandomRows() { return kRandomRows; }

}  // namespace hawser::stablehlo
