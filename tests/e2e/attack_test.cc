// Real servers with little memory under attacks that took them down: they live,
// stay within their memory, and who was there before notices nothing.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/hawser.h"
#include "core/base/digest.h"
#include "gtest/gtest.h"
#include "proto/executor.grpc.pb.h"
#include "tests/testing/processes/http2_flood.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kMostPeak = 768 * kMiB;
constexpr absl::string_view kTokenOfVictim = "victims-token-0123456789abcdef00";
constexpr absl::string_view kTokenOfAttacker =
    "attackers-token-0123456789abcdef";

std::string LineOf(absl::string_view tenant, absl::string_view token) {
  return absl::StrCat(tenant, " ", Sha256(token).ToHex(), "\n");
}

// "VmHWM" and such, in bytes; -1 once the process is gone.
int64_t MemoryOf(pid_t pid, absl::string_view field) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() > 1 && words[0] == field &&
        absl::SimpleAtoi(words[1], &kib)) {
      return kib << 10;
    }
  }
  return -1;
}

absl::Status TwiceTwo(const Client& client) {
  auto twice = Jit([](Tensor x) { return x + x; }).With({.client = client});
  const absl::StatusOr<Tensor> result =
      twice(Literal::Of<float>({1, 2, 3, 4}, {4}));
  if (!result.ok()) return result.status();
  const absl::StatusOr<Literal> sum =
      result->Fetch({.call = {.deadline = absl::Seconds(30)}});
  if (!sum.ok()) return sum.status();
  if (sum->data<float>()[3] == 8) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("a wrong sum: ", sum->ToString()));
}

// With tokens (a tenant for the attacker and one for the victim) and without.
class AttackTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::vector<std::string> flags = {"--device=cpu", "--memory=512MiB"};
    if (GetParam()) {
      flags.push_back(absl::StrCat(
          "--tokens_file=",
          folder_.Write("tokens",
                        absl::StrCat(LineOf("victim", kTokenOfVictim),
                                     LineOf("attacker", kTokenOfAttacker)))));
    }
    auto started = StartHawserd(flags, &address_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::make_unique<Process>(*std::move(started));
    const absl::StatusOr<Client> client = ConnectAs(kTokenOfVictim);
    ASSERT_TRUE(client.ok()) << client.status();
    ASSERT_TRUE(TwiceTwo(*client).ok());
    victim_ = std::thread([this, client = *client] {
      while (victim_status_.ok() && !over_) {
        victim_status_ = TwiceTwo(client);
        ++sums_;
        failed_ = !victim_status_.ok();
        absl::SleepFor(absl::Milliseconds(2));
      }
    });
  }
  void TearDown() override {
    // The victim goes on after the attack.
    const int sums = sums_;
    for (int i = 0; i < 6000 && sums_ < sums + 3 && !failed_; ++i) {
      absl::SleepFor(absl::Milliseconds(10));
    }
    over_ = true;
    if (!victim_.joinable()) return;
    victim_.join();
    EXPECT_TRUE(victim_status_.ok()) << victim_status_;
    EXPECT_GE(sums_, sums + 3);
    const int64_t peak = MemoryOf(server_->pid(), "VmHWM");
    server_->Signal(SIGTERM);
    const auto code = server_->Wait(kPatience);
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(*code, 0) << server_->output();
    RecordProperty("peak_mib", static_cast<int>(peak / kMiB));
    EXPECT_GT(peak, 0) << "the server is gone";
    EXPECT_LT(peak, kMostPeak) << server_->output();
    EXPECT_LT(server_->output().size(), size_t{64} << 10) << "a flooded log";
  }

  absl::StatusOr<Client> ConnectAs(absl::string_view token) {
    Credentials credentials;
    if (GetParam()) credentials.token = std::string(token);
    return Connect({.servers = {address_},
                    .credentials = credentials,
                    .fallback = Client()});
  }
  std::string TokenInHeaders() const {
    return GetParam() ? std::string(kTokenOfAttacker) : "";
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Process> server_;

 private:
  std::atomic<bool> over_{false};
  absl::Status victim_status_;
  std::atomic<int> sums_{0};
  std::atomic<bool> failed_{false};
  std::thread victim_;
};

TEST_P(AttackTest, AContinuationFloodOfAStranger) {
  // Some connections, one after the other: each as much as it may send.
  for (int i = 0; i < 8; ++i) {
    Http2Connection flood(address_);
    ASSERT_TRUE(flood.valid());
    std::string bytes = Http2Connection::Headers(1, "/x", "", false);
    for (int k = 0; k < 4; ++k) bytes += Http2Connection::Continuation(1, 4000);
    int64_t sent = 0;
    const std::string more = Http2Connection::Continuation(1, 4000);
    bool open = flood.Send(bytes);
    while (open && sent < 400 * kMiB) {
      open = flood.Send(more);
      sent += static_cast<int64_t>(more.size());
    }
    EXPECT_FALSE(open) << "it sent " << sent << " bytes";
  }
}

