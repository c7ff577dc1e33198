#include "core/ops/movement/scatter.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/values/compare.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/registry.h"
#include "core/ops/rules.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

struct ScatterNumbers {
  Dims window, inserted, map;
  int64_t vector_axis = 0;

  operator Attributes() const {  // NOLINT: reads like the op's text
    return {{"update_window_dims", window},
            {"inserted_window_dims", inserted},
            {"scatter_dims_to_operand_dims", map},
            {"index_vector_dim", vector_axis}};
  }
};

ScatterNumbers Elements() { return {{}, {0}, {0}, 1}; }
ScatterNumbers Rows() { return {{1}, {0}, {0}, 1}; }

// (old, update) -> update.
Values TakeUpdate(ComputationBuilder&, absl::Span<const ValueId> v) {
  return {v[1]};
}

Literal Scatter(const BodyFn& body, const Literal& input,
                const Literal& indices, const Literal& updates,
                const ScatterNumbers& numbers, int threads = 1) {
  const Shape s = Shape::Scalar(input.shape().dtype());
  return EvaluateOp(kScatter, {input, indices, updates}, numbers,
                    {{{s, s}, body}}, {.pool = Threads(threads)});
}
Literal Scatter(const OpDef& op, const Literal& input, const Literal& indices,
                const Literal& updates, const ScatterNumbers& numbers,
                int threads = 1) {
  return Scatter(OneOp(op), input, indices, updates, numbers, threads);
}

// 3 * old + update: the order of updates shows.
Values Triple(ComputationBuilder& b, absl::Span<const ValueId> v) {
  const ValueId three = b.Constant(Literal::Scalar<uint32_t>(3));
  return {b.Add(kAdd, {b.Add(kMultiply, {v[0], three}), v[1]})};
}

// The same through a body the lanes cannot run: it has a `case`.
Literal TripleByCalls(const Literal& input, const Literal& indices,
                      const Literal& updates, const ScatterNumbers& numbers) {
  const Shape s = Shape::Scalar(DType::kU32);
  Module module("test");
  const int branch = AddComputation(module, "branch", {s, s}, Triple);
  const int body = AddComputation(
      module, "body", {s, s},
      [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
        const ValueId zero = b.Constant(Literal::Scalar<int32_t>(0));
        return Values{b.Add(kCase, {zero, v[0], v[1]}, {}, {branch})};
      });
  AddComputation(module, "main",
                 {input.shape(), indices.shape(), updates.shape()},
                 [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                   return Values{b.Add(kScatter, v, numbers, {body})};
                 });
  auto results = Evaluate(module, {input, indices, updates});
  EXPECT_OK(results);
  return results.ok() ? (*results)[0] : Literal();
}

Dims PlaceOf(int64_t i, const Shape& shape) {
  Dims at(shape.rank());
  for (int axis = shape.rank(); axis-- > 0;) {
    at[axis] = i % shape.dim(axis);
    i /= shape.dim(axis);
  }
  return at;
}

// Where StableHLO's scatter puts update `i`; nothing outside.
std::optional<int64_t> TargetOf(int64_t i, const Shape& input,
                                const Literal& indices, const Shape& updates,
                                const ScatterNumbers& n) {
  Dims batch, window;
  const Dims at = PlaceOf(i, updates);
  for (int axis = 0; axis < updates.rank(); ++axis) {
    (Contains(n.window, axis) ? window : batch).push_back(at[axis]);
  }
  Dims place(input.rank(), 0);
  for (size_t k = 0; k < n.map.size(); ++k) {
    Dims where = batch;
    if (n.vector_axis < indices.shape().rank()) {
      where.insert(where.begin() + n.vector_axis, k);
    }
    int64_t position = 0;
    for (int axis = 0; axis < indices.shape().rank(); ++axis) {
      position = position * indices.shape().dim(axis) + where[axis];
    }
    place[n.map[k]] = indices.data<int64_t>()[position];
  }
  int64_t to = 0;
  for (int axis = 0, next = 0; axis < input.rank(); ++axis) {
    if (place[axis] > input.dim(axis)) return {};  // nor would the sum fit
    if (!Contains(n.inserted, axis)) place[axis] += window[next++];
    if (place[axis] < 0 || place[axis] >= input.dim(axis)) return {};
    to = to * input.dim(axis) + place[axis];
  }
  return to;
}

