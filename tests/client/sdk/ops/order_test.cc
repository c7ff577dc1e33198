// sort.h and scan.h: what Nx has no answers for; its own are in tests/vectors.
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

Literal S(std::initializer_list<int32_t> values) {
  return Literal::Vector<int32_t>(values);
}

TEST(SortBy, MovesAllTensorsAlike) {
  const Tensor key = T1<int32_t>({3, -1, 2, -1});
  const Tensor value = T1<float>({0, 1, 2, 3});
  const auto less = [](const std::vector<Tensor>& left,
                       const std::vector<Tensor>& right) {
    return Abs(left[0]) < Abs(right[0]);
  };
  const auto up = SortBy({key, value}, less);
  ASSERT_EQ(up.size(), 2u);
  EXPECT_VALUE(up[0], S({-1, -1, 2, 3}));
  EXPECT_VALUE(up[1], F({1, 3, 2, 0}));
  const auto down = SortBy({key, value}, less, {.descending = true});
  EXPECT_VALUE(down[0], S({3, 2, -1, -1}));
  EXPECT_VALUE(down[1], F({0, 2, 1, 3}));
}

TEST(SortBy, TakesComplexNumbersByASecondKeyAlongAnyAxis) {
  const Tensor x = TN<float>({2, 1, 1, 2, 0, 0}, {2, 3});
  const Tensor z = Complex(x, TN<float>({5, 1, 0, 3, 3, 9}, {2, 3}));
  const auto sorted = SortBy(
      {z},
      [](const std::vector<Tensor>& left, const std::vector<Tensor>& right) {
        const Tensor same = Eq(Real(left[0]), Real(right[0]));
        return Select(same, Imag(left[0]) < Imag(right[0]),
                      Real(left[0]) < Real(right[0]));
      },
      {.axis = -1});
  EXPECT_VALUE(Real(sorted[0]), Literal::Of<float>({1, 1, 2, 0, 0, 2}, {2, 3}));
  EXPECT_VALUE(Imag(sorted[0]), Literal::Of<float>({0, 1, 5, 3, 9, 3}, {2, 3}));
}

TEST(SortBy, RefusesWhatIsNoComparison) {
  const Tensor x = T1<float>({1, 2});
  const auto first = [](const std::vector<Tensor>& left,
                        const std::vector<Tensor>&) { return left[0]; };
  EXPECT_THAT(SortBy({x}, first)[0].status(),
              StatusIs(StatusCode::kInvalidArgument, "SortBy: "));
  const auto less = [](const std::vector<Tensor>& left,
                       const std::vector<Tensor>& right) {
    return left[0] < right[0];
  };
  for (const Tensor& result : SortBy({x, T1<float>({1, 2, 3})}, less)) {
    EXPECT_THAT(result.status(),
                StatusIs(StatusCode::kInvalidArgument, "SortBy: "));
  }
  EXPECT_THAT(SortBy({x}, less, {.axis = 1})[0].status(),
              StatusIs(StatusCode::kInvalidArgument, "SortBy: axis 1"));
  EXPECT_TRUE(SortBy({}, less).empty());
}

TEST(SortTest, NanIsTheLargestAndEqualsKeepTheirOrder) {
  const Tensor x = T1<float>({kNan, -0.0f, kInf, 0.0f, -kInf});
  EXPECT_VALUE(ArgSort(x), S({4, 1, 3, 2, 0}));
  EXPECT_VALUE(ArgSort(x, {.descending = true}), S({0, 2, 1, 3, 4}));
  EXPECT_VALUE(TopK(x, 2).first, F({kNan, kInf}));
  EXPECT_VALUE(TopK(x, 0).second, S({}));
  EXPECT_VALUE(Sort(Zeros(DType::kF32, {0})), F({}));
  EXPECT_VALUE(ArgSort(T1<bool>({true, false, true}), {}, DType::kU8),
               Literal::Vector<uint8_t>({1, 0, 2}));
}

// Of many elements groups are looked at first.
TEST(TopKTest, OfManyElementsIsTheBeginningOfAll) {
  const int64_t n = 40000 + 3;
  // Each value many times, NaN, -0 and the lowest among them, also at the end.
  const Tensor i = Iota(DType::kS32, {2, n}, 1);
  const Tensor x = Convert(Remainder(i * 7919, 1009), DType::kF32) - 500;
  const Tensor odd =
      Select(Eq(Remainder(i, 997), 5), kNan, Select(Eq(x, 3), -kInf, x));
  for (const Tensor& values :
       {x, odd, Convert(x, DType::kS32), Convert(x > 500, DType::kBool)}) {
    for (const int64_t k : {1, 5, 60}) {
      const auto [largest, places] = TopK(values, k);
      const Tensor order = ArgSort(values, {.axis = 1, .descending = true});
      const auto want = SliceAlongAxis(order, 0, k, 1).Fetch();
      ASSERT_OK(want);
      EXPECT_VALUE(places, *want);
      const auto there = TakeAlongAxis(values, places, 1).Fetch();
      ASSERT_OK(there);
      EXPECT_VALUE(largest, *there);
    }
  }
}

