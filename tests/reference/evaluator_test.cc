#include "tests/reference/evaluator.h"

#include <cmath>
#include <limits>

#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/reference/number/number.h"
#include "tests/testing/matchers.h"

namespace hawser::reference {
namespace {

using absl::StatusCode;

Module OneOpModule(const OpDef& op, absl::Span<const Shape> operands,
                   Attributes attributes = {}) {
  Module module("test");
  ComputationBuilder b(&module, "main");
  std::vector<ValueId> parameters;
  for (const Shape& shape : operands) parameters.push_back(b.Parameter(shape));
  const ValueId result = b.Add(op, parameters, std::move(attributes));
  EXPECT_OK(b.Finish({result}));
  return module;
}

// A number that lies between two of a float dtype is rounded once: by way of
// f32 the first would be a tie, and go to the even one below.
TEST(NumberTest, RoundsOnce) {
  const double just_above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(InDType(Number::Of(Complex(just_above)), DType::kF16).value.real(),
            1 + std::ldexp(1.0, -10));
  const double tie = 1 + std::ldexp(1.0, -11);
  EXPECT_EQ(InDType(Number::Of(Complex(tie)), DType::kF16).value.real(), 1);
}

TEST(NumberTest, LimitsOfFloats) {
  const auto in = [](double x, DType dtype) {
    return InDType(Number::Of(Complex(x)), dtype).value.real();
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(in(65504, DType::kF16), 65504);
  EXPECT_EQ(in(65519.99, DType::kF16), 65504);
  EXPECT_EQ(in(65520, DType::kF16), infinity);
  EXPECT_EQ(in(-1e300, DType::kF32), -infinity);
  EXPECT_EQ(in(std::ldexp(1.0, -24), DType::kF16), std::ldexp(1.0, -24));
  EXPECT_EQ(in(std::ldexp(1.0, -25), DType::kF16), 0);  // a tie
  EXPECT_EQ(in(std::ldexp(1.5, -25), DType::kF16), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::signbit(in(-1e-300, DType::kF32)));
  EXPECT_TRUE(std::isnan(in(std::nan(""), DType::kBF16)));
  EXPECT_EQ(in(std::ldexp(1.0, -1074), DType::kF64), std::ldexp(1.0, -1074));
}

TEST(NumberTest, IntegersWrap) {
  EXPECT_EQ(InDType(Number::Of(uint64_t{300}), DType::kU8).bits, 44u);
  EXPECT_EQ(InDType(Number::Of(uint64_t{128}), DType::kS8).bits,
            static_cast<uint64_t>(int64_t{-128}));
  EXPECT_EQ(InDType(Number::Of(~uint64_t{0}), DType::kU64).bits, ~uint64_t{0});
}

// 2^53 + 1 lies between two of f64; s64 to f32 by way of f64 rounds twice.
TEST(EvaluatorTest, IntegersAreConvertedOnce) {
  const int64_t x = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  const Module module = OneOpModule(kConvert, {Shape::Scalar(DType::kS64)},
                                    {{"dtype", DType::kF32}});
  const auto got = Evaluator().Evaluate(
      module, 0, {Literal::Scalar<int64_t>(x)}, CancelToken());
  ASSERT_OK(got);
  EXPECT_EQ((*got)[0].data<float>()[0],
            std::ldexp(1.0f, 60) + std::ldexp(1.0f, 37));
}

TEST(EvaluatorTest, RefusesWhatIsNotTheComputations) {
  const Shape s = Shape::Of(DType::kF32, {2});
  const Module module = OneOpModule(kAdd, {s, s});
  const Literal x = Literal::Vector<float>({1, 2});
  EXPECT_THAT(Evaluator().Evaluate(module, 1, {x, x}, CancelToken()),
              StatusIs(StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(Evaluator().Evaluate(module, 0, {x}, CancelToken()),
              StatusIs(StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(
      Evaluator().Evaluate(module, 0, {x, Literal::Vector<float>({1, 2, 3})},
                           CancelToken()),
      StatusIs(StatusCode::kInvalidArgument, ""));
}

TEST(EvaluatorTest, StopsWhenCancelled) {
  const Shape s = Shape::Of(DType::kF32, {1 << 20});
  const Module module = OneOpModule(kNegate, {s});
  const CancelToken token = CancelToken::WithFlag();
  token.Cancel();
  EXPECT_THAT(Evaluator().Evaluate(module, 0, {Literal::Zeros(s)}, token),
              StatusIs(StatusCode::kCancelled, ""));
}

}  // namespace
}  // namespace hawser::reference
