// What goes wrong, and when to stop: the same codes on every target.
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/values/dtype.h"
#include "core/runtime/datasets.h"
#include "tests/conformance/programs.h"
#include "tests/conformance/target.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::Argument;
using runtime::BufferPtr;

runtime::CallOptions In(absl::Duration time) {
  return {.cancel = CancelToken(absl::Now() + time)};
}

class ErrorsTest : public TargetTest {
 protected:
  void SetUp() override {
    TargetTest::SetUp();
    if (!HasFatalFailure()) count_ = Compile(client(), CountModule());
  }
  // An endless loop; `options` end it.
  BufferPtr Endless(const runtime::CallOptions& options) {
    return Execute(count_,
                   {Literal::Scalar<int64_t>(0), Literal::Scalar(kEndless)},
                   {.call = options})[0];
  }
  ExecutablePtr count_;
  const Literal x_ = Full(1, 3);
  const Shape shape_ = x_.shape();
};
// Of calls that end by their options.
class DeadlinesTest : public ErrorsTest {};

TEST_P(ErrorsTest, WrongArgumentsAreRefusedBeforeAnythingRuns) {
  const auto add = Compile(client(), AddModule(shape_));
  const auto execute = [&](std::vector<Argument> arguments,
                           std::vector<int> donated = {}) {
    return add->Execute(arguments, {.donated = std::move(donated)}).status();
  };
  EXPECT_THAT(execute({}), StatusIs(StatusCode::kInvalidArgument, "2"));
  EXPECT_THAT(execute({x_}), StatusIs(StatusCode::kInvalidArgument, "2"));
  EXPECT_THAT(execute({x_, x_, x_}),
              StatusIs(StatusCode::kInvalidArgument, "2"));
  EXPECT_THAT(execute({x_, Full(1, 4)}),
              StatusIs(StatusCode::kInvalidArgument, "s64[4]"));
  EXPECT_THAT(execute({Literal::Vector<int32_t>({1, 2, 3}), x_}),
              StatusIs(StatusCode::kInvalidArgument, "s32[3]"));
  EXPECT_THAT(execute({x_, BufferPtr()}),
              StatusIs(StatusCode::kInvalidArgument, "argument 1"));
  for (const int donated : {-1, 2}) {
    EXPECT_THAT(execute({x_, x_}, {donated}),
                StatusIs(StatusCode::kInvalidArgument, "donated"));
  }
  EXPECT_THAT(add->Call({Argument(x_)}, Patient()).Await(),
              StatusIs(StatusCode::kInvalidArgument, "2"));
  EXPECT_OK(Get(Execute(add, {x_, x_})[0]));
}

TEST_P(ErrorsTest, BuffersOfAnotherClientAreRefused) {
  const auto add = Compile(client(), AddModule(shape_));
  const auto stranger = cpu::MakeCpuClient({.threads = 1});
  const BufferPtr foreign = *stranger->Upload(x_, {});
  EXPECT_THAT(add->Execute({Argument(x_), Argument(foreign)}, {}),
              StatusIs(StatusCode::kFailedPrecondition, "argument 1"));
}

TEST_P(ErrorsTest, WhatIsNoModuleAndNoValueIsRefused) {
  EXPECT_THAT(client().Compile(std::make_shared<Module>("empty"), {}, {}),
              StatusIs(StatusCode::kInvalidArgument, "no "));
  EXPECT_THAT(client().Compile(nullptr, {}, {}),
              StatusIs(StatusCode::kInvalidArgument, "no module"));
  EXPECT_THAT(client().Upload(Literal(), {}),
              StatusIs(StatusCode::kInvalidArgument, "no value"));
}

TEST_P(ErrorsTest, AnErrorTravelsToTheEndOfItsChain) {
  const int64_t too_many = target_->memory / 4;  // of s64
  const Shape large = Shape::Of(DType::kS64, {too_many});
  const auto add = Compile(client(), AddModule(large));
  BufferPtr x = Execute(Compile(client(), IotaModule(too_many)), {})[0];
  for (int i = 0; i < 10; ++i) x = Execute(add, {x, x})[0];
  EXPECT_THAT(Get(x), StatusIs(StatusCode::kResourceExhausted,
                               "(iota): no memory for s64["));
  EXPECT_THAT(x->Ready(Patient()).Await(),
              StatusIs(StatusCode::kResourceExhausted, "no memory for s64["));
  // Nothing else is harmed.
  EXPECT_OK(Get(Execute(Compile(client(), AddModule(shape_)), {x_, x_})[0]));
}

