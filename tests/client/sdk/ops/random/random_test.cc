// Random numbers: the same on each run, of their distributions, and errors. What
// Nx answers is in tests/vectors/nx_random.txtpb.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

constexpr int64_t kMany = 20000;

// As doubles, in order.
std::vector<double> Drawn(const Tensor& x) {
  const auto value = Convert(x, DType::kF64).Fetch();
  EXPECT_OK(value);
  if (!value.ok()) return {};
  const auto data = value->data<double>();
  return {data.begin(), data.end()};
}

double MeanOf(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / x.size();
}
double DeviationOf(const std::vector<double>& x) {
  const double mean = MeanOf(x);
  double sum = 0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / x.size());
}

// The largest difference between the share of numbers up to x and `below(x)`.
// Of n numbers that are so distributed it is above 1.95 / sqrt(n) once in a
// thousand tries; these are always the same.
template <typename Below>
double Distance(std::vector<double> x, const Below& below) {
  std::sort(x.begin(), x.end());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = below(x[i]), n = x.size();
    most = std::max({most, std::abs(expected - i / n),
                     std::abs(expected - (i + 1) / n)});
  }
  return most;
}
const double kFar = 1.95 / std::sqrt(static_cast<double>(kMany));

double NormalBelow(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(RandomTest, TheSameKeyGivesTheSameNumbers) {
  const Tensor key = RandomKey(7);
  const auto once = RandomNormal(key, {5}).Fetch();
  const auto again = RandomNormal(key, {5}).Fetch();
  const auto other = RandomNormal(RandomKey(8), {5}).Fetch();
  ASSERT_OK(once);
  EXPECT_THAT(*again, LiteralEquals(*once));
  EXPECT_FALSE(CompareLiterals(*other, *once, {}).ok());
}

TEST(RandomTest, AKeyIsAnArgumentOfAFunction) {
  int traced = 0;
  auto draw = Jit([&](Tensor key) {
    ++traced;
    return RandomUniform(key, {3});
  });
  for (int seed = 0; seed < 3; ++seed) {
    ASSERT_OK_AND_ASSIGN(const Tensor inside, draw(RandomKey(seed)));
    ASSERT_OK_AND_ASSIGN(const Literal want,
                         RandomUniform(RandomKey(seed), {3}).Fetch());
    EXPECT_VALUE(inside, want);
  }
  EXPECT_EQ(traced, 1);
}

TEST(RandomTest, UniformIsEvenInItsBounds) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const auto x =
        Drawn(RandomUniform(RandomKey(1), {kMany}, dtype, -2, 3));
    EXPECT_LT(Distance(x, [](double v) { return (v + 2) / 5; }), kFar);
    EXPECT_GE(*std::min_element(x.begin(), x.end()), -2);
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 3);
  }
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    EXPECT_NEAR(MeanOf(Drawn(RandomUniform(RandomKey(1), {kMany}, dtype))),
                0.5, 0.01);
  }
}

TEST(RandomTest, NormalOnesAreNormal) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    EXPECT_LT(Distance(Drawn(RandomNormal(RandomKey(2), {kMany}, dtype)),
                       NormalBelow),
              kFar);
  }
  const auto moved =
      Drawn(RandomNormal(RandomKey(3), {kMany}, DType::kF32, 10, 2));
  EXPECT_NEAR(MeanOf(moved), 10, 0.05);
  EXPECT_NEAR(DeviationOf(moved), 2, 0.05);
}

TEST(RandomTest, TruncatedOnesStayBetweenTheirBounds) {
  const auto x =
      Drawn(RandomTruncatedNormal(RandomKey(4), -0.5, 2, {kMany}));
  EXPECT_GT(*std::min_element(x.begin(), x.end()), -0.5);
  EXPECT_LT(*std::max_element(x.begin(), x.end()), 2);
  const double low = NormalBelow(-0.5), all = NormalBelow(2) - low;
  EXPECT_LT(Distance(x, [&](double v) { return (NormalBelow(v) - low) / all; }),
            kFar);
}

TEST(RandomTest, ExponentialAndGumbelAreThat) {
  EXPECT_LT(Distance(Drawn(RandomExponential(RandomKey(5), {kMany})),
                     [](double v) { return -std::expm1(-v); }),
            kFar);
  EXPECT_LT(Distance(Drawn(RandomGumbel(RandomKey(6), {kMany})),
                     [](double v) { return std::exp(-std::exp(-v)); }),
            kFar);
}

