// Old clients and servers go on talking: conversations that were recorded when
// a fixture was made, played again with today's other end.
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/remote/remote_client.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "proto/executor.pb.h"
#include "tests/testing/in_process/server.h"
#include "tests/testing/matchers.h"
#include "tests/wire/program.h"
#include "tests/wire/recording.h"
#include "tests/wire/replay.h"

namespace hawser {
namespace {

using absl::StatusCode;

class WireTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file("tests/wire/fixtures/" + GetParam() + ".txt");
    ASSERT_TRUE(file.good());
    std::stringstream text;
    text << file.rdbuf();
    ASSERT_OK_AND_ASSIGN(old_, ConversationOf(text.str()));
  }
  Conversation old_;
};

TEST_P(WireTest, TodaysClientAtAnOldServer) {
  const auto cpu = cpu::MakeCpuClient({.threads = 1});
  ASSERT_OK_AND_ASSIGN(const auto want, RunWireProgram(*cpu));
  const auto client = MakeRemoteClient(ReplayServer(old_), {});
  ASSERT_OK_AND_ASSIGN(const auto got, RunWireProgram(*client));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_THAT(got[i], LiteralBitEquals(want[i])) << i;
  }
}

TEST_P(WireTest, AnOldClientAtTodaysServer) {
  InProcessServer server;
  const auto transport = server.NewTransport();
  ASSERT_OK_AND_ASSIGN(const Conversation now, ReplayClient(old_, *transport));
  EXPECT_OK(CheckSame(old_, now));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, WireTest, testing::Values("2026_11_23"),
                         [](const auto& info) { return info.param; });

class RecordingTest : public testing::Test {
 protected:
  Conversation Record() {
    const auto recorder = NewRecorder();
    const auto client =
        MakeRemoteClient(Recording(server_.NewTransport(), recorder), {});
    EXPECT_OK(RunWireProgram(*client));
    return Recorded(*recorder);
  }
  InProcessServer server_;
};

TEST_F(RecordingTest, HasARequestOfEveryKind) {
  std::set<std::string> kinds;
  for (const Exchange& exchange : Record()) {
    v1::ClientMessage message;
    if (exchange.method != kOnSession) {
      kinds.insert(exchange.method);
    } else {
      ASSERT_TRUE(message.ParseFromString(exchange.request));
      kinds.insert(message.GetDescriptor()
                       ->FindFieldByNumber(message.request_case())
                       ->name());
    }
  }
  EXPECT_THAT(
      kinds, testing::ElementsAre("Call", "Delete", "List", "Pin", "Stat",
                                  "Tag", "Usage", "compile", "execute", "fetch",
                                  "freeze", "open", "ping", "upload"));
}

TEST_F(RecordingTest, ADifferenceIsFound) {
  const Conversation said = Record();
  EXPECT_OK(CheckSame(said, said));
  ASSERT_OK_AND_ASSIGN(const Conversation read, ConversationOf(ToText(said)));
  EXPECT_OK(CheckSame(said, read));
  Conversation other = said;
  for (Exchange& exchange : other) {
    if (exchange.method != kCallMethod) continue;
    v1::CallReply reply;
    ASSERT_TRUE(reply.ParseFromString(exchange.reply));
    std::string& data = *reply.mutable_results(0)->mutable_data();
    data[0] = static_cast<char>(data[0] + 1);
    exchange.reply = reply.SerializeAsString();
  }
  EXPECT_THAT(CheckSame(said, other), StatusIs(StatusCode::kInternal, "data"));
  EXPECT_THAT(ConversationOf("session 00\n"),
              StatusIs(StatusCode::kInvalidArgument, "line 1"));
}

}  // namespace
}  // namespace hawser
