// With HAWSER_CHECK_JIT=1, which is read once per process; hence a test binary
// of its own.
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class CheckJit : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  ScopedClient scope_{Client(counting_)};
};

TEST_F(CheckJit, RetracesAtEveryCallAndCompilesOnce) {
  int traces = 0;
  const auto f = Jit([&](Tensor x) {
    ++traces;
    return Exp(x) + 1;
  });
  for (int i = 0; i < 3; ++i) EXPECT_OK(f(T1<float>({1})));
  EXPECT_EQ(traces, 3);
  EXPECT_EQ(counting_->compiles, 1);
}

TEST_F(CheckJit, RefusesACapturedNumberThatChanged) {
  float factor = 2;
  const auto f = Jit([&](Tensor x) { return x * factor; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(T1<float>({3})));
  EXPECT_VALUE(y, Literal::Vector<float>({6}));
  factor = 5;
  const auto changed = f(T1<float>({3}));
  EXPECT_THAT(changed, StatusIs(StatusCode::kFailedPrecondition,
                                "traces to another graph than before"));
  EXPECT_THAT(changed, StatusIs(StatusCode::kFailedPrecondition,
                                "check_jit.cc:"));
  // Another signature is traced afresh, and the old one is right again later.
  EXPECT_OK(f(T1<float>({1, 2})));
  factor = 2;
  EXPECT_OK(f(T1<float>({3})));
}

TEST_F(CheckJit, RefusesAnotherStructure) {
  bool doubled = false;
  const auto f = Jit([&](Tensor x) {
    return doubled ? std::vector<Tensor>{x, x} : std::vector<Tensor>{x};
  });
  EXPECT_OK(f(1));
  doubled = true;
  EXPECT_THAT(f(1), StatusIs(StatusCode::kFailedPrecondition, "another graph"));
}

TEST_F(CheckJit, RefusesWhatNoLongerTraces) {
  int64_t size = 2;
  const auto f = Jit([&](Tensor x) { return Reshape(x, {size, 1}); });
  EXPECT_OK(f(T1<float>({1, 2})));
  size = 3;
  EXPECT_THAT(f(T1<float>({1, 2})),
              StatusIs(StatusCode::kInvalidArgument, "reshape: C2"));
}

TEST_F(CheckJit, SeesChangesInsideLoops) {
  int step = 1;
  const auto f = Jit([&](Tensor n) {
    return While(
        0, [&](Tensor i) { return Lt(i, n); },
        [&](Tensor i) { return i + step; });
  });
  EXPECT_OK(f(10));
  EXPECT_OK(f(20));
  step = 2;
  EXPECT_THAT(f(10), StatusIs(StatusCode::kFailedPrecondition, "another graph"));
}

}  // namespace
}  // namespace hawser
