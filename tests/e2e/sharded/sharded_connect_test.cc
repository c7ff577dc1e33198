// Sharded over lists of servers that are not what they should be.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/hawser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(ShardedConnect, NeedsAServer) {
  EXPECT_THAT(Sharded({.servers = {}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "one server"));
}

TEST(ShardedConnect, RefusesAServerThatIsListedTwice) {
  EXPECT_THAT(Sharded({.servers = {"a:1", "b:1", "a:1"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "server a:1 is listed twice"));
}

TEST(ShardedConnect, NoServerThatAnswersIsWhatTheFirstSaid) {
  EXPECT_THAT(Sharded({.servers = {"127.0.0.1:1", "127.0.0.1:2"},
                       .fallback = Client()}),
              StatusIs(absl::StatusCode::kUnavailable, "127.0.0.1:1"));
  const auto client = Sharded({.servers = {"127.0.0.1:1", "127.0.0.1:2"}});
  ASSERT_OK(client);
  auto next = Jit([](Tensor x) { return x + 1; }).With({.client = *client});
  auto result = next(Literal::Vector<float>({1, 2}));
  ASSERT_OK(result);
  const auto value = result->Fetch();
  ASSERT_OK(value);
  EXPECT_EQ(value->data<float>()[1], 3);
}

class EnginesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* engine : {"cpu", "emu"}) {
      auto server = StartHawserd({absl::StrCat("--device=", engine)},
                                 &addresses_.emplace_back());
      ASSERT_OK(server);
      servers_.push_back(*std::move(server));
    }
  }
  // On how many places it computes; what is logged meanwhile.
  std::pair<int, std::string> Connected(bool mix_engines) const {
    CaptureStderr();
    const auto client = Sharded({.servers = addresses_,
                                 .fallback = Client(),
                                 .mix_engines = mix_engines});
    const std::string log = GetCapturedStderr();
    EXPECT_OK(client);
    if (!client.ok()) return {0, log};
    const auto capabilities = client->capabilities();
    EXPECT_OK(capabilities);
    return {capabilities.ok() ? capabilities->places : 0, log};
  }

  std::vector<std::string> addresses_;
  std::vector<Process> servers_;
};

TEST_F(EnginesTest, AnotherEngineIsLeftOutAndNamed) {
  const auto [places, log] = Connected(false);
  EXPECT_EQ(places, 1);
  EXPECT_THAT(
      log, HasSubstr(absl::StrCat(addresses_[1],
                                  " is left out: its engine is emu, not cpu")));
}

TEST_F(EnginesTest, EnginesMixWhereTheyMay) {
  const auto [places, log] = Connected(true);
  EXPECT_EQ(places, 2);
  EXPECT_THAT(log, Not(HasSubstr("is left out")));
}

}  // namespace
}  // namespace hawser::testing
