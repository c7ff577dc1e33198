// Print, traced and at once.
#include "client/sdk/probes/print.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class PrintTest : public testing::Test {
 protected:
  ScopedClient scope_{Client(std::make_shared<CountingClient>())};
};

TEST_F(PrintTest, WritesAtEachRunAndGivesItsArgument) {
  const auto f = Jit([](Tensor x) {
    const Tensor y = Print(x + 1, "y");
    Print(Sum(y), "sum");
    return y * 2;
  });
  for (int run = 0; run < 2; ++run) {
    CaptureStderr();
    const auto y = f(T1<float>({1, 2}));
    const std::string said = GetCapturedStderr();
    ASSERT_OK(y);
    EXPECT_VALUE(*y, F({4, 6}));
    EXPECT_THAT(said, HasSubstr("y = f32[2] {2, 3} ("));
    EXPECT_THAT(said, HasSubstr("print_test.cc:26)\nsum = f32[] {5} ("));
  }
  CaptureStderr();
  const auto called = f.Call(T1<float>({0, 0}));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("sum = f32[] {2} ("));
  ASSERT_OK(called);
  EXPECT_VALUE(*called, F({2, 2}));
}

TEST_F(PrintTest, OutsideJitWritesAtOnce) {
  CaptureStderr();
  const Tensor x = Print(T1<float>({1, 2}) * 3, "x");
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("x = f32[2] {3, 6} ("));
  EXPECT_VALUE(x, F({3, 6}));
  CaptureStderr();
  const Tensor wrong = Print(x + T1<float>({1, 2, 3}), "wrong");
  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_FALSE(wrong.status().ok());
}

TEST_F(PrintTest, HasTheGradientOfTheIdentity) {
  const auto loss = [](Tensor w) { return Sum(Print(w * w, "squares") * 3); };
  const auto f = Jit([&](Tensor w) { return Grad(loss)(w); });
  CaptureStderr();
  const auto gradient = f(T1<float>({1, 2}));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("squares = f32[2] {1, 4} ("));
  ASSERT_OK(gradient);
  EXPECT_VALUE(*gradient, F({6, 12}));
  CaptureStderr();
  const Tensor at_once = Grad(loss)(T1<float>({1, 2}));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("squares = f32[2] {1, 4} ("));
  EXPECT_VALUE(at_once, F({6, 12}));
}

// What f(x) writes; its result, a scalar, goes to `result`.
template <typename F>
std::string SaidBy(const F& f, float x, float* result) {
  CaptureStderr();
  const auto end = f(Constant(Literal::Scalar(x)));
  std::string said = GetCapturedStderr();
  EXPECT_OK(end);
  const auto value = end.ok() ? end->Fetch() : end.status();
  EXPECT_OK(value);
  *result = value.ok() ? value->template data<float>()[0] : kNan;
  return said;
}

TEST_F(PrintTest, InALoopWritesTheLastTurn) {
  const auto f = Jit([](Tensor x) {
    const Tensor step = Print(x * 0 + 1, "step");
    return While(
        x, [](Tensor t) { return t < 3; },
        [&](Tensor t) {
          Print(Stack({t, t * t}), "both");
          Print(step, "outer");
          return t + step;
        });
  });
  float result = 0;
  EXPECT_EQ(SaidBy(f, 0, &result),
            absl::StrCat("step = f32[] {1} (", __FILE__, ":86)\n",
                         "both = f32[2] {2, 4} (", __FILE__, ":90, turn 2)\n",
                         "outer = f32[] {1} (", __FILE__, ":91, turn 2)\n"));
  EXPECT_EQ(result, 3);
  const std::string none = SaidBy(f, 7, &result);
  EXPECT_THAT(none, HasSubstr("both: in no turn ("));
  EXPECT_THAT(none, Not(HasSubstr("both = ")));
  EXPECT_EQ(result, 7);
}

TEST_F(PrintTest, InACondition) {
  const auto f = Jit([](Tensor x) {
    return While(
        x, [](Tensor t) { return Print(t * 2, "twice") < 6; },
        [](Tensor t) { return t + 1; });
  });
  float result = 0;
  EXPECT_THAT(SaidBy(f, 1, &result), HasSubstr("twice = f32[] {6} ("));
  EXPECT_EQ(result, 3);
  const std::string none = SaidBy(f, 4, &result);
  EXPECT_THAT(none, HasSubstr("twice = f32[] {8} ("));
  EXPECT_THAT(none, HasSubstr(", turn 0)"));
  EXPECT_EQ(result, 4);
}