// Of shape a the mean is a and the deviation its root; of 1 it is exponential.
TEST(RandomTest, GammaIsThatOfItsShape) {
  for (const double a : {0.3, 1.0, 2.5, 40.0}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const auto x = Drawn(RandomGamma(RandomKey(7), a, {kMany}, dtype));
      EXPECT_NEAR(MeanOf(x), a, 4 * std::sqrt(a / kMany)) << a;
      EXPECT_NEAR(DeviationOf(x), std::sqrt(a), 0.05 * std::sqrt(a)) << a;
      EXPECT_GT(*std::min_element(x.begin(), x.end()), 0) << a;
      if (a != 1) continue;
      EXPECT_LT(Distance(x, [](double v) { return -std::expm1(-v); }), kFar);
    }
  }
  const auto odd = RandomGamma(RandomKey(7), T1<float>({-1, 0, kNan, 1}), {4})
                       .Fetch();
  ASSERT_OK(odd);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(odd->data<float>()[i]));
  EXPECT_TRUE(std::isfinite(odd->data<float>()[3]));
}

TEST(RandomTest, IntegersCoverTheirSpan) {
  for (const DType dtype :
       {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kS8,
        DType::kS16, DType::kS32, DType::kS64}) {
    const auto x = Drawn(RandomInt(RandomKey(8), {1000}, 3, 10, dtype));
    EXPECT_EQ(std::set<double>(x.begin(), x.end()),
              (std::set<double>{3, 4, 5, 6, 7, 8, 9}))
        << DTypeName(dtype);
  }
  const auto bytes =
      Drawn(RandomInt(RandomKey(8), {kMany}, -128, 128, DType::kS8));
  EXPECT_EQ(std::set<double>(bytes.begin(), bytes.end()).size(), 256u);
  EXPECT_VALUE(RandomInt(RandomKey(8), {2}, 5, 5),
               Literal::Vector<int32_t>({5, 5}));
}

TEST(RandomTest, BernoulliAndCategoricalFollowTheirWeights) {
  EXPECT_NEAR(MeanOf(Drawn(RandomBernoulli(RandomKey(9), 0.3, {kMany}))), 0.3,
              0.02);
  EXPECT_VALUE(RandomBernoulli(RandomKey(9), T1<float>({0, 1}), {2}),
               Literal::Vector<bool>({false, true}));
  const Tensor logits = BroadcastTo(Log(T1<float>({1, 2, 7})), {kMany, 3});
  const auto classes = Drawn(RandomCategorical(RandomKey(10), logits));
  const double n = kMany;
  EXPECT_NEAR(std::count(classes.begin(), classes.end(), 0) / n, 0.1, 0.01);
  EXPECT_NEAR(std::count(classes.begin(), classes.end(), 2) / n, 0.7, 0.02);
}

TEST(RandomTest, AnOrderHasEveryEntryOnce) {
  for (const int64_t count : {0, 1, 2, 1000}) {
    auto order = Drawn(RandomPermutation(RandomKey(11), count));
    EXPECT_TRUE(count < 3 || !std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(order[i], i);
  }
  // Each row in an order of its own.
  const Tensor rows = Iota(DType::kS32, {50, 6}, 1);
  const auto x = RandomShuffle(RandomKey(12), rows, 1, true).Fetch();
  ASSERT_OK(x);
  std::set<std::vector<int32_t>> orders;
  for (int64_t r = 0; r < 50; ++r) {
    const auto row = x->data<int32_t>().subspan(6 * r, 6);
    orders.insert({row.begin(), row.end()});
    EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0), 15);
  }
  EXPECT_GT(orders.size(), 30u);
}

TEST(RandomTest, ChoicesFollowTheirWeights) {
  const Tensor x = T1<int32_t>({10, 20, 30});
  ChoiceOptions options{.weights = T1<float>({0, 1, 3})};
  const auto chosen = Drawn(RandomChoice(RandomKey(13), x, kMany, options));
  const double n = kMany;
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), 10), 0);
  EXPECT_NEAR(std::count(chosen.begin(), chosen.end(), 20) / n, 0.25, 0.02);
  options.replace = false;
  auto all = Drawn(RandomChoice(RandomKey(14), x, 3, options));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<double>{10, 20, 30}));
}

