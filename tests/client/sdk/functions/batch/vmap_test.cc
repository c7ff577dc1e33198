#include "client/sdk/functions/batch/vmap.h"

#include <optional>
#include <tuple>
#include <vector>

#include "client/sdk/functions/batch/jacobian.h"
#include "client/sdk/ops/random/distributions.h"
#include "client/sdk/ops/random/keys.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class VmapTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

// f of each entry along axis 0, outside and inside of Jit.
template <typename Fn>
void ExpectOfEach(Fn f, const Tensor& xs) {
  std::vector<Tensor> each;
  for (int64_t b = 0; b < xs.dim(0); ++b) each.push_back(f(xs[b]));
  ASSERT_OK_AND_ASSIGN(const Literal want, Stack(each).Fetch());
  const Tolerance near{.rtol = 1e-6};
  ASSERT_OK_AND_ASSIGN(const Literal recorded, Vmap(f)(xs).Fetch());
  EXPECT_THAT(recorded, LiteralNear(want, near));
  auto jit = Jit(Vmap(f));
  ASSERT_OK_AND_ASSIGN(const Tensor traced, jit(xs));
  ASSERT_OK_AND_ASSIGN(const Literal got, traced.Fetch());
  EXPECT_THAT(got, LiteralNear(want, near));
}

Tensor Batch3() { return TN<float>({1, -2, 3, 0.5f, -0.25f, 4}, {3, 2}); }

TEST_F(VmapTest, OfEachEntry) {
  ExpectOfEach([](Tensor x) { return Sum(Tanh(x) * x); }, Batch3());
  ExpectOfEach([](Tensor x) { return Stack({x, Reverse(x)}, 1); }, Batch3());
  ExpectOfEach([](Tensor x) { return Softmax(x); }, Batch3());
  ExpectOfEach([](Tensor x) { return Sort(x); }, Batch3());
}

TEST_F(VmapTest, SharesWhatHasNoAxisAndIsCaptured) {
  const Tensor w = TN<float>({1, 2, 3, 4}, {2, 2}), xs = Batch3();
  const auto f = [](Tensor w, Tensor x) { return Dot(w, x); };
  const Literal want = Literal::Of<float>({-3, -5, 4, 11, 7.75f, 15.25f},
                                          {3, 2});
  EXPECT_VALUE(Vmap(f, {.in_axes = {std::nullopt, 0}})(w, xs), want);
  EXPECT_VALUE(Vmap([&](Tensor x) { return Dot(w, x); })(xs), want);
  auto jit = Jit([&](Tensor w, Tensor xs) {
    return Vmap([&](Tensor x) { return Dot(w, x); })(xs);
  });
  ASSERT_OK_AND_ASSIGN(const Tensor got, jit(w, xs));
  EXPECT_VALUE(got, want);
}

TEST_F(VmapTest, TakesAndGivesAnyAxis) {
  const Tensor xs = TN<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto f = [](Tensor x) { return x * x; };
  const Literal along1 = Literal::Of<float>({1, 4, 9, 16, 25, 36}, {2, 3});
  const Literal along0 = Literal::Of<float>({1, 16, 4, 25, 9, 36}, {3, 2});
  EXPECT_VALUE(Vmap(f, {.in_axes = {1}})(xs), along0);
  EXPECT_VALUE(Vmap(f, {.in_axes = {-1}, .out_axis = 1})(xs), along1);
  EXPECT_VALUE(Vmap(f, {.in_axes = {1}, .out_axis = -1})(xs), along1);
}

TEST_F(VmapTest, ArgumentsAndResultsAreStructures) {
  using Pair = std::pair<Tensor, std::vector<Tensor>>;
  const auto f = [](Pair p, Tensor y) {
    return std::tuple(p.first + p.second[0], Pair{y, {y * 2}});
  };
  const auto [sum, pair] = Vmap(f, {.in_axes = {0, std::nullopt}})(
      Pair{T1<float>({1, 2}), {T1<float>({10, 20})}}, 5.0f);
  EXPECT_VALUE(sum, F({11, 22}));
  EXPECT_VALUE(pair.first, F({5, 5}));
  EXPECT_VALUE(pair.second[0], F({10, 10}));
}

