#include "core/base/values/literal.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(Literal, HoldsWhatItIsGiven) {
  const Literal l = Literal::Of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(l.shape().ToString(), "f32[2,3]");
  EXPECT_EQ(l.data<float>()[4], 5);
  EXPECT_EQ(l.bytes().size(), 24u);
  EXPECT_EQ(l.ToString(), "f32[2,3] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(l.ToString(2), "f32[2,3] {1, 2, ...}");
}

TEST(Literal, DefaultHasNoValue) {
  const Literal l;
  EXPECT_FALSE(l.valid());
  EXPECT_TRUE(l.bytes().empty());
  EXPECT_EQ(l.ToString(), "(no value)");
}

TEST(Literal, EmptyAxesHaveNoBytes) {
  const Literal l = Literal::Zeros(Shape::Of(DType::kF32, {0, 3}));
  EXPECT_TRUE(l.valid());
  EXPECT_TRUE(l.bytes().empty());
  EXPECT_EQ(l.ToString(), "f32[0,3] {}");
  EXPECT_TRUE(l.BitEquals(Literal::Zeros(Shape::Of(DType::kF32, {0, 3}))));
  EXPECT_FALSE(l.BitEquals(Literal::Zeros(Shape::Of(DType::kF32, {3, 0}))));
}

TEST(Literal, IsAlignedAndZeroedOnRequest) {
  const Literal l = Literal::Zeros(Shape::Of(DType::kS64, {1000}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(l.bytes().data()) % 64, 0u);
  for (int64_t v : l.data<int64_t>()) ASSERT_EQ(v, 0);
}

TEST(Literal, CopiesShareAndAreThenImmutable) {
  Literal a = Literal::Vector<int32_t>({1, 2});
  EXPECT_TRUE(a.unique());
  const Literal b = a;
  EXPECT_FALSE(a.unique());
  EXPECT_EQ(a.bytes().data(), b.bytes().data());
}

TEST(LiteralDeathTest, WritingSharedBytesDies) {
  Literal a = Literal::Scalar<int32_t>(1);
  const Literal b = a;
  EXPECT_DEATH(
      a.mutable_bytes(),
      "literal_test.cc:[0-9]+: Literal::mutable_bytes of s32\\[\\]: its "
      "bytes are shared");
}

TEST(LiteralDeathTest, WrongElementTypeDies) {
  const Literal a = Literal::Scalar<int32_t>(1);
  EXPECT_DEATH(a.data<float>(),
               "literal_test.cc:[0-9]+: Literal::data<f32> of s32\\[\\]");
  Literal b = Literal::Vector<uint8_t>({1, 2});
  EXPECT_DEATH(b.mutable_data<bool>(),
               "literal_test.cc:[0-9]+: Literal::mutable_data<bool> of u8");
}

TEST(LiteralDeathTest, AnotherNumberOfValuesDies) {
  EXPECT_DEATH(Literal::Of<float>({1, 2, 3}, {2, 2}),
               "literal_test.cc:[0-9]+: Literal::Of: 3 values for "
               "f32\\[2,2\\], which has 4 elements");
  EXPECT_DEATH(Literal::Of<float>({1}, {-1}),
               "literal_test.cc:[0-9]+: .* has a negative size -1");
}

TEST(Literal, FromBytesChecksTheSize) {
  const Shape shape = Shape::Of(DType::kU16, {2});
  const std::vector<char> bytes = {1, 0, 2, 1};
  ASSERT_OK_AND_ASSIGN(const Literal l, Literal::FromBytes(shape, bytes));
  EXPECT_EQ(l.data<uint16_t>()[1], 258);
  EXPECT_THAT(
      Literal::FromBytes(shape, absl::MakeConstSpan(bytes).subspan(1)),
      StatusIs(absl::StatusCode::kInvalidArgument, "takes 4 bytes, got 3"));
}

TEST(Literal, AllocateWithoutMemoryIsAnError) {
  const Shape shape = Shape::Of(DType::kU8, {(int64_t{1} << 61)});
  EXPECT_THAT(Literal::Allocate(shape),
              StatusIs(absl::StatusCode::kResourceExhausted, "u8["));
}

TEST(Literal, BitEqualsTellsZerosAndNaNsApart) {
  const auto f = [](float v) { return Literal::Scalar<float>(v); };
  EXPECT_TRUE(f(NAN).BitEquals(f(NAN)));
  EXPECT_FALSE(f(0.0f).BitEquals(f(-0.0f)));
  EXPECT_FALSE(f(1).BitEquals(Literal::Scalar<int32_t>(0x3F800000)));
}

TEST(Literal, ReinterpretKeepsTheBytes) {
  const Literal l = Literal::Of<int32_t>({1, 2, 3, 4}, {4});
  const Literal r = l.Reinterpret(Shape::Of(DType::kS32, {2, 2}));
  EXPECT_EQ(r.ToString(), "s32[2,2] {1, 2, 3, 4}");
  EXPECT_EQ(r.bytes().data(), l.bytes().data());
}

TEST(ElementToString, ReadsBackTheSame) {
  const auto text = [](const Literal& l) { return ElementToString(l, 0); };
  EXPECT_EQ(text(Literal::Scalar(0.1f)), "0.1");
  EXPECT_EQ(text(Literal::Scalar(1e300)), "1e+300");
  EXPECT_EQ(text(Literal::Scalar(-0.0)), "-0");
  EXPECT_EQ(text(Literal::Scalar<double>(NAN)), "nan");
  EXPECT_EQ(text(Literal::Scalar(-std::numeric_limits<float>::infinity())),
            "-inf");
  EXPECT_EQ(text(Literal::Scalar<int8_t>(-128)), "-128");
  EXPECT_EQ(text(Literal::Scalar<uint64_t>(UINT64_MAX)),
            "18446744073709551615");
  EXPECT_EQ(text(Literal::Scalar(true)), "true");
  EXPECT_EQ(text(Literal::Scalar(Half(1.5f))), "1.5");
  EXPECT_EQ(text(Literal::Scalar(std::complex<float>(1, -2))), "(1, -2)");
}

}  // namespace
}  // namespace hawser
