#include "client/sdk/functions/control_flow.h"

#include <tuple>
#include <vector>

#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class ControlFlow : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

// x doubled `turns` times, with captures in condition and body.
Tensor DoubleTimes(const Tensor& x, const Tensor& turns) {
  const Tensor factor = turns * 0 + 2;
  auto [i, y] = While(
      std::tuple(0, x), [&](Tensor i, Tensor) { return Lt(i, turns); },
      [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * factor); });
  return y;
}

TEST_F(ControlFlow, WhileInAJitLiftsCaptures) {
  auto f = Jit(DoubleTimes);
  for (int turns : {0, 1, 5}) {
    ASSERT_OK_AND_ASSIGN(const Tensor y, f(T1<int32_t>({1, 3}), turns));
    EXPECT_VALUE(y, Literal::Vector<int32_t>({1 << turns, 3 << turns}));
  }
  EXPECT_EQ(counting_->compiles, 1);
}

TEST_F(ControlFlow, WhileOutsideIsRecorded) {
  for (int turns : {0, 1, 5}) {
    const Tensor y = DoubleTimes(T1<int32_t>({1, 3}), Scalar(turns));
    EXPECT_VALUE(y, Literal::Vector<int32_t>({1 << turns, 3 << turns}));
  }
  EXPECT_EQ(counting_->compiles, 1);
}

TEST_F(ControlFlow, StateMayBeOneTensorAVectorOrNumbers) {
  const Tensor n = While(
      1, [](Tensor n) { return Lt(n, 100); }, [](Tensor n) { return n * 3; });
  EXPECT_VALUE(n, Literal::Scalar<int32_t>(243));
  const auto list = While(
      std::vector<Tensor>{Scalar(1), Scalar(1)},
      [](std::vector<Tensor> s) { return Lt(s[0], 50); },
      [](std::vector<Tensor> s) {
        return std::vector<Tensor>{s[0] + s[1], s[0]};
      });
  EXPECT_VALUE(list[0], Literal::Scalar<int32_t>(55));
  EXPECT_VALUE(list[1], Literal::Scalar<int32_t>(34));
}

TEST_F(ControlFlow, BodyMayReturnWhatItCaptures) {
  const Tensor constant = T1<float>({7});
  auto f = Jit([](Tensor x, Tensor y) {
    const auto [i, z] =
        While(std::tuple(0, x), [](Tensor i, Tensor) { return Lt(i, 1); },
              [&](Tensor i, Tensor) { return std::tuple(i + 1, y); });
    return z;
  });
  ASSERT_OK_AND_ASSIGN(const Tensor z, f(T1<float>({1}), constant));
  EXPECT_VALUE(z, Literal::Vector<float>({7}));
}

TEST_F(ControlFlow, LoopsNestAndCaptureFromEveryLevel) {
  // sum over i < n, j < i of (a + i * j)
  const auto nested = [](Tensor a, Tensor n) {
    const auto [i, total] = While(
        std::tuple(0, 0), [&](Tensor i, Tensor) { return Lt(i, n); },
        [&](Tensor i, Tensor total) {
          const auto [j, sum] = While(
              std::tuple(0, total),
              [&](Tensor j, Tensor) { return Lt(j, i); },
              [&](Tensor j, Tensor sum) {
                const Tensor term =
                    Cond(Eq(n, 0), [&] { return n; },
                         [&] { return a + i * j; });
                return std::tuple(j + 1, sum + term);
              });
          return std::tuple(i + 1, sum);
        });
    return total;
  };
  int want = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < i; ++j) want += 10 + i * j;
  }
  ASSERT_OK_AND_ASSIGN(const Tensor traced, Jit(nested)(10, 5));
  EXPECT_VALUE(traced, Literal::Scalar<int32_t>(want));
  EXPECT_VALUE(nested(Scalar(10), Scalar(5)), Literal::Scalar<int32_t>(want));
}

