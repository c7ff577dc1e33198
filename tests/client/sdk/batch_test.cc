// Batch buckets: padding, cutting back, and what is refused.
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class BatchTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

// [n, 3] with element i the number i.
Literal Counting(int64_t n) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kF32, {n, 3}));
  auto to = out.mutable_data<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(i);
  return out;
}
// Row sums of Counting(n), plus `add`.
Literal RowSums(int64_t n, float add) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
  auto to = out.mutable_data<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = 9 * i + 3 + add;
  return out;
}

Tensor SumRows(Tensor w, Tensor x) { return Dot(x, w) + 1; }
Tensor Weights() { return T1<float>({1, 1, 1}); }

TEST_F(BatchTest, AFewExecutablesServeEveryBatch) {
  const auto f = Jit(SumRows, {.batch_buckets = {1, 4, 8}});
  for (int64_t n : {1, 2, 3, 4, 5, 8, 7, 2}) {
    ASSERT_OK_AND_ASSIGN(const Tensor y,
                         f.Call(Weights(), Batched(Counting(n))));
    EXPECT_VALUE(y, RowSums(n, 1));
  }
  EXPECT_EQ(counting_->compiles, 3);
  EXPECT_EQ(counting_->module()->signature().parameters[1],
            Shape::Of(DType::kF32, {8, 3}));
}

TEST_F(BatchTest, EmptyBatches) {
  const auto f = Jit(SumRows, {.batch_buckets = {1, 4}});
  ASSERT_OK_AND_ASSIGN(const Tensor none,
                       f(Weights(), Batched(Counting(0))));
  EXPECT_VALUE(none, RowSums(0, 1));
}

TEST_F(BatchTest, ValuesOnAClientArePaddedThere) {
  const auto f = Jit(SumRows, {.batch_buckets = {4}});
  const Tensor there = Constant(Counting(3)) + 0;
  ASSERT_OK(there.Eval());
  const Tensor recorded = Constant(Counting(3)) * 1;
  for (const Tensor& x : {there, recorded, Constant(Counting(3))}) {
    ASSERT_OK_AND_ASSIGN(const Tensor y, f(Weights(), Batched(x)));
    EXPECT_EQ(y.shape(), Shape::Of(DType::kF32, {3}));
    EXPECT_VALUE(y, RowSums(3, 1));
    EXPECT_VALUE(x, Counting(3));
  }
}

