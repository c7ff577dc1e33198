#include "core/ops/formulas/random.h"

#include <array>
#include <utility>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"

namespace hawser::formulas {
namespace {

constexpr uint32_t kParity = 0x1BD11BDA;
constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
constexpr uint32_t kPhiloxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t kPhiloxSteps[2] = {0x9E3779B9, 0xBB67AE85};

Expression Xor(const Expression& x, const Expression& y) {
  return Apply(kXor, {x, y});
}
Expression Left(const Expression& x, int by) {
  return Apply(kShiftLeft, {x, Like(x, by)});
}
Expression Right(const Expression& x, int by) {
  return Apply(kShiftRightLogical, {x, Like(x, by)});
}
Expression Rotated(const Expression& x, int by) {
  return Apply(kOr, {Left(x, by), Right(x, 32 - by)});
}

// 0, 1, ... count - 1, of rank 1.
Expression Counting(ExpressionScope* scope, DType dtype, int64_t count) {
  return Expression(scope, scope->builder.Add(kIota, {},
                                              {{"dims", Dims{count}},
                                               {"dtype", dtype},
                                               {"iota_dimension", int64_t{0}}},
                                              {}, SourceLocation{}));
}

// Entries [begin, end) of axis 0.
Expression Part(const Expression& x, int64_t begin, int64_t end) {
  return SliceAlong(x, 0, begin, end);
}

// A scalar in every element of `dims`.
Expression Everywhere(const Expression& x, const Dims& dims) {
  const Dims none;
  return Apply(kBroadcastInDim, {x},
               {{"broadcast_dimensions", none}, {"dims", dims}});
}

TwoWords KeyWords(const Expression& key, const Dims& dims) {
  const auto word = [&](int64_t i) {
    return Everywhere(Reshaped(Part(key, i, i + 1), {}), dims);
  };
  return {word(0), word(1)};
}

// The first words, then the second ones, `count` in all.
Expression Joined(const TwoWords& words, int64_t count) {
  const Expression all = Apply(kConcatenate, {words.first, words.second},
                               {{"dimension", int64_t{0}}});
  return count % 2 == 0 ? all : Part(all, 0, count);
}

}  // namespace

TwoWords Threefry(const TwoWords& key, const TwoWords& counters) {
  const std::array<Expression, 3> keys = {
      key.first, key.second,
      Xor(Xor(key.first, key.second), Like(key.first, kParity))};
  Expression x = counters.first + keys[0], y = counters.second + keys[1];
  for (int i = 0; i < 5; ++i) {
    for (const int rotation : kRotations[i % 2]) {
      x = x + y;
      y = Xor(Rotated(y, rotation), x);
    }
    x = x + keys[(i + 1) % 3];
    y = y + keys[(i + 2) % 3] + static_cast<double>(i + 1);
  }
  return {x, y};
}

Expression ThreefryWords(const Expression& key, int64_t count) {
  ExpressionScope* const scope = key.scope();
  const int64_t half = (count + 1) / 2;
  const Expression first = Counting(scope, DType::kU32, half);
  Expression second = first + static_cast<double>(half);
  if (count % 2 != 0) {
    // The last pair has no second counter: 0 stands for it.
    const Expression is_there =
        Compare(second, CompareDirection::kLt,
                Like(second, static_cast<double>(count)));
    second = Choose(is_there, second, Like(second, 0));
  }
  return Joined(Threefry(KeyWords(key, Dims{half}), {first, second}), count);
}

Expression ThreefryPairs(const Expression& key, const Expression& counters) {
  const int64_t count = counters.dims()[0], half = (count + 1) / 2;
  Expression second = Part(counters, half, count);
  if (count % 2 != 0) {
    const Expression none = Filled(key.scope(), Shape::Of(DType::kU32, {1}), 0);
    second = Apply(kConcatenate, {second, none}, {{"dimension", int64_t{0}}});
  }
  return Joined(
      Threefry(KeyWords(key, Dims{half}), {Part(counters, 0, half), second}),
      count);
}

Expression ThreefryOf(const Expression& key, const Expression& data) {
  const TwoWords words = Threefry(
      KeyWords(key, data.dims()),
      {ConvertTo(Right(data, 32), DType::kU32), ConvertTo(data, DType::kU32)});
  Dims dims = data.dims();
  dims.push_back(1);
  return Apply(kConcatenate,
               {Reshaped(words.first, dims), Reshaped(words.second, dims)},
               {{"dimension", static_cast<int64_t>(dims.size()) - 1}});
}

TwoWords ThreefryFrom(const TwoWords& key, const Expression& start,
                      int64_t count) {
  const Dims dims = {count};
  const Expression counters =
      Counting(start.scope(), DType::kU64, count) + Everywhere(start, dims);
  return Threefry({Everywhere(key.first, dims), Everywhere(key.second, dims)},
                  {ConvertTo(counters, DType::kU32),
                   ConvertTo(Right(counters, 32), DType::kU32)});
}

Expression PhiloxWords(const TwoWords& key, const Expression& start,
                       const Expression& above, int64_t count) {
  const Dims dims = {count};
  const Expression first = Everywhere(start, dims);
  const Expression counters =
      Counting(start.scope(), DType::kU64, count) + first;
  const Expression carried =
      ConvertTo(Compare(counters, CompareDirection::kLt, first), DType::kU64);
  const Expression high = Everywhere(above, dims) + carried;
  std::array<Expression, 4> x = {ConvertTo(counters, DType::kU32),
                                 ConvertTo(Right(counters, 32), DType::kU32),
                                 ConvertTo(high, DType::kU32),
                                 ConvertTo(Right(high, 32), DType::kU32)};
  Expression k0 = Everywhere(key.first, dims);
  Expression k1 = Everywhere(key.second, dims);
  const auto product = [](const Expression& word, uint32_t by) {
    const Expression wide = ConvertTo(word, DType::kU64);
    return wide * Like(wide, by);
  };
  for (int round = 0; round < 10; ++round) {
    const Expression a = product(x[0], kPhiloxMultipliers[0]);
    const Expression b = product(x[2], kPhiloxMultipliers[1]);
    x = {Xor(Xor(ConvertTo(Right(b, 32), DType::kU32), x[1]), k0),
         ConvertTo(b, DType::kU32),
         Xor(Xor(ConvertTo(Right(a, 32), DType::kU32), x[3]), k1),
         ConvertTo(a, DType::kU32)};
    k0 = k0 + static_cast<double>(kPhiloxSteps[0]);
    k1 = k1 + static_cast<double>(kPhiloxSteps[1]);
  }
  std::array<Expression, 4> rows;
  for (int i = 0; i < 4; ++i) rows[i] = Reshaped(x[i], {1, count});
  return Apply(kConcatenate, rows, {{"dimension", int64_t{0}}});
}

}  // namespace hawser::formulas
