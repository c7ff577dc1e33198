#include "core/runtime/pending_run.h"

#include <memory>
#include <thread>

#include "core/base/status.h"
#include "core/runtime/drain.h"
#include "gtest/gtest.h"

namespace hawser::runtime {
namespace {

class PendingRunTest : public testing::Test {
 protected:
  using Run = PendingRun<int>;

  std::shared_ptr<Run> Make(std::function<absl::StatusOr<Run::Values>()> work) {
    return std::make_shared<Run>(gate_, &pool_, 1, std::move(work));
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  ThreadPool pool_{1};
};

TEST_F(PendingRunTest, RunsOnceAllArgumentsAreReady) {
  Promise<int> first, second;
  const auto run = Make([f = first.future(), s = second.future()] {
    return absl::StatusOr<Run::Values>(Run::Values{*f.Await() + *s.Await()});
  });
  const Future<int> result = run->results()[0];
  run->Start({first.future(), second.future()}, CancelToken());
  first.Set(1);
  EXPECT_FALSE(result.ready());
  second.Set(2);
  EXPECT_EQ(*result.Await(), 3);
}

TEST_F(PendingRunTest, TheFirstErrorByPositionEndsItAsSoonAsItIsKnown) {
  const auto run = [this](std::vector<Future<int>> arguments) {
    const auto made = Make([] { return Run::Values{7}; });
    made->Start(std::move(arguments), CancelToken());
    return made->results()[0];
  };
  Promise<int> first, second, never;
  const Future<int> early = run({first.future(), never.future()});
  const Future<int> late = run({second.future(), first.future()});
  first.Set(Internal("the first"));
  EXPECT_EQ(early.Await().status().message(), "the first");
  EXPECT_FALSE(late.ready());
  second.Set(Internal("the second"));
  EXPECT_EQ(late.Await().status().message(), "the second");
}

TEST_F(PendingRunTest, ClosingTheGateWaitsForItsResults) {
  Promise<int> argument;
  const auto run = Make([] { return Run::Values{7}; });
  const Future<int> result = run->results()[0];
  run->Start({argument.future()}, CancelToken());
  std::thread setter([&] { argument.Set(0); });
  gate_->Close();
  EXPECT_TRUE(result.ready());
  setter.join();
  EXPECT_FALSE(Make([] { return Run::Values{7}; })->is_inside());
}

TEST_F(PendingRunTest, WhatTheWorkHoldsIsGoneWhenResultsAreThere) {
  auto held = std::make_shared<int>(5);
  const std::weak_ptr<int> weak = held;
  const auto run =
      Make([held = std::move(held)] { return Run::Values{*held}; });
  run->Start({}, CancelToken());
  EXPECT_EQ(*run->results()[0].Await(), 5);
  EXPECT_TRUE(weak.expired());
}

TEST_F(PendingRunTest, AnExpiredTokenSetsTheResults) {
  Promise<int> argument;
  const CancelToken token = CancelToken::WithFlag();
  const auto run = Make([token]() -> absl::StatusOr<Run::Values> {
    HAWSER_RETURN_IF_ERROR(token.Check());
    return Run::Values{7};
  });
  run->Start({argument.future()}, token);
  token.Cancel();
  EXPECT_TRUE(absl::IsCancelled(run->results()[0].Await().status()));
  argument.Set(0);
  gate_->Close();
}

TEST(DrainClient, RunsHereOrElsewhere) {
  std::thread::id drained_on;
  DrainClient(false, [&] { drained_on = std::this_thread::get_id(); });
  EXPECT_EQ(drained_on, std::this_thread::get_id());
  Promise<bool> elsewhere;
  DrainClient(true, [&, here = drained_on] {
    elsewhere.Set(std::this_thread::get_id() != here);
  });
  EXPECT_TRUE(*elsewhere.future().Await());
}

}  // namespace
}  // namespace hawser::runtime