TEST_P(DeadlinesTest, OfTwoErrorsTheFirstCauseWins) {
  const auto add = Compile(client(), AddModule(Shape::Scalar(DType::kS64)));
  const Literal one = Literal::Scalar<int64_t>(1);
  const CancelToken flag = CancelToken::WithFlag();
  const BufferPtr first = Endless(In(absl::Milliseconds(500)));
  EXPECT_THAT(Get(first), StatusIs(StatusCode::kDeadlineExceeded, ""));
  const BufferPtr poisoned = Execute(add, {first, one})[0];
  const BufferPtr second = Endless({.cancel = flag});
  const BufferPtr both = Execute(add, {poisoned, second})[0];
  flag.Cancel();
  EXPECT_THAT(Get(second), StatusIs(StatusCode::kCancelled, ""));
  EXPECT_THAT(Get(both), StatusIs(StatusCode::kDeadlineExceeded, ""));
}

TEST_P(DeadlinesTest, ADeadlineEndsTheWorkAndLeavesNothing) {
  const absl::Time start = absl::Now();
  BufferPtr x = Endless(In(absl::Milliseconds(500)));
  EXPECT_THAT(Get(x), StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  x.reset();
  EXPECT_EQ(target_->AwaitLiveBuffers(0), 0);
}

TEST_P(DeadlinesTest, ACancelEndsTheWorkAndLeavesNothing) {
  const CancelToken flag = CancelToken::WithFlag();
  BufferPtr x = Endless({.cancel = flag});
  const Future<Literal> value = x->Fetch({});
  EXPECT_FALSE(value.ready());
  flag.Cancel();
  EXPECT_THAT(Get(x), StatusIs(StatusCode::kCancelled, ""));
  x.reset();
  EXPECT_EQ(target_->AwaitLiveBuffers(0), 0);
}

TEST_P(DeadlinesTest, AFetchThatHasHadItsTimeLeavesTheValueOnItsWay) {
  const auto count = Compile(client(), CountModule());
  const auto counted = [&](int64_t turns) {
    return Execute(count, {Literal::Scalar<int64_t>(0),
                           Literal::Scalar<int64_t>(turns)})[0];
  };
  // So many turns that they take longer than the fetch has, on any engine.
  int64_t turns = 1000;
  for (absl::Duration taken; taken < absl::Milliseconds(20); turns *= 4) {
    const absl::Time begin = absl::Now();
    ASSERT_OK(Get(counted(turns)));
    taken = absl::Now() - begin;
  }
  const BufferPtr x = counted(turns);
  EXPECT_THAT(Get(x, In(absl::Milliseconds(1))),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  ASSERT_OK_AND_ASSIGN(const Literal value, Get(x));
  EXPECT_EQ(value.data<int64_t>()[0], turns);
}

TEST_P(DeadlinesTest, WhatIsAskedTooLateIsNotDone) {
  const runtime::CallOptions past = In(-absl::Seconds(1));
  const CancelToken flag = CancelToken::WithFlag();
  flag.Cancel();
  const auto add = Compile(client(), AddModule(shape_));
  EXPECT_THAT(add->Call({Argument(x_), Argument(x_)}, past).Await(),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_THAT(add->Call({Argument(x_), Argument(x_)}, {.cancel = flag}).Await(),
              StatusIs(StatusCode::kCancelled, ""));
  EXPECT_THAT(client().datasets().Put({{{"x", x_}}}, past),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
}

TEST_P(DeadlinesTest, AClientThatGoesEndsItsWork) {
  {
    const auto other = target_->another();
    const auto count = Compile(*other, CountModule());
    const CancelToken flag = CancelToken::WithFlag();
    const BufferPtr running =
        Execute(count, {Literal::Scalar<int64_t>(0), Literal::Scalar(kEndless)},
                {.call = {.cancel = flag}})[0];
    flag.Cancel();
  }
  EXPECT_EQ(target_->AwaitLiveBuffers(0), 0);
}

INSTANTIATE_TEST_SUITE_P(All, ErrorsTest, ::testing::ValuesIn(AllTargets()),
                         TargetName);
INSTANTIATE_TEST_SUITE_P(
    All, DeadlinesTest,
    ::testing::ValuesIn(TargetsThat(&TargetRow::has_deadlines)), TargetName);

}  // namespace
}  // namespace hawser