// The definition, one update after another.
template <typename T>
Literal Define(const Literal& input, const Literal& indices,
               const Literal& updates, const ScatterNumbers& n,
               const std::function<T(T, T)>& fn) {
  Literal out = Literal::Uninitialized(input.shape());
  std::memcpy(out.mutable_bytes().data(), input.bytes().data(),
              input.bytes().size());
  for (int64_t i = 0; i < updates.shape().num_elements(); ++i) {
    const auto to = TargetOf(i, input.shape(), indices, updates.shape(), n);
    if (!to.has_value()) continue;
    T& element = out.mutable_data<T>()[*to];
    element = fn(element, updates.data<T>()[i]);
  }
  return out;
}

struct Instance {
  Literal input, indices, updates;
  ScatterNumbers numbers;
};

Literal RandomScatterIndices(const Dims& dims, Random& random) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kS64, dims));
  for (int64_t& i : out.mutable_data<int64_t>()) {
    i = random.OneIn(20) ? (random.OneIn(2) ? INT64_MAX : INT64_MIN)
                         : random.Between(-2, 5);
  }
  return out;
}

// Any scatter: random windows, inserted axes, maps and places of the window
// axes among the updates'.
Instance RandomInstance(Random& random) {
  Instance r;
  Dims dims, sizes;
  for (int64_t i = random.Between(1, 4); i > 0; --i) {
    dims.push_back(random.Between(random.OneIn(8) ? 0 : 1, 5));
  }
  const int rank = static_cast<int>(dims.size());
  ScatterNumbers& n = r.numbers;
  for (int i = 0; i < rank; ++i) {
    if (random.OneIn(3)) {
      n.inserted.push_back(i);
    } else {
      sizes.push_back(random.OneIn(2) ? dims[i] : random.Between(0, dims[i]));
    }
    if (random.OneIn(2)) n.map.insert(n.map.begin(), i);
  }
  Dims batch = {random.Between(0, 3), random.Between(1, 3)};
  Dims index_dims = batch;
  n.vector_axis = random.Below(3);
  if (n.map.size() == 1 && random.OneIn(2)) {
    n.vector_axis = 2;  // scalar indices
  } else {
    index_dims.insert(index_dims.begin() + n.vector_axis, n.map.size());
  }
  Dims update_dims;
  for (size_t w = 0, b = 0; w + b < sizes.size() + batch.size();) {
    const int64_t left = sizes.size() - w;
    if (random.Below(left + batch.size() - b) < left) {
      n.window.push_back(w + b);
      update_dims.push_back(sizes[w++]);
    } else {
      update_dims.push_back(batch[b++]);
    }
  }
  r.input = RandomLiteral(Shape::Of(DType::kU32, dims), random);
  r.updates = RandomLiteral(Shape::Of(DType::kU32, update_dims), random);
  r.indices = RandomScatterIndices(index_dims, random);
  return r;
}

TEST(ScatterTest, AgainstTheDefinition) {
  Random random(23);
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE(round);
    const auto [input, indices, updates, n] = RandomInstance(random);
    const Literal triple = Define<uint32_t>(
        input, indices, updates, n,
        [](uint32_t a, uint32_t b) { return 3 * a + b; });
    ASSERT_THAT(Scatter(Triple, input, indices, updates, n),
                LiteralEquals(triple));
    ASSERT_THAT(TripleByCalls(input, indices, updates, n),
                LiteralEquals(triple));
    // One op in place; its order shows as well.
    const Literal rest = Define<uint32_t>(
        input, indices, updates, n,
        [](uint32_t a, uint32_t b) { return b == 0 ? a : a % b; });
    ASSERT_THAT(Scatter(kRemainder, input, indices, updates, n),
                LiteralEquals(rest));
    const Literal last =
        Define<uint32_t>(input, indices, updates, n,
                         [](uint32_t, uint32_t b) { return b; });
    ASSERT_THAT(Scatter(TakeUpdate, input, indices, updates, n),
                LiteralEquals(last));
  }
}

