// The server as a whole: health, reflection, and how it stops.
#include "server/host.h"

#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/server/service/service_fixture.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

constexpr char kHealth[] = "/grpc.health.v1.Health/Check";
constexpr char kReflection[] =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
// Of both: a message with this text as field `number`.
grpc::ByteBuffer TextField(int number, const std::string& text) {
  return ToBuffer(std::string(1, static_cast<char>(number << 3 | 2)) +
                  static_cast<char>(text.size()) + text);
}

class HostTest : public ServiceTest {};

TEST_F(HostTest, TellsItsHealth) {
  const std::string serving("\x08\x01", 2);  // status = SERVING
  for (const std::string& service :
       {std::string(), std::string("hawser.v1.Executor"),
        std::string("hawser.v1.Datasets")}) {
    std::vector<std::string> answers;
    ASSERT_OK(CallRaw(channel_, kHealth, {TextField(1, service)}, &answers))
        << service;
    EXPECT_EQ(answers, std::vector{serving}) << service;
  }
  EXPECT_THAT(CallRaw(channel_, kHealth, {TextField(1, "nobody")}),
              StatusIs(StatusCode::kNotFound, ""));
}

// A device that is lost when the test says so.
class LosableClient : public cpu::CpuClient {
 public:
  LosableClient() : CpuClient(cpu::CpuClientOptions()) {}
  absl::Status Ping(const runtime::CallOptions& call) override {
    return lost ? absl::UnavailableError("the device is lost")
                : absl::OkStatus();
  }
  std::atomic<bool> lost{false};
};

TEST(HostOfALostDevice, IsNotServing) {
  const auto device = std::make_shared<LosableClient>();
  const auto host = server::Host::Start(device, {.listen = "127.0.0.1:0"});
  ASSERT_OK(host);
  const auto channel = ConnectRaw((*host)->address());
  const auto health = [&] {
    std::vector<std::string> answers;
    EXPECT_OK(CallRaw(channel, kHealth, {TextField(1, "")}, &answers));
    return answers.empty() ? "" : answers[0];
  };
  EXPECT_EQ(health(), std::string("\x08\x01", 2));
  device->lost = true;
  const absl::Time end = absl::Now() + absl::Seconds(20);
  while (health() != std::string("\x08\x02", 2)) {  // NOT_SERVING
    ASSERT_LT(absl::Now(), end);
    absl::SleepFor(absl::Milliseconds(50));
  }
}

TEST(HostThatStops, TellsWhoWatchesItsHealth) {
  const auto host = server::Host::Start(
      std::make_shared<cpu::CpuClient>(cpu::CpuClientOptions()),
      {.listen = "127.0.0.1:0"});
  ASSERT_OK(host);
  RawStream watch(ConnectRaw((*host)->address()),
                  "/grpc.health.v1.Health/Watch");
  ASSERT_TRUE(watch.Write(TextField(1, "")));
  EXPECT_EQ(watch.Read(), std::string("\x08\x01", 2));
  std::thread stop([&] { (*host)->Stop(); });
  EXPECT_EQ(watch.Read(), std::string("\x08\x02", 2));  // NOT_SERVING
  watch.Cancel();
  stop.join();
}

TEST_F(HostTest, TellsItsServices) {
  std::vector<std::string> answers;
  ASSERT_OK(CallRaw(channel_, kReflection, {TextField(7, "")}, &answers));
  ASSERT_EQ(answers.size(), 1u);
  for (const char* service : {"hawser.v1.Executor", "hawser.v1.Datasets",
                              "grpc.health.v1.Health"}) {
    EXPECT_TRUE(absl::StrContains(answers[0], service)) << service;
  }
}

TEST_F(HostTest, AStopTellsEverybodyAndReturns) {
  auto session = OpenSession();
  ASSERT_OK(session->Do(
      StreamedUploadMessage(10, Shape::Of(DType::kF32, {2}))));
  session->Send(FetchMessage(10));  // waits for what never comes
  RawStream put(channel_, kPut);
  ASSERT_TRUE(put.Write(
      PutFrame(Sha256({"x", 1}).bytes(), 10, "half").SerializeAsString()));
  ASSERT_OK(session->Do(PingMessage()));
  const absl::Time start = absl::Now();
  server_->host().Stop();
  // Ten times the grace: a stop that hangs takes for ever.
  EXPECT_LT(absl::Now() - start, 10 * server::HostOptions().grace);
  EXPECT_THAT(StatusOf(session->AnswerTo(~uint64_t{0})),
              StatusIs(StatusCode::kUnavailable, "the server is stopping"));
  EXPECT_THAT(put.Finish(), ::testing::Not(IsOk()));
  EXPECT_THAT(
      CallRaw(ConnectRaw(server_->address()), kHealth, {TextField(1, "")}),
      StatusIs(StatusCode::kUnavailable, "onnection refused"));
  server_->host().Stop();  // again is fine
}

TEST_F(HostTest, AStopWithNothingToDoIsQuick) {
  const absl::Time start = absl::Now();
  server_->host().Stop();
  EXPECT_LT(absl::Now() - start, 10 * server::HostOptions().grace);
}

TEST(Hawserd, EndsWithZeroOnSigterm) {
  for (const int signal : {SIGTERM, SIGINT}) {
    std::string address;
    auto server = StartHawserd({}, &address);
    ASSERT_TRUE(server.ok()) << server.status();
    RawSession session(ConnectRaw(address));
    ASSERT_TRUE(session.Open().has_open());
    server->Signal(signal);
    EXPECT_THAT(StatusOf(session.Next()),
                StatusIs(StatusCode::kUnavailable, "the server is stopping"));
    const auto code = server->Wait(absl::Seconds(30));
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(*code, 0) << server->output();
  }
}

}  // namespace
}  // namespace hawser::testing
