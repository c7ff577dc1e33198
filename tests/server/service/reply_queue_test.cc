#include "server/service/stream/reply_queue.h"

#include "gtest/gtest.h"

namespace hawser::server {
namespace {

TEST(ReplyQueue, AClientThatKnowsNoBatchesGetsOneAnswerAMessage) {
  ReplyQueue queue;
  queue.Add({.sequence = 1, .bytes = 10});
  queue.Add({.sequence = 2, .bytes = 20});
  EXPECT_EQ(queue.Next().sequence(), 1u);
  EXPECT_EQ(queue.bytes(), 20);
  queue.Written();
  EXPECT_EQ(queue.Next().sequence(), 2u);
  EXPECT_TRUE(queue.empty());
}

TEST(ReplyQueue, OthersGetWhatWaitsInOne) {
  ReplyQueue queue;
  queue.set_may_batch(true);
  queue.Add({.sequence = 1, .bytes = 10});
  queue.Add({.sequence = 2, .bytes = 20});
  EXPECT_EQ(queue.Next().done_size(), 2);
  EXPECT_EQ(queue.bytes(), 0);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace hawser::server
