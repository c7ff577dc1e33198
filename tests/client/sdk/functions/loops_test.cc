// For and Scan: values, gradients, errors.
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

// Outside Jit and inside it.
template <typename Fn, typename... Args>
void ExpectBoth(const Fn& fn, const Literal& want, const Args&... args) {
  EXPECT_VALUE(fn(args...), want);
  ASSERT_OK_AND_ASSIGN(const Tensor inside, Jit(fn)(args...));
  EXPECT_VALUE(inside, want);
}

TEST(ForTest, TurnsAsOftenAsItSays) {
  ExpectBoth(
      [](Tensor x) {
        return For(4, x, [](Tensor i, Tensor x) { return x * 2 + i; });
      },
      Literal::Scalar(27.0f), Scalar(1.0f));
  ExpectBoth(
      [](Tensor x) {
        return For(0, x, [](Tensor, Tensor x) { return x + 1; });
      },
      Literal::Scalar(5), Scalar(5));
}

TEST(ForTest, TheStateIsAnyNest) {
  const auto [n, pair] =
      For(3, std::tuple(0, std::pair(Scalar(1.0f), Scalar(1.0f))),
          [](Tensor i, Tensor n, std::pair<Tensor, Tensor> fib) {
            return std::tuple(
                n + i, std::pair(fib.second, fib.first + fib.second));
          });
  EXPECT_VALUE(n, Literal::Scalar(3));
  EXPECT_VALUE(pair.first, Literal::Scalar(3.0f));
  EXPECT_VALUE(pair.second, Literal::Scalar(5.0f));
}

TEST(ForTest, HasAGradientByTheStateAndByWhatItUses) {
  const auto power = [](Tensor x, Tensor w) {
    return For(3, x, [&](Tensor, Tensor y) { return y * w; });
  };
  const auto [gx, gw] = Grad<0, 1>(power)(F64(2.0), F64(3.0));
  EXPECT_VALUE(gx, Literal::Scalar(27.0));
  EXPECT_VALUE(gw, Literal::Scalar(54.0));
  // By the turn's number, and of no turns.
  const auto weighted = [](Tensor x) {
    return For(4, F64(0.0), [&](Tensor i, Tensor sum) {
      return sum + x * Convert(i, DType::kF64);
    });
  };
  EXPECT_VALUE(Grad(weighted)(F64(1.0)), Literal::Scalar(6.0));
  const auto none = [](Tensor x) {
    return For(0, x, [](Tensor, Tensor x) { return x * x; });
  };
  EXPECT_VALUE(Grad(none)(F64(7.0)), Literal::Scalar(1.0));
}

TEST(ForTest, NestedLoopsHaveGradientsOfHigherOrder) {
  const auto f = [](Tensor x) {
    return For(2, x, [&](Tensor, Tensor y) {
      return For(2, y, [&](Tensor, Tensor z) { return z * x; });
    });
  };  // x^5
  EXPECT_VALUE(f(F64(2.0)), Literal::Scalar(32.0));
  EXPECT_VALUE(Grad(f)(F64(2.0)), Literal::Scalar(80.0));
  EXPECT_VALUE(Grad(Grad(f))(F64(2.0)), Literal::Scalar(160.0));
}

TEST(ForTest, WhatIsWrongIsSaid) {
  const Tensor x = Scalar(1.0f);
  EXPECT_THAT(For(-1, x, [](Tensor, Tensor x) { return x; }).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "For: there cannot be -1 turns"));
  EXPECT_THAT(
      For(2, x, [](Tensor, Tensor x) { return Stack({{x, x}}); }).status(),
      StatusIs(StatusCode::kInvalidArgument,
               "For: the body gives f32[2] for state 0, which is f32[]"));
}

// Running sums: the state, and what is stacked.
auto Sums(Tensor first, Tensor xs) {
  return Scan(first, xs, [](Tensor sum, Tensor x) {
    const Tensor next = sum + x;
    return std::pair(next, next);
  });
}

TEST(ScanTest, GivesTheStateAndTheStack) {
  const auto both = [](Tensor xs) { return Sums(Zeros(DType::kF32, {2}), xs); };
  const Tensor xs = TN<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const auto [last, stack] = both(xs);
  EXPECT_VALUE(last, F({9, 12}));
  const Literal want = Literal::Of<float>({1, 2, 4, 6, 9, 12}, {3, 2});
  EXPECT_VALUE(stack, want);
  ASSERT_OK_AND_ASSIGN(const auto inside, Jit(both)(xs));
  EXPECT_VALUE(inside.second, want);
}

TEST(ScanTest, EntriesAndStacksAreAnyNest) {
  const auto xs = std::pair(T1<float>({1, 2, 3}), T1<int32_t>({10, 20, 30}));
  const auto [state, ys] =
      Scan(std::tuple(Scalar(0.0f), Scalar(0)), xs,
           [](std::tuple<Tensor, Tensor> state,
              std::pair<Tensor, Tensor> x) {
             auto [a, b] = state;
             a = a + x.first;
             b = b + x.second;
             return std::pair(std::tuple(a, b),
                              std::vector<Tensor>{a * 2, b});
           });
  EXPECT_VALUE(std::get<0>(state), Literal::Scalar(6.0f));
  EXPECT_VALUE(std::get<1>(state), Literal::Scalar(60));
  ASSERT_EQ(ys.size(), 2u);
  EXPECT_VALUE(ys[0], F({2, 6, 12}));
  EXPECT_VALUE(ys[1], Literal::Vector<int32_t>({10, 30, 60}));
}