TEST_F(VmapTest, OfVmap) {
  const Tensor xs = T1<float>({1, 2, 3}), ys = T1<float>({10, 20});
  const auto f = [](Tensor x, Tensor y) { return x + y; };
  const auto table = Vmap(Vmap(f, {.in_axes = {std::nullopt, 0}}),
                          {.in_axes = {0, std::nullopt}});
  const Literal want =
      Literal::Of<float>({11, 21, 12, 22, 13, 23}, {3, 2});
  EXPECT_VALUE(table(xs, ys), want);
  auto jit = Jit(table);
  ASSERT_OK_AND_ASSIGN(const Tensor got, jit(xs, ys));
  EXPECT_VALUE(got, want);
  EXPECT_VALUE(Vmap(Jit(f))(xs, xs), F({2, 4, 6}));
}

TEST_F(VmapTest, OfGradAndGradOfVmap) {
  const auto f = [](Tensor x) { return Sum(x * x * x); };
  ExpectOfEach(Grad(f), Batch3());
  ASSERT_OK_AND_ASSIGN(const Literal want, Vmap(Grad(f))(Batch3()).Fetch());
  EXPECT_VALUE(Grad([&](Tensor xs) { return Sum(Vmap(f)(xs)); })(Batch3()),
               want);
  // By what all entries share: summed over them.
  const auto by_w = Grad([](Tensor w, Tensor xs) {
    return Sum(Vmap([&](Tensor x) { return w * x; })(xs));
  });
  EXPECT_VALUE(by_w(Scalar(2.0f), T1<float>({1, 2, 4})),
               Literal::Scalar(7.0f));
}

TEST_F(VmapTest, PerExampleGradients) {
  const auto loss = [](Tensor w, Tensor x, Tensor y) {
    return Square(Dot(w, x) - y);
  };
  const Tensor w = T1<float>({1, -1}), ys = T1<float>({0, 1, 2});
  const auto both = Vmap(ValueAndGrad(loss), {.in_axes = {std::nullopt, 0, 0}});
  const auto [values, gradients] = both(w, Batch3(), ys);
  EXPECT_VALUE(values, F({9, 2.25f, 39.0625f}));
  EXPECT_VALUE(gradients, Literal::Of<float>({6, -12, 9, 1.5f, 3.125f, -50},
                                             {3, 2}));
}

TEST_F(VmapTest, OfLoopsThatCount) {
  ExpectOfEach(
      [](Tensor x) {
        return For(3, x, [](Tensor i, Tensor y) { return y * y + i; });
      },
      Batch3());
  ExpectOfEach(
      [](Tensor x) {
        auto [last, all] = Scan(Scalar(0.0f), x, [](Tensor sum, Tensor e) {
          sum = sum * 0.5f + e;
          return std::pair(sum, sum);
        });
        return all * last;
      },
      Batch3());
}

TEST_F(VmapTest, OfGradOfLoops) {
  const auto f = [](Tensor x) {
    return Sum(For(3, x, [](Tensor, Tensor y) { return Sin(y) * y; }));
  };
  ExpectOfEach(Grad(f), Batch3());
  ASSERT_OK_AND_ASSIGN(const Literal want, Vmap(Grad(f))(Batch3()).Fetch());
  EXPECT_NEAR_VALUE(
      Grad([&](Tensor xs) { return Sum(Vmap(f)(xs)); })(Batch3()), 1e-6, want);
}

TEST_F(VmapTest, OfWhileEndsEachEntryAtItsTurn) {
  const auto halvings = [](Tensor n) {
    auto [left, count] = While(
        std::tuple(n, 0), [](Tensor left, Tensor) { return Gt(left, 0); },
        [](Tensor left, Tensor count) {
          return std::tuple(left / 2 - 0.25f, count + 1);
        });
    return count * 100 + Convert(left, DType::kS32);
  };
  ExpectOfEach(halvings, T1<float>({0, 1, 100, 3, -5}));
}

TEST_F(VmapTest, OfCondAndSwitchTakesEachItsBranch) {
  ExpectOfEach(
      [](Tensor x) {
        return Cond(
            Gt(Sum(x), 0), [&] { return 1 / x; }, [&] { return -x; });
      },
      Batch3());
  ExpectOfEach(
      [](Tensor kind) {
        const Tensor x = T1<float>({1, 2});
        return Switch(
            kind, [&] { return x; }, [&] { return x * 2; },
            [&] { return Convert(kind, DType::kF32) * x; });
      },
      T1<int32_t>({0, 1, 2, 7, -1}));
}