TEST_F(BatchTest, OnlyResultsWithTheBatchAreCut) {
  // w has as many rows as the bucket, and stays whole.
  const auto f = Jit(
      [](Tensor w, Tensor x) {
        return std::tuple(w * 2, x + 1, Sum(x, {.axes = {1}}));
      },
      {.batch_buckets = {4}});
  ASSERT_OK_AND_ASSIGN(
      const auto r, f.Call(T1<float>({1, 2, 3, 4}), Batched(Counting(2))));
  EXPECT_VALUE(std::get<0>(r), Literal::Vector<float>({2, 4, 6, 8}));
  EXPECT_VALUE(std::get<1>(r), Literal::Of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_VALUE(std::get<2>(r), Literal::Vector<float>({3, 12}));
}

TEST_F(BatchTest, StructuresAreMarkedWhole) {
  const auto f = Jit(
      [](std::pair<Tensor, Tensor> xy) { return xy.first * xy.second; },
      {.batch_buckets = {4}});
  ASSERT_OK_AND_ASSIGN(const Tensor y,
                       f(Batched(std::pair(T1<float>({1, 2, 3}),
                                           T1<float>({4, 5, 6})))));
  EXPECT_VALUE(y, Literal::Vector<float>({4, 10, 18}));
}

TEST_F(BatchTest, MarksMeanNothingWithoutBuckets) {
  const auto mean = Jit([](Tensor x) { return Mean(x); });
  ASSERT_OK_AND_ASSIGN(const Tensor y, mean(Batched(T1<float>({1, 3}))));
  EXPECT_VALUE(y, Literal::Scalar<float>(2));
  // Inside another trace the function is simply called.
  const auto rows = Jit(SumRows, {.batch_buckets = {4}});
  const auto outer = Jit([&](Tensor w, Tensor x) {
    return Sum(*rows(w, Batched(x)));
  });
  ASSERT_OK_AND_ASSIGN(const Tensor z, outer(Weights(), Counting(2)));
  EXPECT_VALUE(z, Literal::Scalar<float>(4 + 13));
}

TEST_F(BatchTest, ADonatedBatchIsGone) {
  const auto f = Jit(SumRows, {.batch_buckets = {4}});
  const Tensor there = Constant(Counting(3)) + 0;
  ASSERT_OK(there.Eval());
  const Tensor host = Constant(Counting(3));
  for (const Tensor& x : {there, host}) {
    ASSERT_OK_AND_ASSIGN(const Tensor y, f(Weights(), Batched(Donate(x))));
    EXPECT_VALUE(y, RowSums(3, 1));
    EXPECT_THAT(x.Fetch(),
                StatusIs(StatusCode::kFailedPrecondition, "donated"));
  }
}

TEST_F(BatchTest, AFailedExecutionLeavesTheBatch) {
  const auto f = Jit(SumRows, {.batch_buckets = {4}});
  const Tensor x = Constant(Counting(3));
  ASSERT_OK(f.Warm(Weights(), Batched(x)));
  counting_->fail_execute = true;
  EXPECT_FALSE(f(Weights(), Donate(Batched(x))).ok());
  counting_->fail_execute = false;
  EXPECT_VALUE(x, Counting(3));
}

TEST_F(BatchTest, WarmTakesShapes) {
  const auto f = Jit(SumRows, {.batch_buckets = {1, 8}});
  ASSERT_OK(f.Warm(Weights(), Batched(Shape::Of(DType::kF32, {5, 3}))));
  EXPECT_EQ(counting_->compiles, 1);
  ASSERT_OK(f.Call(Weights(), Batched(Counting(7))));
  EXPECT_EQ(counting_->compiles, 1);
}

// ---- functions that are row by row ------------------------------------------

TEST_F(BatchTest, ANetworkIsRowByRow) {
  const auto f = Jit(
      [](Tensor w, Tensor b, Tensor table, Tensor x, Tensor label) {
        const Tensor image = Reshape(x, {x.dim(0), 2, 3});
        const Tensor swapped = Transpose(image, {0, 2, 1});
        Tensor hidden = Reshape(swapped, {x.dim(0), 6}) + b;
        hidden = Maximum(Dot(hidden, w), 0) + Zeros(DType::kF32, {x.dim(0), 1});
        const Tensor near = Take(table, label);
        const Tensor position = Iota(DType::kF32, {x.dim(0)});
        return std::tuple(Softmax(hidden + near), ArgMax(hidden, {.axis = 1}),
                          position);
      },
      {.batch_buckets = {8}});
  const auto exact = [&](int64_t n) {
    const Tensor x = Reshape(Iota(DType::kF32, {n * 6}), {n, 6}) * 0.1;
    return std::tuple(Ones(DType::kF32, {6, 4}) * 0.2, T1<float>({0.5f}),
                      Iota(DType::kF32, {10, 4}), x,
                      Iota(DType::kS32, {n}));
  };
  const auto plain = std::apply(
      [&](const Tensor& w, const Tensor& b, const Tensor& table,
          const Tensor& x, const Tensor& label) {
        return f(w, b, table, Batched(x), Batched(label));
      },
      exact(5));
  ASSERT_OK(plain);
  const auto& [softmax, largest, position] = *plain;
  EXPECT_EQ(softmax.shape(), Shape::Of(DType::kF32, {5, 4}));
  EXPECT_VALUE(position, Literal::Vector<float>({0, 1, 2, 3, 4}));
  EXPECT_NEAR_VALUE(Sum(softmax, {.axes = {1}}), 1e-6,
                    Literal::Vector<float>({1, 1, 1, 1, 1}));
}

TEST_F(BatchTest, LoopsAndBranchesAreSeenThrough) {
  const auto f = Jit(
      [](Tensor flag, Tensor x) {
        const auto [i, y] = While(
            std::tuple(0, x), [](Tensor i, Tensor) { return Lt(i, 3); },
            [](Tensor i, Tensor y) { return std::tuple(i + 1, y * 2); });
        return Cond(flag, [y = y] { return y; }, [&] { return -x; });
      },
      {.batch_buckets = {4}});
  const Tensor x = T1<float>({1, 2, 3});
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(true, Batched(x)));
  EXPECT_VALUE(y, Literal::Vector<float>({8, 16, 24}));
  const auto mixing = Jit(
      [](Tensor flag, Tensor x) {
        return Cond(flag, [&] { return x; }, [&] { return x - Mean(x); });
      },
      {.batch_buckets = {4}});
  EXPECT_THAT(mixing(true, Batched(x)),
              StatusIs(StatusCode::kInvalidArgument, "reduces over the batch"));
}

TEST_F(BatchTest, WhatNoResultNeedsMayMixRows) {
  const auto f = Jit(
      [](Tensor x) {
        (void)Mean(x);
        return x * 2;
      },
      {.batch_buckets = {4}});
  EXPECT_OK(f(Batched(T1<float>({1, 2}))));
}

