// x[i]
#include <cstdint>

#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

// 0 to 23 as s32[2,3,4].
Tensor Cube() { return Iota(DType::kS32, {2, 3, 4}); }
Literal Ints32(std::initializer_list<int32_t> v, const Dims& dims) {
  return Literal::Of<int32_t>(v, dims);
}

TEST(Subscript, EntriesLoseTheirAxis) {
  const Tensor v = T1<int32_t>({5, 6, 7});
  EXPECT_VALUE(v[0], Literal::Scalar<int32_t>(5));
  EXPECT_VALUE(v[-1], Literal::Scalar<int32_t>(7));
  EXPECT_VALUE(v[uint8_t{1}], Literal::Scalar<int32_t>(6));
  EXPECT_VALUE((Cube()[{1, -1}]), Ints32({20, 21, 22, 23}, {4}));
  EXPECT_VALUE((Cube()[{0, 1, 2}]), Literal::Scalar<int32_t>(6));
  EXPECT_EQ(Cube()[1].shape(), Shape::Of(DType::kS32, {3, 4}));
  EXPECT_VALUE(Cube()[1][2][3], Literal::Scalar<int32_t>(23));
}

TEST(Subscript, RangesKeepTheirAxis) {
  const Tensor v = Iota(DType::kS32, {6});
  EXPECT_VALUE(v[Range(1, 5)], Ints32({1, 2, 3, 4}, {4}));
  EXPECT_VALUE(v[Range(0, -1)], Ints32({0, 1, 2, 3, 4}, {5}));
  EXPECT_VALUE(v[Range(-3)], Ints32({3, 4, 5}, {3}));
  EXPECT_VALUE(v[Range(-3, -1)], Ints32({3, 4}, {2}));
  EXPECT_VALUE(v[Range(0, {}, 2)], Ints32({0, 2, 4}, {3}));
  EXPECT_VALUE(v[Range(1, 6, 4)], Ints32({1, 5}, {2}));
  EXPECT_VALUE(v[Range(2, 2)], Ints32({}, {0}));
  EXPECT_VALUE(v[Range(6)], Ints32({}, {0}));
  EXPECT_VALUE(v[Range()], Ints32({0, 1, 2, 3, 4, 5}, {6}));
  EXPECT_VALUE((Cube()[{Range(), 0, Range(1, 3)}]),
               Ints32({1, 2, 13, 14}, {2, 2}));
}

TEST(Subscript, NewAxesAndTheRest) {
  const Tensor v = T1<int32_t>({5, 6});
  EXPECT_VALUE((v[{NewAxis(), Range()}]), Ints32({5, 6}, {1, 2}));
  EXPECT_VALUE((v[{Range(), NewAxis()}]), Ints32({5, 6}, {2, 1}));
  EXPECT_VALUE((v[{1, NewAxis()}]), Ints32({6}, {1}));
  EXPECT_VALUE(v[NewAxis()], Ints32({5, 6}, {1, 2}));
  EXPECT_VALUE((Cube()[{Rest(), -1, 0}]), Ints32({8, 20}, {2}));
  EXPECT_VALUE((Cube()[{1, Rest(), 0}]), Ints32({12, 16, 20}, {3}));
  EXPECT_EQ((Cube()[{0, Rest(), NewAxis(), 1, 2}].shape()),
            Shape::Of(DType::kS32, {1}));
  EXPECT_EQ(Cube()[{}].shape(), Cube().shape());
  EXPECT_EQ(Cube()[Rest()].shape(), Cube().shape());
}

TEST(Subscript, TensorsTakeEntries) {
  const Tensor v = T1<int32_t>({5, 6, 7});
  EXPECT_VALUE(v[Scalar(1)], Literal::Scalar<int32_t>(6));
  EXPECT_VALUE(v[Constant({-1, 0})], Ints32({7, 5}, {2}));
  EXPECT_VALUE(v[TN<uint8_t>({2, 0}, {1, 2})], Ints32({7, 5}, {1, 2}));
  EXPECT_VALUE((Cube()[{1, Constant({2, 0}), 3}]), Ints32({23, 15}, {2}));
  EXPECT_VALUE((Cube()[{Scalar(1), Range(), Constant({3})}]),
               Ints32({15, 19, 23}, {3, 1}));
  EXPECT_VALUE((Cube()[{Scalar(1), Scalar(0), NewAxis(), Range(2)}]),
               Ints32({14, 15}, {1, 2}));
  // What is known only when it runs is clamped.
  const auto at = Jit([](Tensor x, Tensor i) { return x[i]; });
  EXPECT_VALUE(*at(v, Scalar(9)), Literal::Scalar<int32_t>(7));
  EXPECT_VALUE(*at(v, Scalar(-1)), Literal::Scalar<int32_t>(5));
  EXPECT_VALUE(v[Scalar(2) + Scalar(7)], Literal::Scalar<int32_t>(7));
}

TEST(Subscript, OfNothing) {
  const Tensor none = Zeros(DType::kF32, {0, 3});
  EXPECT_EQ((none[{Range(), 1}].shape()), Shape::Of(DType::kF32, {0}));
  EXPECT_EQ(Scalar(1.f)[{}].shape(), Shape::Scalar(DType::kF32));
  EXPECT_VALUE(Scalar(1.f)[NewAxis()], F({1}));
  EXPECT_THAT(none[0].status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "operator[]: index 0 of axis 0 is outside its size 0"));
}