TEST_F(VmapTest, OfSlicesAtStartsOfEachEntry) {
  const Tensor table = TN<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  ExpectOfEach([&](Tensor i) { return SliceAlongAxis(table, i, 2, 0); },
               T1<int32_t>({0, 2, 9, -1}));
  ExpectOfEach([&](Tensor i) { return Take(table, i); },
               TN<int32_t>({0, 3, 1, 1}, {2, 2}));
  ExpectOfEach(
      [&](Tensor i) {
        const std::vector<Operand> starts = {Operand(i), Operand(1)};
        return PutSlice(table, starts, TN<float>({-1, -2}, {2, 1}));
      },
      T1<int32_t>({0, 1, 5}));
}

TEST_F(VmapTest, RandomNumbersAreThoseOfEachKey) {
  ExpectOfEach([](Tensor key) { return RandomNormal(key, {4}); },
               RandomSplit(RandomKey(7), 3));
  ExpectOfEach([](Tensor key) { return RandomUniform(key, {2, 3}); },
               RandomSplit(RandomKey(1), 2));
}

TEST_F(VmapTest, OfABatchOfNone) {
  const Tensor none = Zeros(DType::kF32, {0, 2});
  const auto f = [](Tensor x) { return std::pair(Sum(x), Sort(x)); };
  const auto [sums, sorted] = Vmap(f)(none);
  EXPECT_VALUE(sums, Literal::Zeros(Shape::Of(DType::kF32, {0})));
  EXPECT_VALUE(sorted, Literal::Zeros(Shape::Of(DType::kF32, {0, 2})));
}

TEST_F(VmapTest, OfCheckpointAndOfAGradientOfOnesOwn) {
  const auto block =
      Checkpoint([](Tensor x) { return Sum(Tanh(x) * x); });
  ExpectOfEach(Grad(block), Batch3());
  const auto clipped =
      CustomGrad([](Tensor x) { return x * x; },
                 [](Tensor g, Tensor x) { return Clip(g * 2 * x, -1, 1); });
  const Tensor xs = T1<float>({0.25f, -3, 5});
  EXPECT_VALUE(Vmap(Grad(clipped))(xs), F({0.5f, -1, 1}));
  EXPECT_VALUE(Grad([&](Tensor xs) { return Sum(Vmap(clipped)(xs)); })(xs),
               F({0.5f, -1, 1}));
}

TEST_F(VmapTest, PrintWritesAllEntries) {
  const auto f = Jit(Vmap([](Tensor x) {
    return While(x, [](Tensor y) { return Lt(Print(y, "y"), 4); },
                 [](Tensor y) { return Print(y * 2, "twice"); });
  }));
  testing::internal::CaptureStderr();
  const auto got = f(T1<float>({1, 3, 9}));
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_OK(got);
  EXPECT_VALUE(*got, F({4, 6, 9}));
  EXPECT_THAT(said, testing::HasSubstr("twice = f32[3] {"));
  EXPECT_THAT(said, testing::HasSubstr("y = f32[3] {4, 6, 9}"));
}

TEST_F(VmapTest, IsOneExecutionOfOneExecutable) {
  auto jit = Jit(Vmap([](Tensor x) { return Sum(x * x); }));
  for (int i = 0; i < 3; ++i) ASSERT_OK(jit(Batch3()));
  EXPECT_EQ(counting_->compiles, 1);
}

// ---- errors -----------------------------------------------------------------

Tensor Identity(Tensor x) { return x; }
Tensor Added(Tensor x, Tensor y) { return x + y; }

void ExpectVmapError(const Tensor& tensor, const char* part) {
  const absl::Status status = tensor.status();
  EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, part));
  EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, "Vmap: "));
  EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, "vmap_test.cc:"));
}

TEST_F(VmapTest, ErrorsNameArgumentShapesAndLine) {
  const Tensor x = T1<float>({1, 2, 3}), y = T1<float>({1, 2});
  ExpectVmapError(Vmap(Added)(x, y),
                  "argument 1 has 2 entries, along axis 0 of f32[2], argument 0 "
                  "has 3, along axis 0 of f32[3]");
  ExpectVmapError(Vmap(Identity, {.in_axes = {1}})(x),
                  "argument 0 has a f32[3], which has no axis 1");
  ExpectVmapError(Vmap(Identity)(Scalar(1.0f)), "no axis 0");
  ExpectVmapError(
      Vmap(Added, {.in_axes = {std::nullopt, std::nullopt}})(x, x),
      "no argument has entries");
  ExpectVmapError(Vmap(Added, {.in_axes = {0}})(x, x),
                  "in_axes is of 1 arguments, there are 2");
  ExpectVmapError(Vmap(Identity, {.out_axis = 1})(x), "out_axis 1");
}

