// Print, traced and at once.
#include "client/sdk/probes/print.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using ::testing::HasSubstr;
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
    EXPECT_THAT(said, HasSubstr("print_test.cc:24)\nsum = f32[] {5} ("));
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

TEST_F(PrintTest, InALoopWarnsAndPrintsNothing) {
  const auto f = Jit([](Tensor x) {
    return While(
        x, [](Tensor t) { return t < 3; },
        [](Tensor t) { return Print(t, "turn") + 1; });
  });
  CaptureStderr();
  const auto end = f(Constant(Literal::Scalar(0.0f)));
  const std::string said = GetCapturedStderr();
  ASSERT_OK(end);
  EXPECT_VALUE(*end, Literal::Scalar(3.0f));
  EXPECT_THAT(said, HasSubstr("Print of \"turn\" at "));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("turn = ")));
}

}  // namespace
}  // namespace hawser