TEST(ScanTest, NoEntriesLeaveTheState) {
  const auto [last, stack] = Sums(Scalar(4.0f), Zeros(DType::kF32, {0}));
  EXPECT_VALUE(last, Literal::Scalar(4.0f));
  EXPECT_VALUE(stack, Literal::Zeros(Shape::Of(DType::kF32, {0})));
}

TEST(ScanTest, HasAGradientByEverything) {
  // h <- tanh(w h + x): the same written out.
  const auto by_scan = [](Tensor w, Tensor h, Tensor xs) {
    const auto [last, all] = Scan(h, xs, [&](Tensor h, Tensor x) {
      const Tensor next = Tanh(w * h + x);
      return std::pair(next, next * next);
    });
    return Sum(last) + Sum(all);
  };
  const auto written_out = [](Tensor w, Tensor h, Tensor xs) {
    Tensor sum = F64(0.0);
    for (int i = 0; i < 4; ++i) {
      h = Tanh(w * h + xs[{i}]);
      sum = sum + Sum(h * h);
    }
    return Sum(h) + sum;
  };
  const Tensor w = T1<double>({0.5, -1}), h = T1<double>({1, 2});
  const Tensor xs = TN<double>({1, 2, -1, 0.5, 0.25, 3, -2, 1}, {4, 2});
  const auto scanned = Grad<0, 1, 2>(by_scan)(w, h, xs);
  const auto plain = Grad<0, 1, 2>(written_out)(w, h, xs);
  const auto compare = [](const Tensor& a, const Tensor& b) {
    ASSERT_OK_AND_ASSIGN(const Literal want, b.Fetch());
    EXPECT_NEAR_VALUE(a, 1e-12, want);
  };
  compare(std::get<0>(scanned), std::get<0>(plain));
  compare(std::get<1>(scanned), std::get<1>(plain));
  compare(std::get<2>(scanned), std::get<2>(plain));
}

TEST(ScanTest, WhatIsWrongIsSaid) {
  const Tensor x = T1<float>({1, 2});
  const auto body = [](Tensor s, std::pair<Tensor, Tensor> e) {
    return std::pair(s + e.first, e.second);
  };
  EXPECT_THAT(
      Scan(Scalar(0.0f), std::pair(x, T1<float>({1, 2, 3})), body)
          .first.status(),
      StatusIs(StatusCode::kInvalidArgument,
               "Scan: entries are along axis 0 of f32[2] and f32[3]"));
  EXPECT_THAT(Sums(Scalar(0.0f), Scalar(1.0f)).first.status(),
              StatusIs(StatusCode::kInvalidArgument, "Scan: entries"));
  const auto changes = [](Tensor, Tensor x) {
    return std::pair(Stack({{x, x}}), x);
  };
  EXPECT_THAT(Scan(Scalar(0.0f), x, changes).first.status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Scan: the body gives f32[2] for state 0"));
}

// ---- gradients outside Jit, where numbers are arguments --------------------

// x^(2^turns), by squaring.
Tensor Squared(Tensor x, const Tensor& start, const Tensor& turns) {
  auto [i, y] = While(
      std::tuple<Tensor, Tensor>(start, x),
      [&](Tensor i, Tensor) { return i < turns; },
      [](Tensor i, Tensor y) {
        return std::tuple<Tensor, Tensor>(i + 1, y * y);
      });
  return y;
}

TEST(CountedLoops, HaveGradientsByCountsFromOutside) {
  for (const int turns : {0, 1, 2, 3}) {
    const auto f = [&](Tensor x) {
      return Squared(x, Scalar(0), Scalar(turns));
    };
    const double power = std::pow(2, turns);
    EXPECT_VALUE(Grad(f)(F64(1.5)),
                 Literal::Scalar<double>(power * std::pow(1.5, power - 1)));
    EXPECT_VALUE(Jit(Grad(f))(F64(1.5)).value(),
                 Literal::Scalar<double>(power * std::pow(1.5, power - 1)));
  }
}

TEST(CountedLoops, HaveSecondGradients) {
  const auto f = [](Tensor x) { return Squared(x, Scalar(1), Scalar(3)); };
  EXPECT_VALUE(Grad(Grad(f))(F64(2)), Literal::Scalar<double>(4 * 3 * 4));
}

TEST(CountedLoops, InLoopsHaveGradients) {
  const auto f = [](Tensor x) {
    auto [i, y] = While(
        std::tuple<Tensor, Tensor>(Scalar(0), x),
        [](Tensor i, Tensor) { return i < 2; },
        [](Tensor i, Tensor y) {
          return std::tuple<Tensor, Tensor>(
              i + 1, Squared(y, Scalar(0), Scalar(1)));
        });
    return y;
  };
  EXPECT_VALUE(Grad(f)(F64(2)), Literal::Scalar<double>(4 * 8));
}

TEST(CountedLoops, OfTurnsThatArgumentsSayHaveNone) {
  const auto f = [](Tensor x, Tensor turns) {
    return Squared(x, Scalar(0), turns);
  };
  EXPECT_THAT(Grad(f)(F64(2), Scalar(3)).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "a loop whose turns only a run can count"));
}

}  // namespace
}  // namespace hawser