TEST_P(AttackTest, AContinuationFloodAfterAnAuthorisedCall) {
  std::vector<std::thread> floods;
  for (int i = 0; i < 3; ++i) {
    floods.emplace_back([this] {
      Http2Connection flood(address_);
      ASSERT_TRUE(flood.valid());
      bool open = flood.Send(Http2Connection::Headers(
          1, "/hawser.v1.Executor/Session", TokenInHeaders(), true));
      absl::SleepFor(absl::Milliseconds(200));
      open = open &&
             flood.Send(Http2Connection::Headers(
                 3, "/hawser.v1.Executor/Session", TokenInHeaders(), false));
      const std::string more = Http2Connection::Continuation(3, 4000);
      int64_t sent = 0;
      while (open && sent < 400 * kMiB) {
        open = flood.Send(more);
        sent += static_cast<int64_t>(more.size());
      }
      EXPECT_FALSE(open) << "it sent " << sent << " bytes";
    });
  }
  for (std::thread& flood : floods) flood.join();
}

TEST_P(AttackTest, UploadsOfManySessions) {
  std::vector<Client> clients;
  std::vector<Tensor> values;
  absl::Status refused;
  for (int i = 0; i < 20 && refused.ok(); ++i) {
    const absl::StatusOr<Client> client = ConnectAs(kTokenOfAttacker);
    ASSERT_TRUE(client.ok()) << client.status();
    clients.push_back(*client);
    for (int k = 0; k < 4 && refused.ok(); ++k) {
      auto value = Literal::Zeros(Shape::Of(DType::kU8, {16 * kMiB}));
      auto put = Jit([](Tensor x) { return x + 1; }).With({.client = *client});
      const absl::StatusOr<Tensor> sum = put(value);
      refused = sum.status();
      if (!sum.ok()) break;
      refused =
          sum->Head(1, {.call = {.deadline = absl::Seconds(30)}}).status();
      values.push_back(*sum);
    }
  }
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "--memory")) << refused;
  // What is let go of can be had again.
  values.clear();
  clients.clear();
  absl::Status again;
  for (int i = 0; i < 100; ++i) {
    const absl::StatusOr<Client> client = ConnectAs(kTokenOfAttacker);
    again = client.ok() ? TwiceTwo(*client) : client.status();
    if (again.ok()) break;
    absl::SleepFor(absl::Milliseconds(100));
  }
  EXPECT_TRUE(again.ok()) << again;
}

TEST_P(AttackTest, CompressedMessages) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxSendMessageSize(-1);
  const auto stub = v1::Executor::NewStub(grpc::CreateCustomChannel(
      address_, grpc::InsecureChannelCredentials(), arguments));
  v1::CallRequest request;
  request.set_module(std::string(600 * kMiB, '\0'));
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  if (GetParam()) {
    context.AddMetadata("authorization",
                        absl::StrCat("Bearer ", kTokenOfAttacker));
  }
  v1::CallReply reply;
  const grpc::Status status = stub->Call(&context, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED)
      << status.error_message();
}

TEST_P(AttackTest, RapidResets) {
  const std::string headers = Http2Connection::Headers(
      1, "/hawser.v1.Executor/Session", TokenInHeaders(), true);
  for (int round = 0; round < 3; ++round) {
    Http2Connection flood(address_);
    ASSERT_TRUE(flood.valid());
    bool open = true;
    for (uint32_t stream = 1; open && stream < 100000; stream += 2) {
      open = flood.Send(absl::StrCat(
          Http2Connection::Headers(stream, "/hawser.v1.Executor/Session",
                                   TokenInHeaders(), true),
          Http2Connection::Reset(stream)));
    }
  }
}

TEST_P(AttackTest, EndlessLoopsOnEverySlot) {
  const absl::StatusOr<Client> client = ConnectAs(kTokenOfAttacker);
  ASSERT_TRUE(client.ok()) << client.status();
  auto endless = Jit([](Tensor x) {
                   return While(
                       x, [](Tensor at) { return Ge(at, Scalar(0.0f)); },
                       [](Tensor at) { return Abs(at); });
                 }).With({.client = *client});
  std::vector<Tensor> loops;
  for (int i = 0; i < 8; ++i) {
    const absl::StatusOr<Tensor> loop = endless(Literal::Scalar<float>(1));
    ASSERT_TRUE(loop.ok()) << loop.status();
    loops.push_back(*loop);
  }
  // Work that has to wait its turn gets one all the same.
  const absl::StatusOr<Client> other = ConnectAs(kTokenOfVictim);
  ASSERT_TRUE(other.ok()) << other.status();
  auto heavy =
      Jit([](Tensor x) { return Sum(Exp(x + x)); }).With({.client = *other});
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Tensor> sum =
        heavy(Literal::Zeros(Shape::Of(DType::kF32, {1 << 20})));
    ASSERT_TRUE(sum.ok()) << sum.status();
    const auto value = sum->Fetch({.call = {.deadline = absl::Seconds(30)}});
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(value->data<float>()[0], 1 << 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Tokens, AttackTest, ::testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "WithTokens" : "Without";
                         });

}  // namespace
}  // namespace hawser::testing