TEST(ScatterTest, EveryDTypeIsWrittenAndCombined) {
  Random random(3);
  const Literal indices = Literal::Vector<int32_t>({2, 0, 2, 9, -1});
  for (DType dtype : AllDTypes()) {
    SCOPED_TRACE(DTypeName(dtype));
    const Literal input = RandomLiteral(Shape::Of(dtype, {4}), random);
    const Literal updates = RandomLiteral(Shape::Of(dtype, {5}), random);
    const Literal put =
        Scatter(TakeUpdate, input, indices, updates, Elements());
    const auto same = [&](int at, const Literal& from, int of) {
      const int64_t width = ByteWidth(dtype);
      return std::memcmp(put.bytes().data() + at * width,
                         from.bytes().data() + of * width, width) == 0;
    };
    EXPECT_TRUE(same(0, updates, 1) && same(1, input, 1) &&
                same(2, updates, 2) && same(3, input, 3));
    const OpDef& op = IsBool(dtype) ? kXor : kAdd;
    const Literal ones =
        Cast(Literal::Vector<int8_t>({1, 1, 1, 1, 1}), dtype);
    const Literal zeros = Cast(Literal::Vector<int8_t>({0, 0, 0, 0}), dtype);
    const Literal want = Cast(
        Literal::Vector<int8_t>({1, 0, IsBool(dtype) ? int8_t{0} : int8_t{2},
                                 0}), dtype);
    EXPECT_THAT(Scatter(op, zeros, indices, ones, Elements()),
                LiteralEquals(want));
  }
}

TEST(ScatterTest, EveryIndexDType) {
  const Literal input = Literal::Vector<float>({1, 2, 3});
  const Literal updates = Literal::Vector<float>({10, 20, 30});
  for (DType dtype : AllDTypes()) {
    if (!IsInteger(dtype)) continue;
    const Literal indices =
        Cast(Literal::Vector<int32_t>({2, 0, 100}), dtype);
    EXPECT_THAT(Scatter(kAdd, input, indices, updates, Elements()),
                LiteralEquals(Literal::Vector<float>({21, 2, 13})))
        << DTypeName(dtype);
  }
  const Literal beyond = Literal::Vector<uint64_t>(
      {UINT64_MAX, uint64_t{1} << 63, uint64_t{1} << 32});
  EXPECT_THAT(Scatter(kAdd, input, beyond, updates, Elements()),
              LiteralEquals(input));
  const Literal below = Literal::Vector<int8_t>({-1, -128, 127});
  EXPECT_THAT(Scatter(kAdd, input, below, updates, Elements()),
              LiteralEquals(input));
}

TEST(ScatterTest, WindowsHalfOutsideLoseThatHalf) {
  const Literal input = Full(0.0f, {5});
  const Literal updates = Literal::Of<float>({1, 2, 3, 4, 5, 6, 7, 8, 9},
                                             {3, 3});
  EXPECT_THAT(Scatter(TakeUpdate, input,
                      Literal::Of<int64_t>({-2, 3, INT64_MAX}, {3, 1}),
                      updates, {{1}, {}, {0}, 1}),
              LiteralEquals(Literal::Vector<float>({3, 0, 0, 4, 5})));
}