struct Mixing {
  const char* name;
  Tensor (*fn)(Tensor x);
  const char* why;
};
const Mixing kMixing[] = {
    {"mean", [](Tensor x) { return Mean(x); }, "reduces over the batch"},
    {"centred", [](Tensor x) { return x - Mean(x, {.axes = {0}}); },
     "reduces over the batch"},
    {"contracted", [](Tensor x) { return Dot(Transpose(x), x); },
     "reduces over the batch"},
    {"reversed", [](Tensor x) { return Reverse(x, {0}); },
     "takes the batch apart"},
    {"one row",
     [](Tensor x) {
       return Slice(x, {0, 0}, {1, 3});
     },
     "takes the batch apart"},
    {"flattened", [](Tensor x) { return Reshape(x, {-1}); },
     "attribute dims depends on how many rows there are"},
    {"joined",
     [](Tensor x) {
       return Concatenate({x, x}, 0);
     },
     "the batch is not one axis of"},
    {"by value", [](Tensor x) { return Take(x, Scalar(1)); },
     "picks rows of the batch by value"},
    {"its size", [](Tensor x) { return x / static_cast<float>(x.dim(0)); },
     "depends on how many rows there are"},
    {"its size chooses", [](Tensor x) { return x.dim(0) > 4 ? x + 1 : Exp(x); },
     "depends on how many rows there are"},
    {"every pair", [](Tensor x) { return Dot(x, Transpose(x)); },
     "the batch is not one axis of"},
    {"not in front", [](Tensor x) { return Transpose(x); },
     "must have it as axis 0"},
    {"ranks", [](Tensor x) { return ArgMax(x, {.axis = 0}); },
     "reduces over the batch"},
};

TEST_F(BatchTest, FunctionsThatMixRowsAreRefused) {
  for (const Mixing& mixing : kMixing) {
    const auto f = Jit(mixing.fn, {.batch_buckets = {4}});
    const auto y = f(Batched(Counting(3)));
    EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument, mixing.why))
        << mixing.name;
    EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument, "row by row"))
        << mixing.name;
  }
  EXPECT_EQ(counting_->executions, 0);
}

TEST_F(BatchTest, ARefusalNamesTheUsersLine) {
  const int line = __LINE__ + 2;
  const auto f = Jit([](Tensor x) {
    return x - ReduceMax(x);
  }, {.batch_buckets = {4}});
  EXPECT_THAT(f(Batched(T1<float>({1, 2}))),
              StatusIs(StatusCode::kInvalidArgument,
                       absl::StrCat("batch_test.cc:", line)));
}

TEST_F(BatchTest, AnUnmarkedArgumentOfTheSameSizeIsNoBatch) {
  // At the bucket's size the two would broadcast; at the caller's they do not.
  const auto f = Jit([](Tensor b, Tensor x) { return x + b; },
                     {.batch_buckets = {4}});
  EXPECT_THAT(f(T1<float>({1, 2, 3, 4}), Batched(T1<float>({1, 2, 3}))),
              StatusIs(StatusCode::kInvalidArgument, "do not broadcast"));
}

// ---- calls that are refused ---------------------------------------------------

TEST_F(BatchTest, CallsThatAreRefused) {
  const auto f = Jit(SumRows, {.batch_buckets = {2, 4}});
  EXPECT_THAT(f(Weights(), Counting(3)),
              StatusIs(StatusCode::kInvalidArgument, "that is marked"));
  EXPECT_THAT(f(Weights(), Counting(3)),
              StatusIs(StatusCode::kInvalidArgument,
                       absl::StrCat("calling the function of ", __FILE__)));
  EXPECT_THAT(f(Weights(), Batched(Counting(5))),
              StatusIs(StatusCode::kInvalidArgument,
                       "5 rows is above the largest of batch_buckets [2,4]"));
  EXPECT_THAT(f(Weights(), Batched(1.0f)),
              StatusIs(StatusCode::kInvalidArgument, "argument 1 is Batched"));
  EXPECT_THAT(f(Batched(Weights()), Batched(Counting(2))),
              StatusIs(StatusCode::kInvalidArgument, "argument 1 has 2 rows"));
  for (const std::vector<int64_t>& bad :
       {std::vector<int64_t>{0, 4}, {4, 4}, {8, 4}, {-1}}) {
    const auto g = Jit(SumRows, {.batch_buckets = bad});
    EXPECT_THAT(g(Weights(), Batched(Counting(1))),
                StatusIs(StatusCode::kInvalidArgument, "positive and ascend"));
  }
  EXPECT_EQ(counting_->compiles, 0);
}

}  // namespace
}  // namespace hawser
