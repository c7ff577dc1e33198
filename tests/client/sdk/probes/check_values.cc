// With HAWSER_CHECK_NAN=1 and HAWSER_CHECK_INDICES=1, which are read once per
// process; hence a test binary of its own.
#include <cmath>
#include <complex>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class CheckValues : public testing::Test {
 protected:
  ScopedClient scope_{Client(std::make_shared<CountingClient>())};
};

using CheckLoops = CheckValues;

TEST_F(CheckValues, NamesTheFirstOpThatMakesANan) {
  const auto f = Jit([](Tensor x) { return Exp(Log(x) * 2) + x; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(T1<float>({1, 1})));
  EXPECT_VALUE(y, F({2, 2}));
  for (const auto& error :
       {f(T1<float>({1, -1})).status(), f.Call(T1<float>({1, -1})).status()}) {
    EXPECT_THAT(error, StatusIs(StatusCode::kInvalidArgument,
                                "HAWSER_CHECK_NAN: log gives NaN in a f32[2], "
                                "of operands without one"));
    EXPECT_THAT(error,
                StatusIs(StatusCode::kInvalidArgument, "check_values.cc:27"));
  }
  // A NaN that was given is not made here.
  EXPECT_OK(f(T1<float>({1, kNan})));
}

TEST_F(CheckValues, LooksAtComplexAndHalfResults) {
  const auto half = Jit([](Tensor x) { return x - x; });
  EXPECT_THAT(half(Constant(Literal::Scalar(BFloat16(kInf)))),
              StatusIs(StatusCode::kInvalidArgument, "subtract gives NaN"));
  const std::complex<float> large(kInf, 0);
  EXPECT_THAT(half(Constant(Literal::Scalar(large))),
              StatusIs(StatusCode::kInvalidArgument, "c64[]"));
}

TEST_F(CheckValues, NamesIndicesOutOfRange) {
  const auto slice = Jit([](Tensor x, Tensor at) { return Rows(x, at, 2); });
  const Tensor x = T1<float>({1, 2, 3});
  EXPECT_OK(slice(x, 1));
  for (const int at : {-1, 2}) {
    EXPECT_THAT(slice(x, at),
                StatusIs(StatusCode::kInvalidArgument,
                         "HAWSER_CHECK_INDICES: dynamic_slice has an index out "
                         "of range, which is 0 to 1 of axis 0"));
  }
  const auto take = Jit([](Tensor x, Tensor at) { return Take(x, at); });
  EXPECT_OK(take(x, T1<int32_t>({2, 0})));
  EXPECT_THAT(take(x, T1<int32_t>({1, 3})),
              StatusIs(StatusCode::kInvalidArgument,
                       "gather has an index out of range, which is 0 to 2 of "
                       "axis 0 (at "));
}

// The line of the one who calls it, as an error names it.
std::string Here(int line = __builtin_LINE()) {
  return absl::StrCat("check_values.cc:", line, ")");
}
Tensor ScalarOf(float x) { return Constant(Literal::Scalar(x)); }

// `turns` turns of s -> s + sqrt(last - i), which is NaN behind turn `last`.
constexpr int kRootLine = __LINE__ + 5;
Tensor SumOfRoots(Tensor s, Tensor turns, Tensor last) {
  const auto end = While(
      std::tuple(0.0f, s), [&](Tensor i, Tensor) { return i < turns; },
      [&](Tensor i, Tensor s) {
        return std::tuple(i + 1, s + Sqrt(last - i));
      });
  return std::get<1>(end);
}

TEST_F(CheckLoops, NamesTheFirstTurnThatMakesANan) {
  const auto f = Jit(SumOfRoots);
  for (const auto& error : {f(T1<float>({1, 2}), 10, 6).status(),
                            f.Call(T1<float>({1, 2}), 10, 6).status()}) {
    EXPECT_EQ(error.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(error.message()),
                HasSubstr("HAWSER_CHECK_NAN: sqrt gives NaN in a f32[], of "
                          "operands without one, in turn 7 (at "));
    EXPECT_THAT(std::string(error.message()), EndsWith(Here(kRootLine)));
  }
  ASSERT_OK_AND_ASSIGN(const Tensor sum, f(T1<float>({1, 2}), 2, 1));
  EXPECT_VALUE(sum, F({2, 3}));
  EXPECT_OK(f(T1<float>({1, 2}), 0, -1));
  // Given, not made.
  EXPECT_OK(f(T1<float>({1, kNan}), 2, 1));
}

TEST_F(CheckLoops, NamesTheFirstTurnOfAnIndexOutOfRange) {
  const auto take = [](Tensor x, Tensor i) { return Take(x, Stack({i, i})); };
  const auto rows = [](Tensor x, Tensor i) { return Rows(x, i, 2); };
  const auto f = Jit([&](Tensor x, Tensor turns) {
    const auto [i, a, b] = While(
        std::tuple(0, x[Range(0, 2)], x[Range(0, 2)]),
        [&](Tensor i, Tensor, Tensor) { return i < turns; },
        [&](Tensor i, Tensor a, Tensor b) {
          return std::tuple(i + 1, a + take(x, i), b + rows(x, i));
        });
    return std::tuple(a, b);
  });
  const Tensor x = T1<float>({1, 2, 3, 4});
  ASSERT_OK_AND_ASSIGN(const auto sums, f(x, 3));
  EXPECT_VALUE(std::get<0>(sums), F({7, 8}));
  EXPECT_VALUE(std::get<1>(sums), F({7, 11}));
  EXPECT_THAT(f(x, 5), StatusIs(StatusCode::kInvalidArgument,
                                "HAWSER_CHECK_INDICES: dynamic_slice has an "
                                "index out of range, which is 0 to 2 of axis "
                                "0, in turn 3 (at "));
}

TEST_F(CheckLoops, OfAllOpsTheFirstTurnCounts) {
  const auto f = Jit([](Tensor x) {
    return While(
        std::tuple(x, 0 * x, 0 * x), [](Tensor t, auto...) { return t < 9; },
        [](Tensor t, Tensor, Tensor) {
          const Tensor root = Sqrt(5 - t);
          return std::tuple(t + 1, root, Log(2 - t));
        });
  });
  EXPECT_THAT(f(ScalarOf(0)), StatusIs(StatusCode::kInvalidArgument,
                                       "log gives NaN in a f32[], "
                                       "of operands without one, "
                                       "in turn 3 (at "));
  EXPECT_THAT(f(ScalarOf(6)), StatusIs(StatusCode::kInvalidArgument,
                                       "sqrt gives NaN in a f32[], of operands "
                                       "without one, in turn 0 (at "));
}

TEST_F(CheckLoops, CountAtTheirPlaceInTheProgram) {
  const auto f = Jit([](Tensor before, Tensor last, Tensor after) {
    const Tensor x = Asin(before);
    return Acos(after) + SumOfRoots(x, ScalarOf(4), last);
  });
  EXPECT_OK(f(0.5f, 9.0f, 0.5f));
  EXPECT_FALSE(f(2.0f, 1.0f, 2.0f).status().message().empty());
  EXPECT_THAT(f(2.0f, 1.0f, 2.0f).status().message().find("in turn"),
              std::string::npos);
  EXPECT_THAT(f(0.5f, 1.0f, 0.5f),
              StatusIs(StatusCode::kInvalidArgument, "in turn 2 (at "));
}

TEST_F(CheckLoops, NestedOnesNameTheTurnOfEach) {
  const auto f = Jit([](Tensor x, Tensor last) {
    return While(
        std::tuple(0.0f, x), [](Tensor i, Tensor) { return i < 4; },
        [&](Tensor i, Tensor s) {
          return std::tuple(i + 1, SumOfRoots(s, i, last));
        });
  });
  ASSERT_OK_AND_ASSIGN(const auto end, f(1.0f, 2.0f));
  EXPECT_NEAR_VALUE(std::get<1>(end), 1e-6,
                    Literal::Scalar(1 + 3 * std::sqrt(2.0f) + 2));
  for (const auto& [last, turns] :
       {std::pair(1.0f, "turns 3, 2"), {0.0f, "turns 2, 1"}}) {
    const absl::Status error = f(1.0f, last).status();
    EXPECT_THAT(error, StatusIs(StatusCode::kInvalidArgument,
                                absl::StrCat("sqrt gives NaN in a f32[], of "
                                             "operands without one, in ",
                                             turns,
                                             " (of the outermost loop first) "
                                             "(at ")));
    EXPECT_THAT(std::string(error.message()), EndsWith(Here(kRootLine)));
  }
}

TEST_F(CheckLoops, AConditionCountsToTheTurnBehindIt) {
  const auto f = Jit([](Tensor x, Tensor limit) {
    return While(
        x, [&](Tensor t) { return !(Sqrt(limit - t) < 1); },
        [](Tensor t) { return t + 1; });
  });
  ASSERT_OK_AND_ASSIGN(const Tensor end, f(0.0f, 2.5f));
  EXPECT_VALUE(end, Literal::Scalar(2.0f));
  const auto nan = Jit([](Tensor x, Tensor limit) {
    return While(
        x, [&](Tensor t) { return Sqrt(limit - t) >= 0; },
        [](Tensor t) { return t + 1; });
  });
  EXPECT_THAT(nan(0.0f, 2.5f),
              StatusIs(StatusCode::kInvalidArgument, "in turn 3 (at "));
  EXPECT_THAT(nan(0.0f, -1.0f),
              StatusIs(StatusCode::kInvalidArgument, "in turn 0 (at "));
  const auto goes_on = Jit([](Tensor x, Tensor limit) {
    return While(
        x, [&](Tensor t) { return Sqrt(limit - t) >= 0 || t < 6; },
        [](Tensor t) { return t + 1; });
  });
  EXPECT_THAT(goes_on(0.0f, 2.5f),
              StatusIs(StatusCode::kInvalidArgument, "in turn 3 (at "));
}

TEST_F(CheckLoops, InBranchesCountWhereTheyRun) {
  const auto f = Jit([](Tensor p, Tensor x) {
    return Switch(
        p, [&] { return SumOfRoots(x, ScalarOf(4), ScalarOf(1)); },
        [&] { return Log(x); }, [&] { return x; });
  });
  EXPECT_THAT(f(0, 1.0f),
              StatusIs(StatusCode::kInvalidArgument, "in turn 2 (at "));
  EXPECT_OK(f(1, 1.0f));
  const absl::Status error = f(1, -1.0f).status();
  EXPECT_THAT(error, StatusIs(StatusCode::kInvalidArgument,
                              "log gives NaN in a f32[], of operands without "
                              "one (at "));
  ASSERT_OK_AND_ASSIGN(const Tensor x, f(2, -1.0f));
  EXPECT_VALUE(x, Literal::Scalar(-1.0f));
}

TEST_F(CheckLoops, ABranchInOneNamesItsTurn) {
  const auto f = Jit([](Tensor x) {
    return While(
        std::tuple(0, x), [](Tensor i, Tensor) { return i < 6; },
        [](Tensor i, Tensor s) {
          return std::tuple(i + 1, Cond(
                                       Eq(i, 4), [&] { return Sqrt(s); },
                                       [&] { return s - 1; }));
        });
  });
  EXPECT_OK(f(10.0f));
  EXPECT_THAT(f(3.0f),
              StatusIs(StatusCode::kInvalidArgument,
                       "sqrt gives NaN in a f32[], of operands without "
                       "one, in turn 4 (at "));
}

// Equal computations are one in the module.
TEST_F(CheckLoops, EqualOnesHaveLinesOfTheirOwn) {
  const auto more = [](Tensor t) { return t > 0; };
  const auto body = [](Tensor t, int* line) {
    *line = __LINE__ + 1;
    return Log(t - 2);
  };
  const auto other = [](Tensor t, int* line) {
    *line = __LINE__ + 1;
    return Log(t - 2);
  };
  int lines[2] = {};
  const auto f = Jit([&](Tensor x, Tensor y) {
    return While(x, more, [&](Tensor t) { return body(t, &lines[0]); }) +
           While(y, more, [&](Tensor t) { return other(t, &lines[1]); });
  });
  EXPECT_OK(f(-1.0f, -1.0f));
  EXPECT_THAT(f(1.0f, -1.0f),
              StatusIs(StatusCode::kInvalidArgument, Here(lines[0])));
  EXPECT_THAT(f(-1.0f, 1.0f),
              StatusIs(StatusCode::kInvalidArgument, Here(lines[1])));
}

TEST_F(CheckLoops, ResultsAndDonationsAreAsWithout) {
  const auto f = Jit([](Tensor x, Tensor y) {
    const auto [i, s] = While(
        std::tuple(0, x), [](Tensor i, Tensor) { return i < 3; },
        [&](Tensor i, Tensor s) { return std::tuple(i + 1, s * y + 1); });
    return std::tuple(s, x, i, s - x);
  });
  for (int run = 0; run < 2; ++run) {
    const Tensor x = T1<float>({1, 2});
    ASSERT_OK_AND_ASSIGN(const auto results, f(Donate(x), T1<float>({1, 2})));
    EXPECT_VALUE(std::get<0>(results), F({4, 23}));
    EXPECT_VALUE(std::get<1>(results), F({1, 2}));
    EXPECT_VALUE(std::get<2>(results), Literal::Scalar<int32_t>(3));
    EXPECT_VALUE(std::get<3>(results), F({3, 21}));
    EXPECT_THAT(x.Fetch(),
                StatusIs(StatusCode::kFailedPrecondition, "donated"));
  }
}

TEST_F(CheckValues, OfAGradientNamesTheLineOfTheFunction) {
  const int line = __LINE__ + 2;
  const auto loss = [](Tensor w) {
    const auto log = [&] { return Log(w); };
    return Sum(Cond(Sum(w) > 0, log, [&] { return w * w; }));
  };
  const auto f = Jit([&](Tensor w) { return Grad(loss)(w); });
  ASSERT_OK_AND_ASSIGN(const Tensor gradient, f(T1<float>({1, 2})));
  EXPECT_VALUE(gradient, F({1, 0.5f}));
  ASSERT_OK_AND_ASSIGN(const Tensor other, f(T1<float>({-1, -2})));
  EXPECT_VALUE(other, F({-2, -4}));
  // Taken for its derivative alone, a logarithm is not computed.
  const auto both = Jit([&](Tensor w) { return ValueAndGrad(loss)(w); });
  EXPECT_THAT(both(T1<float>({-1, 4})),
              StatusIs(StatusCode::kInvalidArgument,
                       absl::StrCat("log gives NaN in a f32[2], of operands "
                                    "without one (at tests/client/sdk/probes/",
                                    Here(line))));
}

}  // namespace
}  // namespace hawser