TEST(RandomTest, AStateMovesOnOutsideOfFunctionsAlone) {
  RandomKeys random(3);
  ASSERT_OK_AND_ASSIGN(const Literal first, random.Next().Fetch());
  ASSERT_OK_AND_ASSIGN(const Literal second, random.Next().Fetch());
  EXPECT_FALSE(CompareLiterals(first, second, {}).ok());
  RandomKeys again(3);
  EXPECT_VALUE(again.Next(), first);
  auto frozen = Jit([&](Tensor x) { return x + RandomUniform(random.Next(), {}); });
  EXPECT_THAT(frozen(Scalar(1.0f)),
              StatusIs(StatusCode::kFailedPrecondition,
                       "RandomKeys::Next: inside a traced function"));
}

TEST(RandomTest, NoneOfNothing) {
  const Tensor key = RandomKey(1);
  EXPECT_VALUE(RandomUniform(key, {0}), Literal::Zeros(Shape::Of(DType::kF32, {0})));
  EXPECT_VALUE(RandomInt(key, {2, 0}, 0, 9),
               Literal::Zeros(Shape::Of(DType::kS32, {2, 0})));
}

TEST(RandomTest, ThreefryOfCountersIsWhatBitsAreMadeOf) {
  const Tensor key = RandomKey(11);
  for (const int64_t count : {1, 2, 7, 10}) {
    const auto bits = RandomBits(key, {count}).Fetch();
    ASSERT_OK(bits);
    EXPECT_VALUE(Threefry2x32(key, Iota(DType::kU32, {count})), *bits);
  }
  EXPECT_VALUE(Threefry2x32(key, Zeros(DType::kU32, {0, 2})),
               Literal::Vector<uint32_t>({}));
}

struct Refusal {
  Tensor made;
  const char* error;
};
TEST(RandomTest, WhatIsWrongIsSaid) {
  const Tensor key = RandomKey(1), x = T1<float>({1, 2});
  const Refusal kRefusals[] = {
      {RandomUniform(T1<uint32_t>({1, 2, 3}), {2}),
       "RandomUniform: the key is u32[3], must be u32[2]"},
      {RandomKey(1.5), "RandomKey: takes integers, not f32"},
      {RandomSplit(key, 0), "RandomSplit: a key has no 0 parts"},
      {RandomBits(key, {2}, DType::kS32),
       "RandomBits: makes unsigned integers of 8 to 64 bits, not s32"},
      {RandomBits(key, {int64_t{1} << 32}), "2^32 - 1"},
      {Threefry2x32(key, x),
       "Threefry2x32: the counters are f32[2], must be u32"},
      {RandomUniform(key, {2}, DType::kS32),
       "RandomUniform: makes f16, bf16, f32 and f64, not s32"},
      {RandomNormal(key, {3}, DType::kF32, x), "broadcast"},
      {RandomGamma(key, 1, {2}, DType::kF16),
       "RandomGamma: makes f32 and f64, not f16"},
      {RandomInt(key, {2}, 0, 9.5),
       "RandomInt: the bounds must be integers"},
      {RandomChoice(key, x, 3, {.replace = false}),
       "RandomChoice: 3 samples of 2 entries, each once"},
      {RandomChoice(key, x, 3, {.weights = T1<float>({1, 2, 3})}),
       "RandomChoice: weights are f32[3], must be 2 floats"},
      {RandomPermutation(key, -1), "RandomPermutation: there are no -1"},
      {RandomCategorical(key, x, 1), "RandomCategorical: axis 1"},
  };
  for (const Refusal& row : kRefusals) {
    EXPECT_THAT(row.made.status(),
                StatusIs(StatusCode::kInvalidArgument, row.error));
  }
}

TEST(RandomTest, NumbersAreConstantsForGradients) {
  const auto scaled = [](Tensor deviation) {
    return Sum(RandomNormal(RandomKey(1), {4}, DType::kF32, 0, deviation));
  };
  ASSERT_OK_AND_ASSIGN(const Literal want,
                       Sum(RandomNormal(RandomKey(1), {4})).Fetch());
  EXPECT_NEAR_VALUE(Grad(scaled)(Scalar(2.0f)), 1e-6, want);
}

}  // namespace
}  // namespace hawser
