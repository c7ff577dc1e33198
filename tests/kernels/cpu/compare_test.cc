#include "core/ops/elementwise/compare.h"

#include <complex>
#include <limits>

#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

Literal Compare(const Literal& a, const Literal& b, std::string direction) {
  return EvaluateOp(kCompare, {a, b}, {{"direction", std::move(direction)}});
}

template <typename T>
class CompareTest : public testing::Test {};
using OrderedTypes =
    testing::Types<bool, uint8_t, uint16_t, uint32_t, uint64_t, int8_t,
                   int16_t, int32_t, int64_t, Half, BFloat16, float, double>;
TYPED_TEST_SUITE(CompareTest, OrderedTypes);

TYPED_TEST(CompareTest, EveryDirection) {
  using T = TypeParam;
  const T zero = static_cast<T>(0.0f);
  const T one = static_cast<T>(1.0f);
  const Literal a = Literal::Vector<T>({zero, zero, one, one});
  const Literal b = Literal::Vector<T>({zero, one, zero, one});
  const struct {
    const char* direction;
    Literal want;
  } kRows[] = {
      {"EQ", Literal::Vector<bool>({true, false, false, true})},
      {"NE", Literal::Vector<bool>({false, true, true, false})},
      {"LT", Literal::Vector<bool>({false, true, false, false})},
      {"LE", Literal::Vector<bool>({true, true, false, true})},
      {"GT", Literal::Vector<bool>({false, false, true, false})},
      {"GE", Literal::Vector<bool>({true, false, true, true})},
  };
  for (const auto& row : kRows) {
    EXPECT_THAT(Compare(a, b, row.direction), LiteralEquals(row.want))
        << row.direction;
  }
}

TEST(CompareTest, SignednessDecides) {
  EXPECT_THAT(Compare(Literal::Scalar<int8_t>(-1), Literal::Scalar<int8_t>(1),
                      "LT"),
              LiteralEquals(Literal::Scalar(true)));
  EXPECT_THAT(Compare(Literal::Scalar<uint8_t>(255),
                      Literal::Scalar<uint8_t>(1), "LT"),
              LiteralEquals(Literal::Scalar(false)));
}

TEST(CompareTest, OfNaNOnlyNotEqualHolds) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const Literal nan = Cast(Literal::Vector<float>({NAN, NAN, 1}), dtype);
    const Literal other = Cast(Literal::Vector<float>({NAN, 1, NAN}), dtype);
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      EXPECT_THAT(Compare(nan, other, direction),
                  LiteralEquals(Full(std::string(direction) == "NE", {3})))
          << direction;
    }
  }
}

TEST(CompareTest, ZerosAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const Literal a = Literal::Vector<float>({-0.0f, -inf, inf});
  const Literal b = Literal::Vector<float>({0.0f, 1, inf});
  EXPECT_THAT(Compare(a, b, "EQ"),
              LiteralEquals(Literal::Vector<bool>({true, false, true})));
  EXPECT_THAT(Compare(a, b, "LT"),
              LiteralEquals(Literal::Vector<bool>({false, true, false})));
}

TEST(CompareTest, ComplexEquality) {
  using C = std::complex<double>;
  const Literal a = Literal::Vector<C>({C(1, 2), C(1, 2), C(NAN, 0)});
  const Literal b = Literal::Vector<C>({C(1, 2), C(1, 3), C(NAN, 0)});
  EXPECT_THAT(Compare(a, b, "EQ"),
              LiteralEquals(Literal::Vector<bool>({true, false, false})));
  EXPECT_THAT(Compare(a, b, "NE"),
              LiteralEquals(Literal::Vector<bool>({false, true, true})));
}

TEST(SelectTest, EveryDTypeByElementAndWhole) {
  Random random(5);
  for (DType dtype : AllDTypes()) {
    const Shape shape = Shape::Of(dtype, {7});
    const Literal a = RandomLiteral(shape, random);
    const Literal b = RandomLiteral(shape, random);
    const Literal p = RandomLiteral(Shape::Of(DType::kBool, {7}), random);
    const Literal mixed = EvaluateOp(kSelect, {p, a, b});
    const int64_t width = ByteWidth(dtype);
    for (int i = 0; i < 7; ++i) {
      const Literal& from = p.data<bool>()[i] ? a : b;
      EXPECT_EQ(mixed.bytes().subspan(i * width, width),
                from.bytes().subspan(i * width, width));
    }
    EXPECT_THAT(EvaluateOp(kSelect, {Literal::Scalar(true), a, b}),
                LiteralBitEquals(a));
    EXPECT_THAT(EvaluateOp(kSelect, {Literal::Scalar(false), a, b}),
                LiteralBitEquals(b));
  }
}

}  // namespace
}  // namespace hawser::cpu
