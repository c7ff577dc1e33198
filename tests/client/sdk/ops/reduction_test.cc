// reduce.h and dot.h
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

Tensor F23() { return TN<float>({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Reduce, Axes) {
  EXPECT_VALUE(Sum(F23()), Literal::Scalar<float>(21));
  EXPECT_VALUE(Sum(F23(), {.axes = {0}}), F({5, 7, 9}));
  EXPECT_VALUE(Sum(F23(), {.axes = {-1}}), F({6, 15}));
  EXPECT_VALUE(Sum(F23(), {.axis = -1}), F({6, 15}));
  EXPECT_VALUE(Mean(F23(), {.axis = 0, .keep_axes = true}),
               Literal::Of<float>({2.5f, 3.5f, 4.5f}, {1, 3}));
  EXPECT_VALUE(LogSumExp(Zeros(DType::kF32, {1, 2}), {.axis = 0}), F({0, 0}));
  EXPECT_VALUE(WeightedMean(F23(), Constant({1.f, 3.f}), {.axis = 0}),
               F({3.25f, 4.25f, 5.25f}));
  EXPECT_THAT(Sum(F23(), {.axes = {0}, .axis = 1}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "Sum: axis 1 and axes [0] are both given"));
  EXPECT_THAT(Sum(F23(), {.axis = 2}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "Sum: axis 2 is out of range for rank 2"));
  EXPECT_VALUE(Sum(F23(), {.axes = {1, 0}}), Literal::Scalar<float>(21));
  EXPECT_VALUE(Sum(F23(), {.axes = {1}, .keep_axes = true}),
               Literal::Of<float>({6, 15}, {2, 1}));
  EXPECT_VALUE(Sum(Scalar(3.0f)), Literal::Scalar<float>(3));
  EXPECT_VALUE(Sum(Zeros(DType::kF32, {0})), Literal::Scalar<float>(0));
  EXPECT_VALUE(Product(Zeros(DType::kF32, {2, 0}), {.axes = {1}}), F({1, 1}));
  EXPECT_THAT(Sum(F23(), {.axes = {2}}).status(),
              StatusIs(StatusCode::kInvalidArgument, "Sum: "));
  EXPECT_THAT(Sum(F23(), {.axes = {1, -1}}).status(),
              StatusIs(StatusCode::kInvalidArgument, "given twice"));
}

TEST(Reduce, SumsIntegersInTheirAggregateDType) {
  EXPECT_VALUE(Sum(T1<uint8_t>({200, 100})), Literal::Scalar<uint32_t>(300));
  EXPECT_VALUE(Sum(T1<int8_t>({100, 100})), Literal::Scalar<int32_t>(200));
  EXPECT_VALUE(Sum(T1<bool>({true, true, false})),
               Literal::Scalar<uint32_t>(2));
  EXPECT_VALUE(Sum(T1<uint64_t>({UINT64_MAX})),
               Literal::Scalar<uint64_t>(UINT64_MAX));
  EXPECT_VALUE(Product(T1<int16_t>({300, 300})),
               Literal::Scalar<int32_t>(90000));
}

TEST(Reduce, Extremes) {
  EXPECT_VALUE(ReduceMax(F23(), {.axes = {1}}), F({3, 6}));
  EXPECT_VALUE(ReduceMin(F23()), Literal::Scalar<float>(1));
  EXPECT_VALUE(ReduceMax(T1<float>({1, kNan})), Literal::Scalar<float>(kNan));
  EXPECT_VALUE(ReduceMax(Zeros(DType::kF32, {0})), Literal::Scalar(-kInf));
  EXPECT_VALUE(ReduceMin(Zeros(DType::kU8, {0})), Literal::Scalar<uint8_t>(255));
  EXPECT_VALUE(ReduceMin(T1<bool>({true, false})), Literal::Scalar(false));
  EXPECT_FALSE(ReduceMax(Complex(F23(), 0.0f)).status().ok());
}

TEST(Reduce, Truth) {
  EXPECT_VALUE(All(T1<float>({1, kNan})), Literal::Scalar(true));
  EXPECT_VALUE(All(T1<int32_t>({1, 0})), Literal::Scalar(false));
  EXPECT_VALUE(Any(TN<int32_t>({0, 0, 0, 2}, {2, 2}), {.axes = {1}}),
               Literal::Vector<bool>({false, true}));
  EXPECT_VALUE(All(Zeros(DType::kBool, {0})), Literal::Scalar(true));
}

TEST(Reduce, ArgMaxAndArgMin) {
  const Tensor x = TN<float>({3, 9, 9, 1, 1, 7}, {2, 3});
  EXPECT_VALUE(ArgMax(x, {.dtype = DType::kU8}), Literal::Scalar<uint8_t>(1));
  EXPECT_VALUE(ArgMax(x, {.dtype = DType::kS64}), Literal::Scalar<int64_t>(1));
  EXPECT_THAT(ArgMax(x, {.dtype = DType::kF32}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "are integers"));
  EXPECT_VALUE(ArgMax(x), Literal::Scalar<int32_t>(1));
  EXPECT_VALUE(ArgMin(x), Literal::Scalar<int32_t>(3));
  EXPECT_VALUE(ArgMax(x, {.axis = 1}), Literal::Vector<int32_t>({1, 2}));
  EXPECT_VALUE(ArgMax(x, {.axis = -1, .keep_axis = true}),
               Literal::Of<int32_t>({1, 2}, {2, 1}));
  EXPECT_VALUE(ArgMin(x, {.axis = 1, .last_of_equals = true}),
               Literal::Vector<int32_t>({0, 1}));
  EXPECT_VALUE(ArgMax(T1<float>({1, kNan, kInf}), {.dtype = DType::kS64}),
               Literal::Scalar<int64_t>(1));
  EXPECT_FALSE(ArgMax(Zeros(DType::kF32, {0})).status().ok());
  EXPECT_FALSE(ArgMax(x, {.axis = 2}).status().ok());
}

TEST(Composite, MeanAndVariance) {
  EXPECT_VALUE(Mean(F23()), Literal::Scalar<float>(3.5f));
  EXPECT_VALUE(Mean(T1<uint8_t>({255, 254})), Literal::Scalar<float>(254.5f));
  EXPECT_VALUE(Mean(F23(), {.axes = {0}, .keep_axes = true}),
               Literal::Of<float>({2.5f, 3.5f, 4.5f}, {1, 3}));
  EXPECT_VALUE(Mean(Zeros(DType::kF32, {0})), Literal::Scalar<float>(kNan));
  EXPECT_VALUE(Variance(T1<int32_t>({1, 2, 3, 4})),
               Literal::Scalar<float>(1.25f));
  EXPECT_NEAR_VALUE(Variance(T1<float>({1, 2, 3, 4}), {}, 1), 1e-6,
                    Literal::Scalar<float>(5.0f / 3));
  // s32 would wrap, f16 would overflow on the way.
  EXPECT_VALUE(Mean(T1<int32_t>({INT32_MAX, INT32_MAX})),
               Literal::Scalar<float>(2147483648.0f));
  EXPECT_VALUE(Mean(T1<Half>({Half(60000.0f), Half(60000.0f)})),
               Literal::Scalar(Half(60000.0f)));
}

TEST(Composite, LogSumExpAndSoftmax) {
  EXPECT_NEAR_VALUE(LogSumExp(T1<float>({1000, 1000})), 1e-6,
                    Literal::Scalar<float>(1000 + std::log(2.0f)));
  EXPECT_VALUE(LogSumExp(T1<float>({-kInf, -kInf})), Literal::Scalar(-kInf));
  EXPECT_VALUE(LogSumExp(T1<float>({kInf, 1})), Literal::Scalar(kInf));
  EXPECT_EQ(LogSumExp(F23(), {.axes = {0}}).shape(),
            Shape::Of(DType::kF32, {3}));
  EXPECT_EQ(LogSumExp(F23(), {.axes = {0}, .keep_axes = true}).shape(),
            Shape::Of(DType::kF32, {1, 3}));
  EXPECT_NEAR_VALUE(Softmax(T1<float>({0, std::log(3.0f)})), 1e-6,
                    F({0.25f, 0.75f}));
  EXPECT_NEAR_VALUE(Softmax(T1<int32_t>({10000, 10000})), 1e-6,
                    F({0.5f, 0.5f}));
  EXPECT_NEAR_VALUE(Softmax(TN<float>({1, 1, 5, 5}, {2, 2}), 0), 1e-5,
                    Literal::Of<float>({0.01798621f, 0.01798621f, 0.98201379f,
                                        0.98201379f}, {2, 2}));
  EXPECT_FALSE(Softmax(Scalar(1.0f)).status().ok());
}

TEST(DotProducts, NxRule) {
  EXPECT_VALUE(Dot(T1<float>({1, 2}), T1<float>({3, 4})),
               Literal::Scalar<float>(11));
  EXPECT_VALUE(Dot(F23(), T1<float>({1, 0, 1})), F({4, 10}));
  EXPECT_VALUE(Dot(F23(), Transpose(F23())),
               Literal::Of<float>({14, 32, 32, 77}, {2, 2}));
  EXPECT_VALUE(Dot(F23(), 2), Literal::Of<float>({2, 4, 6, 8, 10, 12}, {2, 3}));
  EXPECT_EQ(Dot(Zeros(DType::kF32, {2, 2, 3}), Zeros(DType::kF32, {2, 3, 2}))
                .shape(),
            Shape::Of(DType::kF32, {2, 2, 2, 2}));
  EXPECT_VALUE(Dot(T1<uint8_t>({16, 16}), T1<uint8_t>({16, 1})),
               Literal::Scalar<uint8_t>(16));  // 272 wraps
  EXPECT_EQ(Dot(T1<bool>({true}), T1<bool>({true})).dtype(), DType::kU8);
  EXPECT_EQ(Dot(T1<int32_t>({1}), T1<float>({1})).dtype(), DType::kF32);
}

TEST(DotProducts, GivenAxes) {
  const Tensor a = TN<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_VALUE(Dot(a, a, {.contract_a = {0}, .contract_b = {0}}),
               Literal::Of<float>({10, 14, 14, 20}, {2, 2}));
  EXPECT_VALUE(Dot(a, a, {.contract_a = {1}, .contract_b = {-1},
                          .batch_a = {0}, .batch_b = {0}}),
               F({5, 25}));
  EXPECT_FALSE(Dot(a, a, {.contract_a = {2}, .contract_b = {0}}).status().ok());
  EXPECT_FALSE(Dot(a, a, {.contract_a = {0}}).status().ok());
}

// 257 is no number of bf16, 300 none of s8.
TEST(DotProducts, OfAWiderDType) {
  const DotOptions f32{.dtype = DType::kF32}, s32{.dtype = DType::kS32};
  const Tensor x = T1<BFloat16>({BFloat16(256), BFloat16(1)});
  const Tensor ones = T1<BFloat16>({BFloat16(1), BFloat16(1)});
  EXPECT_VALUE(Dot(x, ones, f32), Literal::Scalar<float>(257));
  EXPECT_VALUE(Dot(x, ones, {.contract_a = {0}, .contract_b = {0}}, f32),
               Literal::Scalar<float>(257));
  EXPECT_VALUE(MatMul(x, ones, f32), Literal::Scalar<float>(257));
  EXPECT_VALUE(MatMul(x, Reshape(ones, {2, 1}), f32), F({257}));
  EXPECT_VALUE(MatMul(Reshape(x, {1, 2}), Reshape(ones, {2, 1}), f32),
               Literal::Of<float>({257}, {1, 1}));
  const Tensor ten = T1<int8_t>({10, 10, 10});
  EXPECT_VALUE(Dot(ten, ten, s32), Literal::Scalar<int32_t>(300));
  EXPECT_VALUE(Dot(T1<int8_t>({100, -3}), 3, s32),
               Literal::Vector<int32_t>({300, -9}));
  EXPECT_VALUE(Dot(T1<bool>({true, true}), T1<bool>({true, true}),
                   {.dtype = DType::kU16}),
               Literal::Scalar<uint16_t>(2));
  EXPECT_EQ(Dot(x, ones, {.dtype = DType::kBF16}).dtype(), DType::kBF16);
}

TEST(DotProducts, RefuseDTypesThatAreNotWider) {
  const Tensor x = T1<float>({1, 2});
  for (const DType dtype : {DType::kBF16, DType::kS64, DType::kC128}) {
    const std::string text = absl::StrCat(
        "Dot: dot_general: C10: result_dtype is ", DTypeName(dtype),
        ", must be a wider dtype of the kind ", "of f32");
    EXPECT_THAT(Dot(x, x, {.dtype = dtype}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, text));
    EXPECT_FALSE(Dot(x, 2, {.dtype = dtype}).status().ok());
    EXPECT_FALSE(MatMul(x, x, {.dtype = dtype}).status().ok());
  }
}

TEST(DotProducts, MatMulBatchesAsNumPy) {
  EXPECT_VALUE(MatMul(F23(), Transpose(F23())),
               Literal::Of<float>({14, 32, 32, 77}, {2, 2}));
  EXPECT_VALUE(MatMul(T1<float>({1, 1}), F23()), F({5, 7, 9}));
  EXPECT_VALUE(MatMul(F23(), T1<float>({1, 0, 1})), F({4, 10}));
  const Tensor stack = Iota(DType::kF32, {2, 1, 2});
  EXPECT_VALUE(MatMul(stack, TN<float>({1, 2, 3, 4}, {2, 2})),
               Literal::Of<float>({3, 4, 11, 16}, {2, 1, 2}));
  EXPECT_EQ(MatMul(Zeros(DType::kF32, {5, 1, 2, 3}),
                   Zeros(DType::kF32, {4, 3, 7})).shape(),
            Shape::Of(DType::kF32, {5, 4, 2, 7}));
  EXPECT_FALSE(MatMul(F23(), 2).status().ok());
  EXPECT_FALSE(MatMul(F23(), F23()).status().ok());
}

}  // namespace
}  // namespace hawser