TEST(Subscript, ErrorsSayWhatAndWhere) {
  const Tensor v = Iota(DType::kS32, {6}), broken = Reshape(v, {7});
  const std::pair<Tensor, const char*> rows[] = {
      {v[6], "index 6 of axis 0 is outside its size 6"},
      {v[-7], "index -7 of axis 0 is outside its size 6"},
      {(v[{0, 0}]), "2 indices for 1 axes; operands s32[6]"},
      {Scalar(1)[0], "1 indices for 0 axes"},
      {v[Range(0, 7)], "range 0 to 7 of axis 0 is not inside its size 6"},
      {v[Range(-7)], "range -7 to 6 of axis 0"},
      {v[Range(4, 2)], "range 4 to 2 of axis 0"},
      {v[Range(0, {}, 0)], "stride 0 of axis 0 is below 1"},
      {v[Range(5, 0, -1)], "stride -1 of axis 0 is below 1; Reverse"},
      {(v[{Rest(), Rest()}]), "Rest stands there twice"},
      {v[v > 2], "a mask selects as many entries"},
      {v[T1<float>({1})], "indices are integers, not f32"},
      {v[Constant({0, 6})], "index 6 of axis 0 is outside its size 6"},
      {(Cube()[{v, v}]), "at most one index may be a tensor"},
      {Tensor()[0], "a Tensor that was never given a value"},
      {v[Tensor()], "a Tensor that was never given a value"},
  };
  for (const auto& [result, text] : rows) {
    EXPECT_THAT(result.status().message(),
                ::testing::HasSubstr(absl::StrCat("operator[]: ", text)));
    EXPECT_THAT(result.status().message(),
                ::testing::HasSubstr("subscript_test.cc:"));
  }
  EXPECT_EQ(broken[0].status(), broken.status());
  EXPECT_EQ(v[broken].status(), broken.status());
}

TEST(Subscript, GradientsGoWhereTheEntriesWere) {
  const Tensor x = Iota(DType::kF32, {2, 3});
  const auto gradient = [&](auto part) {
    return Grad([&](Tensor t) { return Square(part(t)); })(x);
  };
  EXPECT_VALUE(gradient([](Tensor t) { return t[1]; }),
               Literal::Of<float>({0, 0, 0, 6, 8, 10}, {2, 3}));
  EXPECT_VALUE(gradient([](Tensor t) {
                 return t[{-1, -1}];
               }),
               Literal::Of<float>({0, 0, 0, 0, 0, 10}, {2, 3}));
  EXPECT_VALUE(gradient([](Tensor t) {
                 return t[{Range(), Range(0, {}, 2)}];
               }),
               Literal::Of<float>({0, 0, 4, 6, 0, 10}, {2, 3}));
  EXPECT_VALUE(gradient([](Tensor t) {
                 return t[Constant({1, 1})];
               }),
               Literal::Of<float>({0, 0, 0, 12, 16, 20}, {2, 3}));
  EXPECT_VALUE(gradient([](Tensor t) { return t[Range(1, 1)]; }),
               Literal::Of<float>({0, 0, 0, 0, 0, 0}, {2, 3}));
  EXPECT_VALUE(gradient([](Tensor t) {
                 return t[{NewAxis(), Rest(), 0}];
               }),
               Literal::Of<float>({0, 0, 0, 6, 0, 0}, {2, 3}));
}

TEST(Subscript, GradientAgreesWithDifferences) {
  const auto f = [](Tensor t) {
    return Sum(Sin(t[{Range(0, -1), 1}]) * t[{Range(1), -1}]);
  };
  const std::vector<double> at = {.1, .2, .3, .4, .5, .6, .7, .8, .9};
  const auto of = [&](std::vector<double> values) {
    return Reshape(Constant(values), {3, 3});
  };
  const auto g = Flatten(Grad(f)(of(at))).ToVector<double>();
  ASSERT_OK(g);
  for (size_t i = 0; i < at.size(); ++i) {
    constexpr double kStep = 1e-6;
    auto up = at, down = at;
    up[i] += kStep;
    down[i] -= kStep;
    const auto rise = (f(of(up)) - f(of(down))).Item<double>();
    ASSERT_OK(rise);
    EXPECT_NEAR((*g)[i], *rise / (2 * kStep), 1e-8) << i;
  }
}

TEST(Subscript, OtherNumbersReuseTheExecutable) {
  const auto counting = std::make_shared<CountingClient>();
  const Client client{counting};
  const Tensor x = Iota(DType::kS32, {6, 2});
  ASSERT_OK(x.Eval({.client = client}));
  for (int i = 0; i < 6; ++i) {
    const Tensor entry = x[{i, 1}];
    EXPECT_EQ(*entry.Item<int32_t>({.client = client}), 2 * i + 1);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_OK(x[Range(i, i + 2)].Fetch({.client = client}));
  }
  EXPECT_EQ(counting->compiles, 3);  // x, an entry, a range
}

}  // namespace
}  // namespace hawser
