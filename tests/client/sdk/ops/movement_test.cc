// create.h, shape.h and index.h
#include <cstdint>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

Literal I(std::initializer_list<int32_t> v, const Dims& dims) {
  return Literal::Of<int32_t>(v, dims);
}
Tensor M23() { return TN<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Create, FromNumbers) {
  EXPECT_VALUE(Zeros(DType::kS32, {2}), I({0, 0}, {2}));
  EXPECT_VALUE(Ones(DType::kBool, {1, 2}),
               Literal::Of<bool>({true, true}, {1, 2}));
  EXPECT_VALUE(Full(DType::kS32, {2}, 7), I({7, 7}, {2}));
  EXPECT_VALUE(Full(DType::kS32, {2, 2}, TN<int32_t>({1, 2}, {2, 1})),
               I({1, 1, 2, 2}, {2, 2}));
  EXPECT_VALUE(Scalar(2.5), Literal::Scalar<float>(2.5f));
  EXPECT_VALUE(Scalar(DType::kF64, 0.1), Literal::Scalar<double>(0.1));
  EXPECT_VALUE(Zeros(DType::kF32, {}), Literal::Scalar<float>(0));
  EXPECT_VALUE(Zeros(DType::kF32, {0, 3}), Literal::Of<float>({}, {0, 3}));
  EXPECT_VALUE(Iota(DType::kS32, {2, 3}), I({0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_VALUE(Iota(DType::kS32, {2, 2}, 0), I({0, 0, 1, 1}, {2, 2}));
  EXPECT_VALUE(Iota(DType::kS32, {2, 2}, -1), I({0, 1, 0, 1}, {2, 2}));
  EXPECT_VALUE(Eye(DType::kS32, 2, 3), I({1, 0, 0, 0, 1, 0}, {2, 3}));
  EXPECT_VALUE(Eye(DType::kS32, {2, 1, 2}), I({1, 0, 1, 0}, {2, 1, 2}));
  EXPECT_FALSE(Eye(DType::kS32, {2}).status().ok());
}

TEST(Create, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(Zeros(DType::kF32, {-1}).status(),
              StatusIs(StatusCode::kInvalidArgument, "Zeros"));
  EXPECT_THAT(Full(DType::kU8, {1}, 256).status(),
              StatusIs(StatusCode::kInvalidArgument, "256 does not fit u8"));
  EXPECT_FALSE(Scalar(DType::kS32, 0.5).status().ok());
  EXPECT_FALSE(Scalar(DType::kInvalid, 1).status().ok());
  EXPECT_FALSE(Iota(DType::kS32, {2}, 1).status().ok());
  EXPECT_FALSE(Constant(Literal()).status().ok());
}

TEST(Shapes, Reshape) {
  EXPECT_VALUE(Reshape(M23(), {3, -1}), I({1, 2, 3, 4, 5, 6}, {3, 2}));
  EXPECT_VALUE(Flatten(M23()), I({1, 2, 3, 4, 5, 6}, {6}));
  EXPECT_VALUE(Flatten(Scalar(3)), I({3}, {1}));
  const Tensor cube = Iota(DType::kS32, {2, 1, 3, 2});
  EXPECT_EQ(Flatten(cube, {0, 1}).shape().dims(), (Dims{2, 3, 2}));
  EXPECT_EQ(Flatten(cube, {-2, -1}).shape().dims(), (Dims{2, 1, 6}));
  EXPECT_EQ(Flatten(cube, {1}).shape().dims(), (Dims{2, 1, 3, 2}));
  EXPECT_FALSE(Flatten(cube, {0, 2}).status().ok());
  EXPECT_FALSE(Flatten(cube, {1, 0}).status().ok());
  EXPECT_EQ(Reshape(Zeros(DType::kF32, {0, 3}), {-1, 3}).shape(),
            Shape::Of(DType::kF32, {0, 3}));
  for (const Dims& bad : {Dims{4, -1}, Dims{-1, -1}, Dims{0, -1}, Dims{7},
                          Dims{-2, -1}, Dims{int64_t{1} << 62, 8, -1}}) {
    EXPECT_THAT(Reshape(M23(), bad).status(),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << DimsToString(bad);
  }
}

TEST(Shapes, AxesComeAndGo) {
  const Tensor x = TN<int32_t>({1, 2}, {1, 2, 1});
  EXPECT_EQ(Squeeze(x).shape(), Shape::Of(DType::kS32, {2}));
  EXPECT_EQ(Squeeze(x, {-1}).shape(), Shape::Of(DType::kS32, {1, 2}));
  EXPECT_THAT(Squeeze(x, {1}).status(),
              StatusIs(StatusCode::kInvalidArgument, "axis 1 has size 2"));
  EXPECT_FALSE(Squeeze(x, {0, 0}).status().ok());
  EXPECT_EQ(ExpandDims(M23(), -1).shape(), Shape::Of(DType::kS32, {2, 3, 1}));
  EXPECT_EQ(ExpandDims(M23(), 0).shape(), Shape::Of(DType::kS32, {1, 2, 3}));
  EXPECT_FALSE(ExpandDims(M23(), 3).status().ok());
  EXPECT_VALUE(BroadcastTo(TN<int32_t>({1, 2}, {2, 1}), {2, 2}),
               I({1, 1, 2, 2}, {2, 2}));
  EXPECT_FALSE(BroadcastTo(M23(), {3}).status().ok());
  EXPECT_FALSE(BroadcastTo(M23(), {2, 4}).status().ok());
}

TEST(Shapes, TransposeAndReverse) {
  EXPECT_VALUE(Transpose(M23()), I({1, 4, 2, 5, 3, 6}, {3, 2}));
  EXPECT_VALUE(Transpose(M23(), {-1, 0}), I({1, 4, 2, 5, 3, 6}, {3, 2}));
  EXPECT_VALUE(Reverse(M23()), I({6, 5, 4, 3, 2, 1}, {2, 3}));
  EXPECT_VALUE(Reverse(M23(), {-1}), I({3, 2, 1, 6, 5, 4}, {2, 3}));
  EXPECT_FALSE(Transpose(M23(), {0}).status().ok());
  EXPECT_FALSE(Reverse(M23(), {1, -1}).status().ok());
}

TEST(Shapes, ConcatenateAndStack) {
  const Tensor a = T1<int32_t>({1, 2}), b = T1<uint8_t>({3, 4});
  EXPECT_VALUE(Concatenate({a, b}), I({1, 2, 3, 4}, {4}));
  EXPECT_VALUE(Stack({a, b}), I({1, 2, 3, 4}, {2, 2}));
  EXPECT_VALUE(Stack({a, b}, -1), I({1, 3, 2, 4}, {2, 2}));
  EXPECT_VALUE(Concatenate({M23(), M23()}, 1),
               I({1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}, {2, 6}));
  EXPECT_FALSE(Concatenate({}).status().ok());
  EXPECT_FALSE(Concatenate({M23(), a}).status().ok());
  EXPECT_FALSE(Stack({a, T1<int32_t>({1})}).status().ok());
  const Tensor bad = Reshape(a, {7});
  EXPECT_EQ(Concatenate({a, bad}).status(), bad.status());
}

TEST(Shapes, Pad) {
  const Tensor x = T1<int32_t>({1, 2, 3});
  EXPECT_VALUE(Pad(x, 0, {{1, 2}}), I({0, 1, 2, 3, 0, 0}, {6}));
  EXPECT_VALUE(Pad(x, 9, {{-1, 0}}), I({2, 3}, {2}));
  EXPECT_VALUE(Pad(x, 9, {{0, 0, 1}}), I({1, 9, 2, 9, 3}, {5}));
  EXPECT_VALUE(Pad(x, 0.5, {{1, 0}}),
               Literal::Vector<float>({0.5f, 1, 2, 3}));
  EXPECT_FALSE(Pad(x, 0, {}).status().ok());
  EXPECT_FALSE(Pad(x, 0, {{-4, 0}}).status().ok());
}

TEST(Index, SliceCountsFromTheBack) {
  EXPECT_VALUE(Slice(M23(), {0, 1}, {2, 2}), I({2, 3, 5, 6}, {2, 2}));
  EXPECT_VALUE(Slice(M23(), {-1, -3}, {1, 3}), I({4, 5, 6}, {1, 3}));
  EXPECT_VALUE(Slice(M23(), {2, 0}, {0, 3}), I({}, {0, 3}));
  EXPECT_THAT(Slice(M23(), {9, 0}, {1, 3}).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Slice: start 9 with length 1 of axis 0 is outside its "
                       "size 2; operands s32[2,3]"));
  EXPECT_FALSE(Slice(M23(), {0, -4}, {1, 3}).status().ok());
  EXPECT_FALSE(Slice(M23(), {0, -1}, {1, 2}).status().ok());
  EXPECT_VALUE(Slice(M23(), {0, 0}, {2, 3}, {1, 2}),
               I({1, 3, 4, 6}, {2, 2}));
  EXPECT_THAT(Slice(M23(), {0, 0}, {3, 1}).status(),
              StatusIs(StatusCode::kInvalidArgument, "length 3 of axis 0"));
  EXPECT_FALSE(Slice(M23(), {0}, {1}).status().ok());
  EXPECT_FALSE(Slice(M23(), {0, 0}, {1, 1}, {0, 1}).status().ok());
  EXPECT_FALSE(Slice(M23(), {0, 0}, {1, 1}, {1, 1, 1}).status().ok());
}

TEST(Index, AlongOneAxis) {
  EXPECT_VALUE(SliceAlongAxis(M23(), 1, 2, -1), I({2, 3, 5, 6}, {2, 2}));
  EXPECT_VALUE(SliceAlongAxis(M23(), 0, 3, 1, 2), I({1, 3, 4, 6}, {2, 2}));
  EXPECT_VALUE(Rows(M23(), 1, 1), I({4, 5, 6}, {1, 3}));
  EXPECT_VALUE(Rows(M23(), -1, 1), I({4, 5, 6}, {1, 3}));
  EXPECT_VALUE(Rows(M23(), Scalar(int8_t{-2}), 2), M23().Fetch().value());
  EXPECT_THAT(Rows(M23(), Scalar(99), 1).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Rows: start 99 with length 1 of axis 0 is outside"));
  EXPECT_FALSE(Rows(M23(), int64_t{-5}, 1).status().ok());
  EXPECT_FALSE(Rows(M23(), ~uint64_t{0}, 1).status().ok());
  EXPECT_VALUE(Rows(M23(), 0, 0), I({}, {0, 3}));
  EXPECT_FALSE(Rows(M23(), 0, 3).status().ok());
  EXPECT_FALSE(Rows(Scalar(1), 0, 1).status().ok());
  EXPECT_THAT(Rows(M23(), 0.5, 1).status(),
              StatusIs(StatusCode::kInvalidArgument, "integers, not f32"));
}

TEST(Index, WhatIsKnownOnlyWhenItRunsIsClamped) {
  const auto rows = Jit([](Tensor x, Tensor i) { return Rows(x, i, 1); });
  EXPECT_VALUE(*rows(M23(), 99), I({4, 5, 6}, {1, 3}));
  EXPECT_VALUE(*rows(M23(), -1), I({1, 2, 3}, {1, 3}));
  EXPECT_VALUE(Rows(M23(), Scalar(4) - 5, 1), I({1, 2, 3}, {1, 3}));
  const auto take = Jit([](Tensor x, Tensor i) { return Take(x, i); });
  EXPECT_VALUE(*take(M23(), T1<int32_t>({-1, 7})), M23().Fetch().value());
  // A constant of the trace is known.
  const auto last = Jit([](Tensor x) { return Take(x, Constant({-1})); });
  EXPECT_VALUE(*last(M23()), I({4, 5, 6}, {1, 3}));
  const auto beyond = Jit([](Tensor x) { return Rows(x, 2, 1); });
  EXPECT_THAT(beyond(M23()), StatusIs(StatusCode::kInvalidArgument,
                                      "Rows: start 2 with length 1"));
}

// Nx's rule for starts, and the one of what is computed for all others.
TEST(Index, WhatIsKnownIsClampedWhenThatIsAsked) {
  const Outside clamp = {.clamp = true};
  const Tensor x = Iota(DType::kS32, {4});
  const Tensor computed = Constant({9, -9, 2}) + 0;
  EXPECT_VALUE(Slice(x, {9}, {3}, {}, clamp), I({1, 2, 3}, {3}));
  EXPECT_VALUE(Slice(x, {-9}, {4}, {2}, clamp), I({0, 2}, {2}));
  EXPECT_VALUE(SliceAlongAxis(x, INT64_MAX, 2, 0, 1, clamp), I({2, 3}, {2}));
  EXPECT_VALUE(Rows(x, -1, 2, clamp), I({0, 1}, {2}));
  EXPECT_VALUE(Rows(x, Scalar(9), 1, clamp), I({3}, {1}));
  EXPECT_VALUE(DynamicSlice(x, {Operand(3)}, {2}, clamp), I({2, 3}, {2}));
  EXPECT_VALUE(PutSlice(x, {Operand(9)}, Constant({7, 8}), clamp),
               I({0, 1, 7, 8}, {4}));
  EXPECT_VALUE(Take(x, Constant({9, -9, 2}), 0, clamp), I({3, 0, 2}, {3}));
  EXPECT_VALUE(Take(x, computed), I({3, 0, 2}, {3}));
  EXPECT_VALUE(TakeAlongAxis(x, Constant({9, -9, 2}), 0, clamp),
               I({3, 0, 2}, {3}));
  EXPECT_VALUE(Gather(x, Constant({{9}, {-9}}), {}, clamp), I({3, 0}, {2}));
  EXPECT_THAT(Rows(x, 0, 9, clamp).status(),
              StatusIs(StatusCode::kInvalidArgument, "Rows: length 9"));
  EXPECT_THAT(Slice(x, {0}, {-1}, {}, clamp).status(),
              StatusIs(StatusCode::kInvalidArgument, "Slice: length -1"));
}

TEST(Index, DynamicSliceAndPutSlice) {
  EXPECT_VALUE(DynamicSlice(M23(), {Scalar(1), -2}, {1, 2}),
               I({5, 6}, {1, 2}));
  EXPECT_THAT(DynamicSlice(M23(), {Scalar(1), 2}, {1, 2}).status(),
              StatusIs(StatusCode::kInvalidArgument, "start 2 with length 2"));
  EXPECT_VALUE(PutSlice(M23(), {-1, -1}, TN<int32_t>({9}, {1, 1})),
               I({1, 2, 3, 4, 5, 9}, {2, 3}));
  EXPECT_THAT(PutSlice(M23(), {2, 0}, TN<int32_t>({9}, {1, 1})).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "PutSlice: start 2 with length 1 of axis 0"));
  EXPECT_VALUE(PutSlice(M23(), {0, Scalar(int64_t{1})},
                        TN<int32_t>({8, 9}, {1, 2})),
               I({1, 8, 9, 4, 5, 6}, {2, 3}));
  EXPECT_EQ(PutSlice(M23(), {0, 0}, TN<float>({1}, {1, 1})).dtype(),
            DType::kF32);
  EXPECT_FALSE(DynamicSlice(M23(), {0}, {1, 1}).status().ok());
  const Tensor bad = Reshape(Scalar(1), {7});
  EXPECT_EQ(DynamicSlice(M23(), {0, bad}, {1, 1}).status(), bad.status());
}

TEST(Index, TakeReplacesAnAxisByTheShapeOfTheIndices) {
  EXPECT_VALUE(Take(M23(), T1<int32_t>({1, 0, 1})),
               I({4, 5, 6, 1, 2, 3, 4, 5, 6}, {3, 3}));
  EXPECT_VALUE(Take(M23(), TN<uint8_t>({2, 0}, {1, 2}), 1),
               I({3, 1, 6, 4}, {2, 1, 2}));
  EXPECT_VALUE(Take(M23(), 2, -1), I({3, 6}, {2}));
  EXPECT_VALUE(Take(M23(), T1<int32_t>({-1, -2}), 0),
               I({4, 5, 6, 1, 2, 3}, {2, 3}));
  EXPECT_VALUE(Take(M23(), -1, -1), I({3, 6}, {2}));
  EXPECT_VALUE(Take(M23(), T1<int8_t>({}), 0), I({}, {0, 3}));
  EXPECT_THAT(Take(M23(), T1<int32_t>({0, 2})).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Take: index 2 of axis 0 is outside its size 2; "
                       "operands s32[2,3], s32[2]"));
  EXPECT_FALSE(Take(M23(), -3).status().ok());
  EXPECT_VALUE(TakeAlongAxis(M23(), TN<int32_t>({-1, 0}, {2, 1}), 1),
               I({3, 4}, {2, 1}));
  EXPECT_FALSE(TakeAlongAxis(M23(), TN<int32_t>({3, 0}, {2, 1}), 1)
                   .status()
                   .ok());
  EXPECT_FALSE(Take(M23(), T1<float>({0})).status().ok());
  EXPECT_FALSE(Take(Scalar(1), 0).status().ok());
}

TEST(Index, GatherTakesIndexVectors) {
  const Tensor at = TN<int32_t>({0, 1, 1, 2}, {2, 2});
  EXPECT_VALUE(Gather(M23(), at), I({2, 6}, {2}));
  EXPECT_VALUE(Gather(M23(), TN<int32_t>({1, 0}, {2, 1})),
               I({4, 5, 6, 1, 2, 3}, {2, 3}));
  EXPECT_VALUE(Gather(M23(), TN<int32_t>({2, 0}, {2, 1}), {1}),
               I({3, 6, 1, 4}, {2, 2}));
  EXPECT_VALUE(Gather(M23(), TN<int32_t>({-1, -1, 0, -3}, {2, 2})),
               I({6, 1}, {2}));
  EXPECT_THAT(Gather(M23(), TN<int32_t>({0, 2, 2, 0}, {2, 2})).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Gather: index 2 of axis 0 is outside its size 2"));
  EXPECT_FALSE(Gather(M23(), Scalar(0)).status().ok());
  EXPECT_FALSE(Gather(M23(), TN<int32_t>({1, 2, 3}, {1, 3})).status().ok());
  EXPECT_FALSE(Gather(M23(), at, {0}).status().ok());
  EXPECT_FALSE(Gather(M23(), at, {0, 0}).status().ok());
}

TEST(Index, IndexedAddAndPutTakeIndexVectors) {
  const Tensor rows = TN<int32_t>({1, 1, 7, -1}, {4, 1});
  EXPECT_VALUE(IndexedAdd(M23(), rows, 10),
               I({1, 2, 3, 24, 25, 26}, {2, 3}));  // outside is dropped
  EXPECT_VALUE(IndexedPut(M23(), rows, TN<int32_t>({1, 2, 3, 4}, {4, 1})),
               I({1, 2, 3, 2, 2, 2}, {2, 3}));  // the last one stays
  EXPECT_VALUE(IndexedAdd(M23(), TN<int32_t>({2, 0}, {2, 1}),
                          TN<int32_t>({10, 20, 30, 40}, {2, 2}), {-1}),
               I({31, 2, 13, 44, 5, 26}, {2, 3}));
  EXPECT_VALUE(IndexedPut(M23(), T1<uint8_t>({1, 2}), 0, {0, 1}),
               I({1, 2, 3, 4, 5, 0}, {2, 3}));
  EXPECT_VALUE(IndexedPut(M23(), T1<uint8_t>({2, 1}), 0, {1, 0}),
               I({1, 2, 3, 4, 5, 0}, {2, 3}));
  EXPECT_EQ(IndexedAdd(M23(), rows, T1<float>({1})).dtype(), DType::kF32);
  EXPECT_EQ(IndexedAdd(T1<bool>({true}), TN<int32_t>({0}, {1, 1}), true)
                .dtype(),
            DType::kU8);
  EXPECT_EQ(IndexedPut(T1<bool>({true}), TN<int32_t>({0}, {1, 1}), false)
                .dtype(),
            DType::kBool);
  EXPECT_FALSE(IndexedAdd(M23(), Scalar(0), 1).status().ok());
  EXPECT_FALSE(IndexedAdd(M23(), rows, 1, {2}).status().ok());
  EXPECT_FALSE(IndexedPut(M23(), rows, 1, {0, 1}).status().ok());
  EXPECT_FALSE(IndexedPut(M23(), rows, T1<int32_t>({1, 2})).status().ok());
  EXPECT_FALSE(IndexedPut(M23(), T1<float>({0}), 1).status().ok());
}

}  // namespace
}  // namespace hawser