// Every monoid of every dtype, many elements and rows at a time, gives what its
// body gives over lanes, which it runs on where it has a second step.
TEST(ScatterTest, LongRunsOfKnownOps) {
  Random random(11);
  Literal indices = Literal::Uninitialized(Shape::Of(DType::kS32, {1500, 2}));
  for (int32_t& i : indices.mutable_data<int32_t>()) {
    i = static_cast<int32_t>(random.Between(-1, 7));
  }
  for (const OpDef* op : AllOps()) {
    if (!op->monoid) continue;
    const BodyFn two_steps = [&](ComputationBuilder& b,
                                 absl::Span<const ValueId> v) {
      b.Add(kCompare, {v[0], v[1]}, {{"direction", std::string("EQ")}});
      return Values{b.Add(*op, v)};
    };
    for (const DType dtype : AllDTypes()) {
      if (!op->dtypes.Has(dtype)) continue;
      for (const int64_t size : {0, 1, 5}) {
        const Dims row = size == 0 ? Dims{} : Dims{size};
        Dims dims = {6, 7}, batch = {1500};
        dims.insert(dims.end(), row.begin(), row.end());
        batch.insert(batch.end(), row.begin(), row.end());
        const Literal input = RandomLiteral(Shape::Of(dtype, dims), random);
        const Literal updates = RandomLiteral(Shape::Of(dtype, batch), random);
        const ScatterNumbers numbers{
            size == 0 ? Dims{} : Dims{1}, {0, 1}, {1, 0}, 1};
        // NaN parts of products of complex numbers have any sign.
        EXPECT_OK(CompareLiterals(
            Scatter(*op, input, indices, updates, numbers),
            Scatter(two_steps, input, indices, updates, numbers),
            {.bits = !IsComplex(dtype)}))
            << op->name << " of " << DTypeName(dtype) << ", rows of " << size;
      }
    }
  }
}

// Into a value that nothing else holds: where it is.
TEST(ScatterTest, InPlace) {
  Literal indices = Literal::Uninitialized(Shape::Of(DType::kU8, {5000}));
  Literal want = Full<int32_t>(-3, {256});
  Random random(5);
  for (uint8_t& i : indices.mutable_data<uint8_t>()) {
    i = static_cast<uint8_t>(random.Below(256));
    ++want.mutable_data<int32_t>()[i];
  }
  const Literal table = Full<int32_t>(3, {256}),
                ones = Full<int32_t>(1, {5000});
  const Shape s = Shape::Scalar(DType::kS32);
  Module module("test");
  const int body = AddComputation(module, "body", {s, s}, OneOp(kAdd));
  AddComputation(
      module, "main", {table.shape(), indices.shape(), ones.shape()},
      [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
        const ValueId own = b.Add(kNegate, {v[0]});
        return Values{b.Add(kScatter, {own, v[1], v[2]}, Elements(), {body})};
      });
  const auto got = Evaluate(module, {table, indices, ones});
  ASSERT_OK(got);
  EXPECT_THAT((*got)[0], LiteralEquals(want));
}

// Of s32, one update after the other.
Literal ByOne(const OpDef& op, const Literal& input, const Literal& indices,
              const Literal& updates) {
  Literal result = Literal::Uninitialized(input.shape());
  auto to = result.mutable_data<int32_t>();
  absl::c_copy(input.data<int32_t>(), to.begin());
  for (int64_t k = 0; k < updates.shape().num_elements(); ++k) {
    const int32_t place = indices.data<int32_t>()[k];
    if (place < 0 || place >= input.shape().num_elements()) continue;
    const int32_t x = updates.data<int32_t>()[k];
    const auto y = static_cast<uint32_t>(to[place]);
    const std::pair<const OpDef*, int64_t> becomes[] = {
        {&kAdd, y + static_cast<uint32_t>(x)},
        {&kMultiply, y * static_cast<uint32_t>(x)},
        {&kMaximum, std::max(to[place], x)},
        {&kMinimum, std::min(to[place], x)},
        {&kXor, y ^ static_cast<uint32_t>(x)}};
    for (const auto& [of, value] : becomes) {
      if (of == &op) to[place] = static_cast<int32_t>(value);
    }
  }
  return result;
}

