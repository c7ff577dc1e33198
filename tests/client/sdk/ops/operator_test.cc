// Operators on tensors: which function each is, with weak numbers on both
// sides.
#include <cstdint>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

Literal Bools(std::initializer_list<bool> v) { return Literal::Vector(v); }

TEST(Operators, Compare) {
  const Tensor x = Constant({1, 2, 3});
  EXPECT_VALUE(x < 2, Bools({true, false, false}));
  EXPECT_VALUE(x <= 2, Bools({true, true, false}));
  EXPECT_VALUE(x > 2, Bools({false, false, true}));
  EXPECT_VALUE(x >= 2.5, Bools({false, false, true}));
  EXPECT_VALUE(2 < x, Bools({false, false, true}));
  EXPECT_VALUE(
      x < Constant({{3}, {2}}),
      Literal::Of<bool>({true, true, false, true, false, false}, {2, 3}));
  const Tensor nan = Constant({kNan, 1.f});
  EXPECT_VALUE(nan < 2.f, Bools({false, true}));
  EXPECT_VALUE(nan >= nan, Bools({false, true}));
  EXPECT_VALUE(Zeros(DType::kF32, {0}) < 1, Bools({}));
  EXPECT_THAT((Constant({std::complex<float>(1)}) < 1).status(),
              StatusIs(StatusCode::kInvalidArgument, "Lt: "));
  EXPECT_THAT((T1<uint8_t>({1}) < 300).status(),
              StatusIs(StatusCode::kInvalidArgument, "300 does not fit u8"));
}

TEST(Operators, Logic) {
  const Tensor a = Constant({true, true, false}),
               b = Constant({true, false, false});
  EXPECT_VALUE(a && b, Bools({true, false, false}));
  EXPECT_VALUE(a || b, Bools({true, true, false}));
  EXPECT_VALUE(!a, Bools({false, false, true}));
  EXPECT_VALUE(!Scalar(0.f), Literal::Scalar(true));
  EXPECT_VALUE(a && true, Bools({true, true, false}));
  EXPECT_VALUE(false || b, Bools({true, false, false}));
  EXPECT_VALUE(Constant({kNan, 0.f}) && 1, Bools({true, false}));
  const Tensor x = Constant({1, 5, 9});
  EXPECT_VALUE(x > 1 && x < 9, Bools({false, true, false}));
  EXPECT_THAT((a && T1<bool>({true, true})).status(),
              StatusIs(StatusCode::kInvalidArgument, "LogicalAnd: "));
}

TEST(Operators, BitsAndRemainders) {
  const Tensor x = Constant({12, 10, -7});
  EXPECT_VALUE(x & 6, Literal::Vector<int32_t>({4, 2, 0}));
  EXPECT_VALUE(x | 1, Literal::Vector<int32_t>({13, 11, -7}));
  EXPECT_VALUE(x ^ 1, Literal::Vector<int32_t>({13, 11, -8}));
  EXPECT_VALUE(~x, Literal::Vector<int32_t>({-13, -11, 6}));
  EXPECT_VALUE(x % 4, Literal::Vector<int32_t>({0, 2, -3}));
  EXPECT_VALUE(x % 0, Literal::Vector<int32_t>({12, 10, -7}));
  EXPECT_VALUE(100 % Constant({7, -7}), Literal::Vector<int32_t>({2, 2}));
  EXPECT_VALUE(Constant({5.5f, kInf, 1.f}) % 2.f, F({1.5f, kNan, 1}));
  const Tensor t = Constant({true, false});
  EXPECT_VALUE(t & true, Bools({true, false}));
  EXPECT_VALUE(t | true, Bools({true, true}));
  EXPECT_VALUE(t ^ true, Bools({false, true}));
  EXPECT_VALUE(~t, Bools({false, true}));
  EXPECT_THAT((Scalar(1.f) & 1).status(),
              StatusIs(StatusCode::kInvalidArgument, "BitwiseAnd: "));
  EXPECT_THAT((~Scalar(1.f)).status(),
              StatusIs(StatusCode::kInvalidArgument, "BitwiseNot: "));
}

TEST(Operators, AssignAndSayWhere) {
  Tensor x = Constant({12, 10});
  x &= 14;
  x |= 1;
  x ^= 3;
  x %= 8;
  EXPECT_VALUE(x, Literal::Vector<int32_t>({6, 0}));
  x %= T1<int32_t>({1, 2, 3});
  EXPECT_THAT(x.status().message(), ::testing::HasSubstr("operator_test.cc:"));
}

}  // namespace
}  // namespace hawser