TEST_F(ControlFlow, CondRunsOneBranch) {
  const auto f = [](Tensor x) {
    return Cond(Gt(Sum(x), 0), [&] { return std::pair(x, x * 2); },
                [&] { return std::pair(-x, x); });
  };
  auto jitted = Jit(f);
  ASSERT_OK_AND_ASSIGN(const auto positive, jitted(T1<float>({1, 2})));
  EXPECT_VALUE(positive.second, Literal::Vector<float>({2, 4}));
  ASSERT_OK_AND_ASSIGN(const auto negative, jitted(T1<float>({-1, -2})));
  EXPECT_VALUE(negative.first, Literal::Vector<float>({1, 2}));
  EXPECT_EQ(counting_->compiles, 1);
  EXPECT_VALUE(f(T1<float>({-1, -2})).second, Literal::Vector<float>({-1, -2}));
}

TEST_F(ControlFlow, CondTakesNumbersAndIntegersAsPredicates) {
  const auto pick = [](const Operand& p) {
    return Cond(p, [] { return Scalar(1); }, [] { return Scalar(2); });
  };
  EXPECT_VALUE(pick(true), Literal::Scalar<int32_t>(1));
  EXPECT_VALUE(pick(false), Literal::Scalar<int32_t>(2));
  EXPECT_VALUE(pick(Scalar(-7)), Literal::Scalar<int32_t>(1));
}

TEST_F(ControlFlow, BranchesMayCaptureDifferentThings) {
  auto f = Jit([](Tensor p, Tensor a, Tensor b, Tensor c) {
    return Cond(p, [&] { return a + b; }, [&] { return c * b - a; });
  });
  ASSERT_OK_AND_ASSIGN(const Tensor yes, f(true, 2, 3, 5));
  EXPECT_VALUE(yes, Literal::Scalar<int32_t>(5));
  ASSERT_OK_AND_ASSIGN(const Tensor no, f(false, 2, 3, 5));
  EXPECT_VALUE(no, Literal::Scalar<int32_t>(13));
}

TEST_F(ControlFlow, SwitchRunsTheNumberedBranch) {
  const auto choose = [](Tensor kind, Tensor a, Tensor b) {
    return Switch(
        kind, [&] { return std::pair(a, b); }, [&] { return std::pair(b, a); },
        [&] { return std::pair(a * b, a - b); });
  };
  auto jitted = Jit(choose);
  const int firsts[] = {7, 5, 35, 35};
  for (int kind : {0, 1, 2, 3}) {
    ASSERT_OK_AND_ASSIGN(const auto both, jitted(kind, 7, 5));
    EXPECT_VALUE(both.first, Literal::Scalar<int32_t>(firsts[kind]));
    EXPECT_VALUE(choose(Scalar(kind), Scalar(7), Scalar(5)).first,
                 Literal::Scalar<int32_t>(firsts[kind]));
  }
  EXPECT_EQ(counting_->compiles, 2);
  // Out of range, at every width, names the last.
  for (const Tensor& far :
       {Scalar(-1), Scalar(int64_t{-5}), Scalar(int64_t{1} << 32),
        Scalar(UINT64_MAX), Scalar(UINT32_MAX), Scalar(DType::kU8, 200)}) {
    EXPECT_VALUE(choose(far, Scalar(7), Scalar(5)).second,
                 Literal::Scalar<int32_t>(2));
  }
}

// ---- errors ---------------------------------------------------------------

TEST_F(ControlFlow, SwitchRefusesWhatIsNoNumberOfABranch) {
  const auto one = [] { return Scalar(1); };
  EXPECT_THAT(Switch(1.5f, one, one).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Switch: the index must be an integer, not f32"));
  EXPECT_THAT(Switch(true, one, one).status(),
              StatusIs(StatusCode::kInvalidArgument, "not bool"));
  EXPECT_THAT(Switch(T1<int32_t>({1}), one, one).status(),
              StatusIs(StatusCode::kInvalidArgument, "case: C"));
  EXPECT_THAT(Switch(0, one, one, [] { return Scalar(1.5f); }).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "the branches give s32[] and f32[]"));
  EXPECT_THAT(Switch(Tensor(), one, one).status(),
              StatusIs(StatusCode::kFailedPrecondition, "never given"));
}