// Threads count by themselves, each in tables of its own, what they put together
// then.
TEST(ScatterTest, CountsByThreads) {
  Random random(8);
  Literal indices = Literal::Uninitialized(Shape::Of(DType::kS32, {500, 700}));
  for (int32_t& i : indices.mutable_data<int32_t>()) {
    i = static_cast<int32_t>(random.Between(-1, 40));
  }
  for (const OpDef* op : {&kAdd, &kMultiply, &kMaximum, &kMinimum, &kXor}) {
    for (const DType dtype : {DType::kS32, DType::kU8}) {
      const Literal input = RandomLiteral(Shape::Of(dtype, {40}), random);
      const Literal updates =
          RandomLiteral(Shape::Of(dtype, {500, 700}), random);
      const ScatterNumbers numbers{{}, {0}, {0}, 2};
      EXPECT_THAT(
          Scatter(*op, input, indices, updates, numbers, 3),
          LiteralEquals(Scatter(*op, input, indices, updates, numbers, 1)))
          << op->name << " of " << DTypeName(dtype);
      if (dtype != DType::kS32) continue;
      EXPECT_THAT(Scatter(*op, input, indices, updates, numbers, 1),
                  LiteralEquals(ByOne(*op, input, indices, updates)))
          << op->name;
    }
  }
}

// f16 rounds once: 2048 + 1 + 1 is 2050.
TEST(ScatterTest, HalvesRoundOnce) {
  const Literal input = Cast(Literal::Vector<float>({2048}), DType::kF16);
  const Literal ones = Cast(Full(1.0f, {2}), DType::kF16);
  const Literal zeros = Literal::Vector<int32_t>({0, 0});
  EXPECT_THAT(Scatter(kAdd, input, zeros, ones, Elements()),
              LiteralEquals(Cast(Literal::Vector<float>({2050}), DType::kF16)));
}