TEST_F(VmapTest, ErrorsOfTheFunctionAreItsOwn) {
  const Tensor got =
      Vmap([](Tensor x) { return Dot(x, T1<float>({1, 2, 3})); })(Batch3());
  EXPECT_THAT(got.status(), StatusIs(StatusCode::kInvalidArgument, "Dot: "));
  const auto [a, b] = Vmap([](Tensor x) {
    return std::pair(Reshape(x, {7}), x);
  })(Batch3());
  EXPECT_THAT(a.status(), StatusIs(StatusCode::kInvalidArgument, "Reshape"));
  EXPECT_THAT(b.status(), StatusIs(StatusCode::kInvalidArgument, "Reshape"));
}

TEST_F(VmapTest, ErrorsInJitComeOutOfTheCall) {
  auto jit = Jit(Vmap(Added));
  EXPECT_THAT(jit(T1<float>({1}), T1<float>({1, 2})),
              StatusIs(StatusCode::kInvalidArgument, "Vmap: argument 1 has 2"));
}

// ---- Jacobian and Hessian ---------------------------------------------------

TEST_F(VmapTest, JacobianIsAllDerivatives) {
  const Tensor w = TN<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor x = T1<float>({7, 8});
  const auto f = [](Tensor x, Tensor w) { return Dot(w, x); };
  EXPECT_VALUE(Jacobian(f)(x, w), Literal::Of<float>({1, 2, 3, 4, 5, 6},
                                                     {3, 2}));
  EXPECT_VALUE(Jacobian<1>(f)(x, w),
               Literal::Of<float>({7, 8, 0, 0, 0, 0,  //
                                   0, 0, 7, 8, 0, 0,  //
                                   0, 0, 0, 0, 7, 8},
                                  {3, 3, 2}));
  auto jit = Jit(Jacobian(f));
  ASSERT_OK_AND_ASSIGN(const Tensor got, jit(x, w));
  EXPECT_VALUE(got, Literal::Of<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
}

TEST_F(VmapTest, JacobianOfAScalarIsTheGradient) {
  const auto f = [](Tensor x) { return Sum(x * x); };
  EXPECT_VALUE(Jacobian(f)(T1<float>({1, -2})), F({2, -4}));
}

TEST_F(VmapTest, HessianIsTheSecondDerivatives) {
  const auto f = [](Tensor x) { return Product(x) + Sum(x * x * x); };
  const Tensor x = T1<float>({1, 2, 3});
  const Literal want =
      Literal::Of<float>({6, 3, 2, 3, 12, 1, 2, 1, 18}, {3, 3});
  EXPECT_NEAR_VALUE(Hessian(f)(x), 1e-6, want);
  auto jit = Jit(Hessian(f));
  ASSERT_OK_AND_ASSIGN(const Tensor got, jit(x));
  EXPECT_NEAR_VALUE(got, 1e-6, want);
  // Of each entry of a batch.
  const Tensor of_each = Vmap(Hessian(f))(TN<float>({1, 2, 3, 0, 1, 1}, {2, 3}));
  EXPECT_NEAR_VALUE(of_each[0], 1e-6, want);
}

TEST_F(VmapTest, JacobianRefusesWhatHasNone) {
  const Tensor x = T1<float>({1, 2});
  const auto pair = [](Tensor x) { return std::pair(x, x); };
  EXPECT_THAT(Jacobian(pair)(x).status(),
              StatusIs(StatusCode::kInvalidArgument, "gives 2 tensors"));
  EXPECT_THAT(Jacobian(Identity)(T1<int32_t>({1})).status(),
              StatusIs(StatusCode::kInvalidArgument, "must be of floats"));
  EXPECT_THAT(Hessian([](Tensor x) { return Sum(Reshape(x, {7})); })(x).status(),
              StatusIs(StatusCode::kInvalidArgument, "Reshape"));
}

}  // namespace
}  // namespace hawser
