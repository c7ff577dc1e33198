// What lies between two numbers, at infinities and at the ends of dtypes. What
// is expected is NumPy's documented answer, or arithmetic by hand.
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

struct Interpolated {
  std::string what;
  Tensor got;
  std::vector<double> want;  // NaN is NaN
};

void ExpectInterpolated(const std::vector<Interpolated>& cases) {
  for (const Interpolated& one : cases) {
    const auto value = Convert(one.got, DType::kF64).Fetch();
    ASSERT_OK(value) << one.what;
    const auto got = value->data<double>();
    ASSERT_EQ(got.size(), one.want.size()) << one.what;
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(one.want[i])) {
        EXPECT_TRUE(std::isnan(got[i])) << one.what << " " << i;
      } else if (std::isinf(one.want[i])) {
        EXPECT_EQ(got[i], one.want[i]) << one.what << " " << i;
      } else {
        EXPECT_NEAR(got[i], one.want[i], 1e-6 * std::abs(one.want[i]))
            << one.what << " " << i;
      }
    }
  }
  std::cout << cases.size() << " interpolations\n";
}

Tensor Bf16(std::initializer_list<float> values) {
  return Convert(T1<float>(values), DType::kBF16);
}
Tensor AsF64(std::initializer_list<double> values) {
  return T1<double>(values);
}

TEST(Interpolation, OfQuantilesAndMediansAtInfinitiesAndEnds) {
  ExpectInterpolated({
      {"q1", Quantile(T1<float>({1, 2, kInf}), 1), {kInf}},
      {"q2", Quantile(T1<float>({kInf, kInf}), 0.5), {kInf}},
      {"q3", Quantile(T1<float>({1, kInf}), 0.5), {kInf}},
      {"q4", Quantile(T1<float>({1, kInf}), 0), {1}},
      {"q5", Quantile(T1<float>({-kInf, 1}), 1), {1}},
      {"q6", Quantile(T1<float>({-kInf, 1}), 0.25), {-kInf}},
      {"q7", Quantile(T1<float>({-kInf, kInf}), 0.5), {kNan}},
      {"q8", Quantile(T1<float>({-kInf, kInf}), 0), {-kInf}},
      {"q9", Quantile(T1<float>({-3e38f, 3e38f}), 0.5), {0}},
      {"q10", Quantile(T1<float>({-3e38f, 3e38f}), 0.25), {-1.5e38}},
      {"q11", Quantile(T1<float>({-3e38f, 3e38f}), 1), {3e38f}},
      {"q12", Quantile(T1<float>({1, 2, kNan}), 0.5), {kNan}},
      {"q13", Quantile(T1<float>({kNan, 1, 2}), 0), {kNan}},
      {"q14", Quantile(AsF64({-1.7e308, 1.7e308}), 0.5), {0}},
      {"q15", Quantile(Convert(Bf16({-3e38f, 3e38f}), DType::kBF16), 0.5), {0}},
      {"q16", Quantile(T1<float>({1, 3}), 0.5), {2}},
      {"q17",
       Quantile(TN<float>({1, kNan, 2, 3}, {2, 2}), 0.5, {.axis = 0}),
       {1.5, kNan}},
      {"m1", Median(T1<float>({3e38f, 3e38f})), {3e38f}},
      {"m2", Median(T1<float>({-3e38f, 3e38f})), {0}},
      {"m3", Median(T1<float>({kInf, kInf})), {kInf}},
      {"m4", Median(T1<float>({1, kInf})), {kInf}},
      {"m5", Median(T1<float>({-kInf, kInf})), {kNan}},
      {"m6", Median(T1<float>({1, kNan, 3})), {kNan}},
      {"m7", Median(T1<float>({1, kNan, 3, 4})), {kNan}},
      {"m8", Median(AsF64({1.7e308, 1.7e308})), {1.7e308}},
      {"m9", Median(T1<float>({1, 2, kInf})), {2}},
      {"m10",
       Median(TN<float>({1, 2, kNan, 4}, {2, 2}), {.axis = 1}),
       {1.5, kNan}},
      {"m11", Median(T1<int32_t>({1, 2, 4, 9})), {3}},
  });
}

TEST(Interpolation, OfLinspaceAtEnds) {
  const double most = std::numeric_limits<float>::max();
  ExpectInterpolated({
      {"l1", Linspace(DType::kF32, -3e38f, 3e38f, 3), {-3e38f, 0, 3e38f}},
      {"l2", Linspace(DType::kF32, 3e38f, -3e38f, 3), {3e38f, 0, -3e38f}},
      {"l3",
       Linspace(DType::kF32, -3e38f, 3e38f, 4, false),
       {-3e38f, -1.5e38, 0, 1.5e38}},
      {"l4",
       Linspace(DType::kF32, 0, most, 4),
       {0, most / 3, most / 1.5, most}},
      {"l5",
       Linspace(DType::kF64, -1.7e308, 1.7e308, 3),
       {-1.7e308, 0, 1.7e308}},
      {"l6", Linspace(DType::kF32, kInf, kInf, 2), {kInf, kInf}},
      {"l7", Linspace(DType::kF32, 0, 1, 3), {0, 0.5, 1}},
      {"l8", Linspace(DType::kF32, 7, 9, 1), {7}},
      {"l9", Linspace(DType::kF16, -65504, 65504, 3), {-65504, 0, 65504}},
  });
  const auto points = Linspace(DType::kF32, 0.1f, 0.7f, 1000).Fetch();
  ASSERT_OK(points);
  EXPECT_EQ(points->data<float>()[999], 0.7f);
}

// Uniform numbers of any two ends are between them, on both sides of 0.
TEST(Interpolation, OfRandomNumbersBetweenFarEnds) {
  const Tensor key = RandomKey(3);
  struct Range {
    DType dtype;
    double low, high;
  };
  for (const auto& [dtype, low, high] :
       {Range{DType::kF32, -3e38, 3e38}, Range{DType::kF64, -1.7e308, 1.7e308},
        Range{DType::kBF16, -3e38, 3e38}, Range{DType::kF16, -60000, 60000}}) {
    for (const bool known : {false, true}) {
      const Tensor from = Scalar(dtype, low), to = Scalar(dtype, high);
      const Tensor drawn = known ? RandomUniform(key, {1000}, dtype, low, high)
                                 : RandomUniform(key, {1000}, dtype, from, to);
      const auto value = Convert(drawn, DType::kF64).Fetch();
      ASSERT_OK(value);
      int above = 0;
      for (const double x : value->data<double>()) {
        ASSERT_TRUE(std::isfinite(x)) << DTypeName(dtype);
        EXPECT_LE(std::abs(x), 1.01 * high);
        above += x > 0 ? 1 : 0;
      }
      EXPECT_NEAR(above, 500, 80) << DTypeName(dtype);
    }
  }
}

// Where all is finite, both neighbours get their share.
TEST(Interpolation, DifferentiatesToBothNeighbours) {
  const auto quantile = [](Tensor x) { return Quantile(x, 0.25); };
  EXPECT_VALUE(Grad(quantile)(T1<float>({5, 5})), F({0.75, 0.25}));
  const auto median = [](Tensor x) { return Median(x); };
  EXPECT_VALUE(Grad(median)(T1<float>({1, 9, 2, 4})), F({0, 0, 0.5, 0.5}));
}

}  // namespace
}  // namespace hawser