TEST_F(PrintTest, InABranchWritesIfItIsTaken) {
  const auto f = Jit([](Tensor x) {
    return Cond(
        x > 0, [&] { return Print(x + 1, "then"); },
        [&] { return Print(Print(x, "else") - 1, "less"); });
  });
  float result = 0;
  EXPECT_EQ(SaidBy(f, 1, &result),
            absl::StrCat("then = f32[] {2} (", __FILE__, ":125)\n"));
  EXPECT_EQ(result, 2);
  EXPECT_EQ(SaidBy(f, -1, &result),
            absl::StrCat("else = f32[] {-1} (", __FILE__, ":126)\n",
                         "less = f32[] {-2} (", __FILE__, ":126)\n"));
  EXPECT_EQ(result, -2);
}

// i = 0 .. x - 1, in each j = i .. 1; what is odd is printed on the way.
Tensor PrintsInNestedLoops(Tensor x) {
  const auto outer = While(
      std::tuple(0 * x, 0 * x), [&](Tensor i, Tensor) { return i < x; },
      [](Tensor i, Tensor sum) {
        const Tensor inner = While(
            i, [](Tensor j) { return j < 2; },
            [](Tensor j) {
              return Cond(
                  Eq(j, 1), [&] { return Print(j, "odd") + 1; },
                  [&] { return j + 1; });
            });
        return std::tuple(i + 1, sum + inner);
      });
  return std::get<1>(outer);
}

TEST_F(PrintTest, InNestedLoopsWritesTheTurnOfEach) {
  const auto f = Jit(PrintsInNestedLoops);
  float result = 0;
  EXPECT_THAT(SaidBy(f, 1, &result), HasSubstr("turns 0, 1 (of the outermost"));
  EXPECT_EQ(result, 2);
  // The last turns of the outer loop have none of the inner.
  EXPECT_THAT(SaidBy(f, 4, &result),
              HasSubstr("odd = f32[] {1} (" __FILE__ ":147, turns 1, 0 (of"));
  EXPECT_EQ(result, 2 + 2 + 2 + 3);
  EXPECT_THAT(SaidBy(f, 0, &result), HasSubstr("odd: in no turn ("));
}

TEST_F(PrintTest, InALoopOutsideJitWritesAtOnce) {
  CaptureStderr();
  const Tensor end = While(
      Constant(Literal::Scalar(0.0f)), [](Tensor t) { return t < 3; },
      [](Tensor t) { return Print(t, "t") + 1; });
  const std::string said = GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("t = f32[] {2} ("));
  EXPECT_THAT(said, HasSubstr(", turn 2)"));
  EXPECT_VALUE(end, Literal::Scalar(3.0f));
}

TEST_F(PrintTest, InALoopLeavesResultsAndDonationsAlone) {
  const auto f = Jit([](Tensor x, Tensor y) {
    const auto [i, sum] = While(
        std::tuple(0, x), [](Tensor i, Tensor) { return i < 3; },
        [&](Tensor i, Tensor s) {
          return std::tuple(i + 1, Print(s + y, "sum"));
        });
    return std::tuple(i, sum, x);
  });
  const Tensor x = T1<float>({1, 2});
  CaptureStderr();
  const auto results = f(Donate(x), T1<float>({1, 1}));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("sum = f32[2] {4, 5} ("));
  ASSERT_OK(results);
  EXPECT_VALUE(std::get<0>(*results), Literal::Scalar<int32_t>(3));
  EXPECT_VALUE(std::get<1>(*results), F({4, 5}));
  EXPECT_VALUE(std::get<2>(*results), F({1, 2}));
}

TEST_F(PrintTest, InABranchOfAGradient) {
  const auto loss = [](Tensor w) {
    return Sum(Cond(
        Sum(w) > 0, [&] { return Print(w * w, "squares"); },
        [&] { return w; }));
  };
  const auto f = Jit([&](Tensor w) { return Grad(loss)(w); });
  CaptureStderr();
  const auto taken = f(T1<float>({1, 2}));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("squares = f32[2] {1, 4} ("));
  ASSERT_OK(taken);
  EXPECT_VALUE(*taken, F({2, 4}));
  CaptureStderr();
  const auto passed = f(T1<float>({-1, -2}));
  EXPECT_EQ(GetCapturedStderr(), "");
  ASSERT_OK(passed);
  EXPECT_VALUE(*passed, F({1, 1}));
}

TEST_F(PrintTest, InAReductionWarnsAndPrintsNothing) {
  const auto f = Jit([](Tensor x) {
    return Reduce(x, 0.0f,
                  [](Tensor a, Tensor b) { return Print(a, "a") + b; });
  });
  CaptureStderr();
  const auto sum = f(T1<float>({1, 2}));
  const std::string said = GetCapturedStderr();
  ASSERT_OK(sum);
  EXPECT_VALUE(*sum, Literal::Scalar(3.0f));
  EXPECT_THAT(said, HasSubstr("Print of \"a\" at "));
  EXPECT_THAT(said, Not(HasSubstr("a = ")));
}

}  // namespace
}  // namespace hawser