// Sums of f32 ones alone stick at 2^24.
TEST(ScatterTest, CountsBeyondWhatF32CountsByOnes) {
  constexpr int64_t kCount = 20'000'000;
  const Literal input = Literal::Vector<float>({1, 2, 4});
  const Literal ones = Full(1.0f, {kCount});
  Literal places = Literal::Uninitialized(Shape::Of(DType::kS32, {kCount}));
  for (int64_t i = 0; i < kCount; ++i) {
    places.mutable_data<int32_t>()[i] = i % 1000 == 0 ? 2 : 0;
  }
  const Literal want = Literal::Vector<float>({19'980'000, 2, 20'004});
  for (const int threads : {1, 3}) {
    EXPECT_THAT(Scatter(kAdd, input, places, ones, Elements(), threads),
                LiteralEquals(Cast(want, DType::kF32)));
  }
}

// The largest value and where it came from.
TEST(ScatterTest, SeveralInputsGoTogether) {
  const BodyFn larger = [](ComputationBuilder& b,
                           absl::Span<const ValueId> v) {
    const ValueId more =
        b.Add(kCompare, {v[2], v[0]}, {{"direction", std::string("GT")}});
    return Values{b.Add(kSelect, {more, v[2], v[0]}),
                  b.Add(kSelect, {more, v[3], v[1]})};
  };
  const Shape f = Shape::Scalar(DType::kF32), s = Shape::Scalar(DType::kS8);
  const auto got = EvaluateAll(
      kScatter,
      {Full(0.0f, {3}), Full<int8_t>(-1, {3}),
       Literal::Vector<int32_t>({1, 2, 1, 5, 1}),
       Literal::Vector<float>({5, -1, 7, 9, 7}),
       Literal::Vector<int8_t>({0, 1, 2, 3, 4})},
      Elements(), {{{f, s, f, s}, larger}});
  ASSERT_EQ(got.size(), 2u);
  EXPECT_THAT(got[0], LiteralEquals(Literal::Vector<float>({0, 7, 0})));
  EXPECT_THAT(got[1], LiteralEquals(Literal::Vector<int8_t>({-1, 2, -1})));
}

// A caller's values are not written over, and one value may be all operands.
TEST(ScatterTest, LeavesItsOperandsAlone) {
  const Literal x = Literal::Vector<int32_t>({1, 2, 0});
  const Literal before = Literal::Vector<int32_t>({1, 2, 0});
  EXPECT_THAT(Scatter(kAdd, x, x, x, Elements()),
              LiteralEquals(Literal::Vector<int32_t>({1, 3, 2})));
  EXPECT_THAT(x, LiteralEquals(before));
}

// The order of what meets does not depend on threads: these sums round.
TEST(ScatterTest, ThreadsDoNotChangeBits) {
  Random random(6);
  const Literal table =
      RandomLiteral(Shape::Of(DType::kF32, {50, 33}), random, false);
  Literal indices = Literal::Uninitialized(Shape::Of(DType::kS32, {20000}));
  for (int32_t& i : indices.mutable_data<int32_t>()) {
    i = static_cast<int32_t>(random.Between(-1, 50));
  }
  Literal updates =
      Literal::Uninitialized(Shape::Of(DType::kF32, {20000, 33}));
  for (float& x : updates.mutable_data<float>()) {
    x = std::sqrt(static_cast<float>(random.Below(1000)));
  }
  const Literal one = Scatter(kAdd, table, indices, updates, Rows());
  EXPECT_THAT(Scatter(kAdd, table, indices, updates, Rows(), 4),
              LiteralBitEquals(one));
  const Literal want = Define<float>(
      table,
      Cast(indices, DType::kS64), updates, Rows(),
      [](float a, float b) { return a + b; });
  EXPECT_THAT(one, LiteralBitEquals(want));
}

// Each thread has one row of each window: those of the others stand before it
// in the updates.
TEST(ScatterTest, ThreadsTakeRowsOfWindows) {
  Random random(7);
  const Literal table =
      RandomLiteral(Shape::Of(DType::kF32, {4, 50, 33}), random, false);
  Literal indices = Literal::Uninitialized(Shape::Of(DType::kS32, {2000}));
  for (int32_t& i : indices.mutable_data<int32_t>()) {
    i = static_cast<int32_t>(random.Between(-1, 50));
  }
  const Literal updates =
      RandomLiteral(Shape::Of(DType::kF32, {2000, 4, 33}), random, false);
  const ScatterNumbers numbers{{1, 2}, {1}, {1}, 1};
  EXPECT_THAT(
      Scatter(kAdd, table, indices, updates, numbers, 4),
      LiteralBitEquals(Scatter(kAdd, table, indices, updates, numbers)));
}

TEST(ScatterTest, Empty) {
  const Literal table = Literal::Of<float>({1, 2}, {2, 1});
  const Literal none = Literal::Uninitialized(Shape::Of(DType::kS32, {0}));
  EXPECT_THAT(
      Scatter(kAdd, table, none,
              Literal::Uninitialized(Shape::Of(DType::kF32, {0, 1})), Rows()),
      LiteralEquals(table));
  // No row to write to.
  const Literal empty = Literal::Uninitialized(Shape::Of(DType::kF32, {0, 1}));
  EXPECT_EQ(Scatter(kAdd, empty, Literal::Vector<int32_t>({0, 1}), table,
                    Rows())
                .shape(),
            empty.shape());
  // An index vector without components: the one place there is.
  EXPECT_THAT(
      Scatter(kAdd, Literal::Scalar(1.0f),
              Literal::Uninitialized(Shape::Of(DType::kS32, {2, 0})),
              Literal::Vector<float>({2, 3}), {{}, {}, {}, 1}),
      LiteralEquals(Literal::Scalar(6.0f)));
}

}  // namespace
}  // namespace hawser::cpu
