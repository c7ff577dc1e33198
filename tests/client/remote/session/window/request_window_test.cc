// RequestWindow: numbers, answers in any order, and when it is full.
#include "client/remote/session/window/request_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "client/remote/session/window/request.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;

class RequestWindowTest : public ::testing::Test {
 protected:
  std::shared_ptr<Request> Add(size_t bytes = 1) {
    auto request = std::make_shared<AcknowledgedRequest>();
    window_.Add(request, bytes, absl::UnixEpoch() + absl::Seconds(adds_++));
    return request;
  }

  RequestWindow window_;
  int adds_ = 0;
};

TEST_F(RequestWindowTest, KnowsItsOldestAndWhatOthersDoNotHave) {
  EXPECT_EQ(window_.oldest_since(), absl::InfiniteFuture());
  for (int i = 0; i < 5; ++i) Add();
  (void)window_.TakeAnswered(1);
  EXPECT_EQ(window_.oldest_since(), absl::UnixEpoch() + absl::Seconds(1));
  (void)window_.TakeAnswered(3);
  EXPECT_EQ(window_.FirstBeside({2, 4, 5}, 6), 0);
  EXPECT_EQ(window_.FirstBeside({4}, 6), 2);
  EXPECT_EQ(window_.FirstBeside({1, 2, 5}, 6), 4);
  EXPECT_EQ(window_.FirstBeside({2}, 4), 0);  // 4 was sent later
  EXPECT_TRUE(window_.WasAdded(3));
  EXPECT_FALSE(window_.WasAdded(6));
  EXPECT_FALSE(window_.WasAdded(0));
}

TEST_F(RequestWindowTest, WhatIsAbandonedIsStillSentAgainAndAnsweredToNobody) {
  const auto first = Add(), second = Add();
  EXPECT_THAT(window_.Abandon(), ElementsAre(first, second));
  EXPECT_EQ(window_.unanswered(), 2);
  EXPECT_EQ(window_.After(1)[0]->message, second->message);
  EXPECT_NE(window_.TakeAnswered(1), first);
  EXPECT_EQ(window_.acknowledged(), 1);
}

TEST_F(RequestWindowTest, NumbersAreDenseAndTellWhatIsAcknowledged) {
  const auto first = Add(), second = Add(), third = Add();
  EXPECT_EQ(first->message->sequence(), 1);
  EXPECT_EQ(third->message->sequence(), 3);
  EXPECT_EQ(window_.TakeAnswered(2), second);
  EXPECT_EQ(window_.acknowledged(), 0);  // 1 has no answer
  EXPECT_EQ(window_.TakeAnswered(1), first);
  EXPECT_EQ(window_.acknowledged(), 2);
  EXPECT_EQ(Add()->message->acknowledged(), 2);
}

TEST_F(RequestWindowTest, AnAnswerCountsOnceAndOnlyForWhatWasSent) {
  const auto request = Add();
  Add();
  EXPECT_EQ(window_.TakeAnswered(0), nullptr);
  EXPECT_EQ(window_.TakeAnswered(3), nullptr);
  EXPECT_EQ(window_.TakeAnswered(1), request);
  EXPECT_EQ(window_.TakeAnswered(1), nullptr);
  EXPECT_EQ(window_.unanswered(), 1);
}

TEST_F(RequestWindowTest, WhatWasNotAppliedIsSentAgainInOrder) {
  const auto first = Add(), second = Add(), third = Add(), fourth = Add();
  (void)window_.TakeAnswered(3);
  EXPECT_THAT(window_.After(0), ElementsAre(first, second, fourth));
  EXPECT_THAT(window_.After(1), ElementsAre(second, fourth));
  EXPECT_THAT(window_.After(4), ElementsAre());
}

TEST_F(RequestWindowTest, TakingAllLeavesNothingButTheNumbering) {
  const auto first = Add(), second = Add();
  EXPECT_THAT(window_.TakeAll(), ElementsAre(first, second));
  EXPECT_EQ(window_.unanswered(), 0);
  EXPECT_EQ(window_.TakeAnswered(1), nullptr);
  EXPECT_EQ(Add()->message->sequence(), 3);
}

TEST_F(RequestWindowTest, IsFullByRequests) {
  for (int i = 1; i < RequestWindow::kRequests; ++i) Add();
  EXPECT_TRUE(window_.HasRoom(1));
  Add();
  EXPECT_FALSE(window_.HasRoom(1));
}

TEST_F(RequestWindowTest, IsFullByBytesButTakesAnythingWhenEmpty) {
  EXPECT_TRUE(window_.HasRoom(2 * RequestWindow::kBytes));
  Add(RequestWindow::kBytes - 10);
  EXPECT_TRUE(window_.HasRoom(10));
  EXPECT_FALSE(window_.HasRoom(11));
  (void)window_.TakeAnswered(1);
  EXPECT_TRUE(window_.HasRoom(2 * RequestWindow::kBytes));
}

TEST_F(RequestWindowTest, IsFullByWhatTheServerMustRemember) {
  Add();  // stays without an answer, so that no other is acknowledged
  for (uint64_t i = 2; i <= 1023; ++i) {
    Add();
    (void)window_.TakeAnswered(i);
  }
  EXPECT_TRUE(window_.HasRoom(1));
  Add();
  EXPECT_FALSE(window_.HasRoom(1));
  (void)window_.TakeAnswered(1);
  EXPECT_TRUE(window_.HasRoom(1));
}

TEST_F(RequestWindowTest, ThoseThatWaitGetRoomWhenHalfOfItIsFree) {
  for (int i = 0; i < RequestWindow::kRequests; ++i) Add();
  const Future<bool> room = window_.MuchRoom();
  const int half = RequestWindow::kRequests / 2;
  for (int i = 1; i < half; ++i) (void)window_.TakeAnswered(i);
  EXPECT_FALSE(window_.HasMuchRoom(1));
  EXPECT_FALSE(room.ready());
  (void)window_.TakeAnswered(half);
  EXPECT_TRUE(window_.HasMuchRoom(1));
  EXPECT_TRUE(room.ready());
}

TEST_F(RequestWindowTest, TheEndWakesThoseThatWait) {
  for (int i = 0; i < RequestWindow::kRequests; ++i) Add();
  const Future<bool> room = window_.MuchRoom();
  (void)window_.TakeAll();
  EXPECT_TRUE(room.ready());
}

}  // namespace
}  // namespace hawser
