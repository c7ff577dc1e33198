// What of the messages that wait goes out as one.
#include "client/remote/grpc/outgoing_messages.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class OutgoingMessagesTest : public ::testing::Test {
 protected:
  void Add(uint64_t sequence, size_t bytes = 0) {
    auto message = std::make_shared<v1::ClientMessage>();
    message->set_sequence(sequence);
    if (bytes > 0) message->mutable_upload()->set_data(std::string(bytes, 'x'));
    outgoing_.Add(std::move(message));
  }
  // The numbers of the requests that one write carries.
  std::vector<uint64_t> Write() {
    const v1::ClientMessage& message = outgoing_.BeginWrite();
    EXPECT_TRUE(outgoing_.writing());
    std::vector<uint64_t> sequences;
    if (message.sequence() > 0) sequences.push_back(message.sequence());
    for (const auto& one : message.more()) sequences.push_back(one.sequence());
    outgoing_.EndWrite();
    EXPECT_FALSE(outgoing_.writing());
    return sequences;
  }

  OutgoingMessages outgoing_;
};

TEST_F(OutgoingMessagesTest, AreOneByOneUntilBatchesAreAllowed) {
  for (uint64_t i = 1; i <= 4; ++i) Add(i);
  EXPECT_THAT(Write(), ElementsAre(1));
  outgoing_.AllowBatches();
  EXPECT_THAT(Write(), ElementsAre(2, 3, 4));
  EXPECT_TRUE(outgoing_.empty());
  Add(5);
  EXPECT_THAT(Write(), ElementsAre(5));
}

TEST_F(OutgoingMessagesTest, ABatchHasAnEnd) {
  outgoing_.AllowBatches();
  for (uint64_t i = 1; i <= 65; ++i) Add(i);
  EXPECT_THAT(Write(), SizeIs(64));
  EXPECT_THAT(Write(), ElementsAre(65));
  for (uint64_t i = 1; i <= 3; ++i) Add(i, 200 << 10);
  EXPECT_THAT(Write(), ElementsAre(1, 2));
  EXPECT_THAT(Write(), ElementsAre(3));
}

TEST_F(OutgoingMessagesTest, WaitForABatchWhereThereAreBatches) {
  Add(1);
  EXPECT_FALSE(outgoing_.MayWaitFor(2));
  outgoing_.AllowBatches();
  EXPECT_TRUE(outgoing_.MayWaitFor(2));
  Add(2);
  EXPECT_FALSE(outgoing_.MayWaitFor(2));
  outgoing_.Clear();
  EXPECT_TRUE(outgoing_.empty());
}

}  // namespace
}  // namespace hawser