TEST_F(ControlFlow, AStateThatChangesIsAnError) {
  const Tensor bad = While(
      0, [](Tensor i) { return Lt(i, 3); }, [](Tensor i) { return i + 0.5; });
  EXPECT_THAT(bad.status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "While: the body gives f32[] for state 0, which is"));
  EXPECT_THAT(bad.status(), StatusIs(StatusCode::kInvalidArgument, "_test.cc"));
}

TEST_F(ControlFlow, AConditionThatIsNoBoolScalarIsAnError) {
  const Tensor bad = While(
      0, [](Tensor i) { return i; }, [](Tensor i) { return i + 1; });
  EXPECT_THAT(
      bad.status(),
      StatusIs(StatusCode::kInvalidArgument,
               "the condition gives s32[], must give bool[]; a comparison"));
  const Tensor v = T1<float>({1, 2});
  EXPECT_THAT(
      While(
          v, [](Tensor x) { return x < 3; }, [](Tensor x) { return x; })
          .status(),
      StatusIs(StatusCode::kInvalidArgument,
               "While: the condition gives bool[2], must give bool[]; All or"));
}

TEST_F(ControlFlow, APredicateThatIsNoScalarIsAnError) {
  const Tensor v = T1<float>({1, 2});
  EXPECT_THAT(Cond(
                  v > 1, [&] { return v; }, [&] { return -v; })
                  .status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Cond: the predicate is bool[2], must be a scalar"));
}

TEST_F(ControlFlow, AnErrorInABodyIsTheResult) {
  const auto both = While(
      std::pair(0, 1.0f), [](Tensor i, Tensor) { return Lt(i, 3); },
      [](Tensor i, Tensor x) {
        return std::pair(Reshape(i, {5}), x);
      });
  EXPECT_THAT(both.first.status(),
              StatusIs(StatusCode::kInvalidArgument, "reshape: C2"));
  EXPECT_THAT(both.second.status(),
              StatusIs(StatusCode::kInvalidArgument, "reshape: C2"));
}

TEST_F(ControlFlow, BranchesThatDifferAreAnError) {
  const Tensor x = T1<float>({1});
  const Tensor bad =
      Cond(true, [&] { return x; }, [&] { return Convert(x, DType::kF64); });
  EXPECT_THAT(bad.status(), StatusIs(StatusCode::kInvalidArgument,
                                     "Cond: the branches give f32[1] and f64"));
  EXPECT_FALSE(Cond(T1<bool>({true}), [&] { return x; }, [&] { return x; })
                   .status()
                   .ok());
}

TEST_F(ControlFlow, ALeakFromABodyIsAnError) {
  Tensor leaked;
  const Tensor n = While(
      0, [](Tensor i) { return Lt(i, 3); },
      [&](Tensor i) {
        leaked = i * 2;
        return i + 1;
      });
  EXPECT_VALUE(n, Literal::Scalar<int32_t>(3));
  EXPECT_THAT((leaked + 1).status(),
              StatusIs(StatusCode::kInvalidArgument, "traced tensor"));
}

TEST_F(ControlFlow, ReduceTakesAFunctionOfTwoScalars) {
  const Tensor x = TN<float>({1, 5, 2, 7, 3, 4}, {2, 3});
  const auto larger = [](Tensor a, Tensor b) { return Select(Gt(a, b), a, b); };
  EXPECT_VALUE(Reduce(x, -INFINITY, larger, {.axes = {1}}),
               Literal::Vector<float>({5, 7}));
  auto f = Jit([&](Tensor x) { return Reduce(x, 1, [](Tensor a, Tensor b) {
                                 return a * b;
                               }); });
  ASSERT_OK_AND_ASSIGN(const Tensor product, f(x));
  EXPECT_VALUE(product, Literal::Scalar<float>(840));
}

TEST_F(ControlFlow, ReduceMayNotCaptureTracedTensors) {
  auto f = Jit([](Tensor x, Tensor y) {
    return Reduce(x, 0, [&](Tensor a, Tensor b) { return a + b * y; });
  });
  EXPECT_THAT(f(T1<float>({1}), 2.0f),
              StatusIs(StatusCode::kInvalidArgument, "none of its arguments"));
}

}  // namespace
}  // namespace hawser