TEST(TopKTest, OfManyEqualElementsTakesTheFirst) {
  EXPECT_VALUE(TopK(Full(DType::kF32, {20001}, -kInf), 3).second, S({0, 1, 2}));
  const Tensor x = Iota(DType::kF32, {20000});
  const auto g = Grad([](const Tensor& x) { return Sum(TopK(x, 2).first); });
  EXPECT_VALUE(Sum(g(x)), Literal::Scalar<float>(2));
  EXPECT_VALUE(SliceAlongAxis(g(x), 19997, 3, 0), F({0, 1, 1}));
}

TEST(SortTest, PositionsMustFitTheirDType) {
  EXPECT_VALUE(ReduceMax(ArgSort(Iota(DType::kS32, {256}), {}, DType::kU8)),
               Literal::Scalar<uint8_t>(255));
  EXPECT_THAT(ArgSort(Iota(DType::kS32, {257}), {}, DType::kU8).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "ArgSort: u8 cannot count the 257 elements"));
  EXPECT_THAT(ArgSort(T1<float>({1}), {}, DType::kF32).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "ArgSort: positions are integers, not f32"));
}

TEST(QuantileTest, LiesBetweenTwoElementsInProportion) {
  const Tensor x = T1<float>({40, 10, 30, 20});
  EXPECT_VALUE(Quantile(x, 0.0), Literal::Scalar<float>(10));
  EXPECT_VALUE(Quantile(x, 0.5), Literal::Scalar<float>(25));
  EXPECT_VALUE(Quantile(x, 1.0), Literal::Scalar<float>(40));
  EXPECT_VALUE(Quantile(x, 2.0), Literal::Scalar<float>(40));
  EXPECT_VALUE(Quantile(T1<int32_t>({1, 2}), 0.25),
               Literal::Scalar<float>(1.25f));
  EXPECT_VALUE(Quantile(TN<float>({1, 5, 3, 4}, {2, 2}), 0.5,
                        {.axis = 0, .keep_axes = true}),
               Literal::Of<float>({2, 4.5f}, {1, 2}));
  EXPECT_THAT(Quantile(Zeros(DType::kF32, {0}), 0.5).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Quantile: there are no elements"));
}

TEST(SearchSortedTest, IsBeforeOrBehindEquals) {
  const Tensor x = T1<float>({1, 2, 2, 5});
  const Tensor values = T1<float>({0, 1, 2, 3, 5, 6, kNan, -kInf});
  EXPECT_VALUE(SearchSorted(x, values), S({0, 0, 1, 3, 3, 4, 4, 0}));
  EXPECT_VALUE(SearchSorted(x, values, /*right=*/true),
               S({0, 1, 3, 3, 4, 4, 4, 0}));
  EXPECT_VALUE(SearchSorted(T1<float>({1, kNan}), T1<float>({kNan}), true),
               S({2}));
  EXPECT_VALUE(SearchSorted(Zeros(DType::kF32, {0}), values),
               S({0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_VALUE(SearchSorted(T1<uint8_t>({3, 7}), 5),
               Literal::Scalar<int32_t>(1));
}

TEST(SearchSortedTest, FindsEveryPlaceOfEverySize) {
  for (int32_t size = 1; size < 20; ++size) {
    // 0, 2, 4, ...: k goes to place (k + 1) / 2.
    const Tensor x = Iota(DType::kS32, {size}) * 2;
    const Tensor values = Iota(DType::kS32, {2 * size + 1});
    EXPECT_VALUE(All(Eq(SearchSorted(x, values), Quotient(values + 1, 2))),
                 Literal::Scalar(true));
  }
}

TEST(UniqueTest, GivesTheDifferentElementsInOrder) {
  const Tensor x = TN<int32_t>({7, 3, 7, 9, 3, 7}, {2, 3});
  const UniqueElements unique = Unique(x, 3);
  EXPECT_VALUE(unique.values, S({3, 7, 9}));
  EXPECT_VALUE(unique.first, S({1, 0, 3}));
  EXPECT_VALUE(unique.counts, S({2, 3, 1}));
  EXPECT_VALUE(unique.inverse,
               Literal::Of<int32_t>({1, 0, 1, 2, 0, 1}, {2, 3}));
  EXPECT_VALUE(unique.count, Literal::Scalar<int32_t>(3));
}

TEST(UniqueTest, RepeatsTheLastWhereThereAreFewer) {
  const UniqueElements unique = Unique(T1<float>({2, 1, 2}), 4);
  EXPECT_VALUE(unique.values, F({1, 2, 2, 2}));
  EXPECT_VALUE(unique.first, S({1, 0, 0, 0}));
  EXPECT_VALUE(unique.counts, S({1, 2, 0, 0}));
  EXPECT_VALUE(unique.count, Literal::Scalar<int32_t>(2));
}

TEST(UniqueTest, LeavesOutTheLargestWhereThereAreMore) {
  const UniqueElements unique = Unique(T1<uint8_t>({5, 255, 1, 5}), 2);
  EXPECT_VALUE(unique.values, Literal::Vector<uint8_t>({1, 5}));
  EXPECT_VALUE(unique.counts, S({1, 2}));
  EXPECT_VALUE(unique.inverse, S({1, 2, 0, 1}));
  EXPECT_VALUE(unique.count, Literal::Scalar<int32_t>(3));
  EXPECT_VALUE(Unique(T1<float>({5}), 0).values, F({}));
}

TEST(UniqueTest, NanEqualsNanAndZeroMinusZero) {
  const UniqueElements unique =
      Unique(T1<float>({kNan, -0.0f, kInf, 0.0f, kNan, -kInf}), 6);
  EXPECT_VALUE(unique.values, F({-kInf, -0.0f, kInf, kNan, kNan, kNan}));
  EXPECT_VALUE(unique.counts, S({1, 2, 1, 2, 0, 0}));
  EXPECT_VALUE(unique.inverse, S({3, 1, 2, 1, 3, 0}));
  EXPECT_VALUE(Unique(T1<bool>({true, true}), 2).counts, S({2, 0}));
  EXPECT_VALUE(Unique(Scalar(4.0f), 1).inverse, Literal::Scalar<int32_t>(0));
}

TEST(UniqueTest, TakesAGradientToTheFirst) {
  const auto grad = Grad([](const Tensor& x) {
    return Sum(Unique(x, 2).values * T1<float>({10, 100}));
  });
  EXPECT_VALUE(grad(T1<float>({4, 2, 4})), F({100, 10, 0}));
}

TEST(UniqueTest, RefusesNoElementsAndNegativeSizes) {
  EXPECT_THAT(
      Unique(Zeros(DType::kF32, {0}), 2).count.status(),
      StatusIs(StatusCode::kInvalidArgument, "Unique: there are no elements"));
  EXPECT_THAT(Unique(T1<float>({1}), -1).values.status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Unique: the size is -1, must be 0 or more"));
}

TEST(CumulativeTest, TakesAFunctionOfOnesOwn) {
  const Tensor x = T1<int32_t>({3, 1, 4, 1, 5});
  const auto larger = [](Tensor a, Tensor b) { return Select(a < b, b, a); };
  EXPECT_VALUE(Cumulative(x, larger), S({3, 3, 4, 4, 5}));
  EXPECT_VALUE(Cumulative(x, larger, {.reverse = true}), S({5, 5, 5, 5, 5}));
  const auto dtype = [](Tensor a, Tensor) { return Convert(a, DType::kF64); };
  EXPECT_THAT(Cumulative(x, dtype).status(),
              StatusIs(StatusCode::kInvalidArgument, "Cumulative: "));
}

TEST(CumulativeTest, RunsSeveralTensorsTogether) {
  // a x + b, composed from the left: a linear recurrence.
  const Tensor a = T1<double>({2, 3, 4}), b = T1<double>({1, 1, 1});
  const auto composed = [](const std::vector<Tensor>& f,
                           const std::vector<Tensor>& g) {
    return std::vector<Tensor>{f[0] * g[0], g[0] * f[1] + g[1]};
  };
  const auto running = Cumulative({a, b}, composed);
  ASSERT_EQ(running.size(), 2u);
  EXPECT_VALUE(running[0], Literal::Vector<double>({2, 6, 24}));
  EXPECT_VALUE(running[1], Literal::Vector<double>({1, 4, 17}));
  for (const Tensor& result : Cumulative({a, T1<double>({1, 2})}, composed)) {
    EXPECT_THAT(result.status(),
                StatusIs(StatusCode::kInvalidArgument, "Cumulative: "));
  }
}

}  // namespace
}  // namespace hawser
