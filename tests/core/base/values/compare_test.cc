#include "core/base/values/compare.h"

#include <cmath>
#include <complex>
#include <limits>

#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
absl::Status Compare(T got, T want, const Tolerance& tolerance = {}) {
  return CompareLiterals(Literal::Scalar<T>(got), Literal::Scalar<T>(want),
                         tolerance);
}

TEST(CompareLiterals, EqualByDefault) {
  EXPECT_OK(Compare(1.5f, 1.5f));
  EXPECT_OK(Compare(-0.0f, 0.0f));
  EXPECT_OK(Compare(kNaN, -kNaN));
  EXPECT_OK(Compare(kInf, kInf));
  EXPECT_OK(Compare(true, true));
  EXPECT_OK(Compare(std::complex<float>(kNaN, -0.0f),
                    std::complex<float>(kNaN, 0.0f)));
  EXPECT_THAT(Compare(1.5f, std::nextafter(1.5f, 2.0f)),
              StatusIs(kInvalid,
                       "1 of 1 elements of f32[] differ (equal), "
                       "the first at []: got 1.5, want 1.5000001"));
  EXPECT_THAT(Compare(kInf, -kInf), StatusIs(kInvalid, "got inf, want -inf"));
  EXPECT_THAT(Compare(kNaN, 0.0f), StatusIs(kInvalid, "got nan, want 0"));
  EXPECT_THAT(Compare(false, true), StatusIs(kInvalid, "got false, want true"));
  EXPECT_THAT(Compare<int8_t>(-1, 1), StatusIs(kInvalid, "got -1, want 1"));
}

TEST(CompareLiterals, BitsTellZerosAndNaNsApart) {
  const Tolerance bits{.bits = true};
  EXPECT_OK(Compare(kNaN, kNaN, bits));
  EXPECT_THAT(Compare(-0.0f, 0.0f, bits),
              StatusIs(kInvalid, "(the same bits)"));
  EXPECT_THAT(Compare(kNaN, -kNaN, bits), StatusIs(kInvalid, "differ"));
  EXPECT_THAT(Compare(1.0, 1.0 + 1e-15, {.atol = 1, .bits = true}),
              StatusIs(kInvalid, "differ"));
}

TEST(CompareLiterals, AbsoluteAndRelative) {
  EXPECT_OK(Compare(10.5, 10.0, {.atol = 0.5}));
  EXPECT_THAT(Compare(10.5000001, 10.0, {.atol = 0.5}),
              StatusIs(kInvalid, "atol 0.5, rtol 0, ulp 0"));
  EXPECT_OK(Compare(-101.0, -100.0, {.rtol = 0.01}));
  EXPECT_FALSE(Compare(-101.1, -100.0, {.rtol = 0.01}).ok());
  // Relative to what is wanted, not to what came.
  EXPECT_OK(Compare(90.0, 100.0, {.rtol = 0.1}));
  EXPECT_FALSE(Compare(100.0, 90.0, {.rtol = 0.1}).ok());
  EXPECT_FALSE(Compare(1e-30, 0.0, {.rtol = 1}).ok());
}

TEST(CompareLiterals, NothingIsNearAnInfinityOrNaN) {
  const Tolerance wide{.atol = 1e300, .rtol = 1e300, .ulp = 1e300};
  const double inf = kInf;
  EXPECT_FALSE(Compare(std::numeric_limits<double>::max(), inf, wide).ok());
  EXPECT_FALSE(Compare(inf, 1.0, wide).ok());
  EXPECT_FALSE(Compare(-inf, inf, wide).ok());
  EXPECT_FALSE(Compare<double>(kNaN, 1.0, wide).ok());
  EXPECT_FALSE(Compare<double>(1.0, kNaN, wide).ok());
}

template <typename T>
class CompareUlp : public ::testing::Test {};
using Floats = ::testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(CompareUlp, Floats);

// The next `n` numbers of the format above `value`, which is positive.
template <typename T>
T Above(T value, int n) {
  if constexpr (kIsHalf<T>) {
    return T::FromBits(static_cast<uint16_t>(value.bits + n));
  } else {
    for (; n > 0; --n) value = std::nextafter(value, T(1e30));
    return value;
  }
}

TYPED_TEST(CompareUlp, CountsNumbersOfTheFormat) {
  using T = TypeParam;
  for (const T want :
       {T(1.0f), T(1.5f), T(0.0f), Above(T(0.0f), 3), T(96.0f)}) {
    EXPECT_OK(Compare(Above(want, 2), want, {.ulp = 2}));
    EXPECT_FALSE(Compare(Above(want, 3), want, {.ulp = 2}).ok());
    EXPECT_FALSE(Compare(Above(want, 1), want, {.ulp = 0.5}).ok());
  }
}

TEST(CompareLiterals, IntegersAreExactAtTheEdges) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  EXPECT_OK(Compare(low, low));
  EXPECT_FALSE(Compare(high - 1, high).ok());
  EXPECT_OK(Compare(high - 1, high, {.atol = 1}));
  EXPECT_FALSE(Compare(low, high, {.atol = 1}).ok());
  EXPECT_FALSE(Compare(high, low, {.atol = 1}).ok());
  EXPECT_OK(Compare<int8_t>(-128, 127, {.atol = 255}));
  EXPECT_FALSE(Compare<int8_t>(-128, 127, {.atol = 254}).ok());
  EXPECT_FALSE(Compare<uint8_t>(1, 2, {.ulp = 5}).ok());
}

TEST(CompareLiterals, ComplexByModulusOrByParts) {
  using C = std::complex<double>;
  EXPECT_OK(Compare(C(3, 4.5), C(3, 4), {.rtol = 0.1}));
  EXPECT_FALSE(Compare(C(3, 4.6), C(3, 4), {.rtol = 0.1}).ok());
  EXPECT_OK(Compare(C(1 + 0x1p-52, 1e-300), C(1, 1e-300), {.ulp = 1}));
  EXPECT_FALSE(Compare(C(1, 2e-300), C(1, 1e-300), {.ulp = 1}).ok());
  EXPECT_FALSE(Compare(C(kInf, 0), C(kInf, 1), {.atol = 5}).ok());
}

TEST(CompareLiterals, NamesTheFirstElementAndCounts) {
  const Literal want = Literal::Of<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Literal got = Literal::Of<int32_t>({1, 2, 3, 4, 0, 0}, {2, 3});
  EXPECT_THAT(CompareLiterals(got, want),
              StatusIs(kInvalid,
                       "2 of 6 elements of s32[2,3] differ (equal), "
                       "the first at [1,1]: got 0, want 5"));
}

TEST(CompareLiterals, ShapesMustBeTheSame) {
  const Literal f = Literal::Zeros(Shape::Of(DType::kF32, {2, 0}));
  EXPECT_OK(CompareLiterals(f, f));
  EXPECT_THAT(
      CompareLiterals(f, Literal::Zeros(Shape::Of(DType::kF32, {0, 2}))),
      StatusIs(kInvalid, "got f32[2,0], want f32[0,2]"));
  EXPECT_THAT(
      CompareLiterals(f, Literal::Zeros(Shape::Of(DType::kF64, {2, 0}))),
      StatusIs(kInvalid, "got f32[2,0], want f64[2,0]"));
  EXPECT_THAT(CompareLiterals(Literal(), f),
              StatusIs(kInvalid, "got (no value)"));
}

}  // namespace
}  // namespace hawser
