// The real server, killed, stopped and started again under a client's hands.
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

// 2^20 steps of whole numbers: long enough to be killed in the middle.
Tensor CountTo(Tensor x, int64_t steps) {
  return std::get<1>(While(
      std::tuple(Scalar(DType::kS64, 0), x),
      [steps](Tensor i, Tensor) { return Lt(i, steps); },
      [](Tensor i, Tensor v) { return std::tuple(i + 1, v + 1); }));
}

class KillTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    auto started = StartHawserd(flags, &address_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::make_unique<Process>(*std::move(started));
  }
  Client Connected(Client fallback) {
    auto client = Connect({.servers = {address_}, .fallback = fallback});
    EXPECT_TRUE(client.ok()) << client.status();
    return client.ok() ? *client : Client();
  }
  void KillAfter(absl::Duration wait) {
    killer_ = std::thread([this, wait] {
      absl::SleepFor(wait);
      server_->Signal(SIGKILL);
    });
  }
  void TearDown() override {
    if (killer_.joinable()) killer_.join();
  }

  std::string address_;
  std::unique_ptr<Process> server_;
  std::thread killer_;
};

TEST_F(KillTest, ARunThatLosesItsServerEndsOnTheCpuWithTheSameAnswer) {
  Start();
  const Client client = Connected(Client::Cpu());
  // About a second: a busy machine may kill the server late.
  constexpr int64_t kSteps = 3000000;
  auto count = Jit([](Tensor x) { return CountTo(x, kSteps); })
                   .With({.client = client});
  const Literal x = Literal::Vector<int64_t>({5, -7});
  ASSERT_TRUE(count.Warm(x).ok());
  auto result = count(x);
  ASSERT_TRUE(result.ok()) << result.status();
  KillAfter(absl::Milliseconds(30));
  const auto value = result->Fetch();
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->data<int64_t>()[0], kSteps + 5);
  EXPECT_EQ(value->data<int64_t>()[1], kSteps - 7);
  EXPECT_EQ(result->ran_on(), "cpu (fallback: unreachable)");
}

TEST_F(KillTest, WithoutAFallbackALostRunIsUnavailableAndNamesTheServer) {
  Start();
  const Client client = Connected(Client());
  auto count = Jit([](Tensor x) { return CountTo(x, 50000000); })
                   .With({.client = client});
  auto result = count(Literal::Vector<int64_t>({0}));
  ASSERT_TRUE(result.ok()) << result.status();
  KillAfter(absl::Milliseconds(50));
  const auto value = result->Fetch({.call = {.deadline = absl::Seconds(30)}});
  EXPECT_EQ(value.status().code(), absl::StatusCode::kUnavailable)
      << value.status();
  EXPECT_TRUE(absl::StrContains(value.status().message(), address_))
      << value.status();
}

TEST_F(KillTest, ALongChainSurvivesTheDeathOfItsServer) {
  Start();
  const Client client = Connected(Client::Cpu());
  auto step = Jit([](Tensor w, Tensor i) { return w * 3 + i; })
                  .With({.client = client});
  Tensor w = Zeros(DType::kU32, {1000});
  uint32_t want = 0;
  for (int i = 0; i < 500; ++i) {
    if (i == 200) server_->Signal(SIGKILL);
    auto next = step(Donate(w), Scalar(DType::kU32, i));
    ASSERT_TRUE(next.ok()) << i << ": " << next.status();
    w = *std::move(next);
    want = want * 3 + i;
  }
  const auto value = w.Fetch();
  ASSERT_TRUE(value.ok()) << value.status();
  for (uint32_t element : value->data<uint32_t>()) ASSERT_EQ(element, want);
}

Literal Numbers(int64_t count) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU32, {count}));
  auto data = out.mutable_data<uint32_t>();
  for (int64_t i = 0; i < count; ++i) data[i] = i * 2654435761u;
  return out;
}

TEST_F(KillTest, APutThatLosesItsServerIsATypedErrorAndLaterResumes) {
  const std::string folder =
      absl::StrCat(::testing::TempDir(), "/resume-", getpid());
  Start({"--data_dir=" + folder});
  const Literal value = Numbers(int64_t{24} << 20);  // 96 MiB
  std::atomic<bool> killed{false};
  CallOptions call;
  call.progress = [&](int64_t done, int64_t all) {
    if (done > all / 3 && !killed.exchange(true)) server_->Signal(SIGKILL);
  };
  {
    const Client client = Connected(Client());
    const auto put = client.Put({{"", value}}, call);
    ASSERT_TRUE(killed);
    EXPECT_EQ(put.status().code(), absl::StatusCode::kUnavailable)
        << put.status();
  }
  Start({"--data_dir=" + folder});
  const Client client = Connected(Client());
  const auto put = client.Put({{"", value}});
  ASSERT_TRUE(put.ok()) << put.status();
  const auto back = (*put)().Fetch();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->BitEquals(value));
}

TEST_F(KillTest, APutThatLosesItsServerGoesToTheCpuWithAFallback) {
  Start();
  const Literal value = Numbers(int64_t{24} << 20);
  const Client client = Connected(Client::Cpu());
  std::atomic<bool> killed{false};
  CallOptions call;
  call.progress = [&](int64_t done, int64_t all) {
    if (done > all / 3 && !killed.exchange(true)) server_->Signal(SIGKILL);
  };
  const auto put = client.Put({{"", value}}, call);
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_TRUE(killed);
  const auto total = Sum((*put)()).Fetch({.client = client});
  ASSERT_TRUE(total.ok()) << total.status();
  uint32_t want = 0;
  for (uint32_t v : value.data<uint32_t>()) want += v;
  EXPECT_EQ(total->data<uint32_t>()[0], want);
}

TEST_F(KillTest, DatasetsSurviveARestartAndAreSentOnce) {
  const std::string folder =
      absl::StrCat(::testing::TempDir(), "/restart-", getpid());
  Start({"--data_dir=" + folder});
  const Literal value = Numbers(3 << 20);
  std::string token;
  {
    const auto put = Connected(Client()).Put({{"", value}});
    ASSERT_TRUE(put.ok()) << put.status();
    token = put->token();
    EXPECT_EQ(put->info().sent_bytes, value.shape().byte_size());
  }
  server_->Signal(SIGKILL);
  ASSERT_TRUE(server_->Wait(absl::Seconds(20)).ok());  // gone, and its lock
  Start({"--data_dir=" + folder});
  const Client client = Connected(Client());
  const auto again = client.Put({{"", value}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->info().sent_bytes, 0);
  const auto found = client.Dataset(token);
  ASSERT_TRUE(found.ok()) << found.status();
  const auto back = (*found)().Fetch();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->BitEquals(value));
}

TEST_F(KillTest, TheDeadlineHoldsWhenTheServerIsFrozen) {
  Start();
  const Client client = Connected(Client());
  auto add = Jit([](Tensor x) { return x + 1; }).With({.client = client});
  ASSERT_TRUE(add.Warm(Literal::Scalar(1.0f)).ok());
  ASSERT_TRUE(server_->Freeze().ok());
  const absl::Time start = absl::Now();
  auto result = add(Literal::Scalar(1.0f));
  ASSERT_TRUE(result.ok()) << result.status();
  const auto value =
      result->Fetch({.call = {.deadline = absl::Milliseconds(300)}});
  EXPECT_EQ(value.status().code(), absl::StatusCode::kDeadlineExceeded)
      << value.status();
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  server_->Signal(SIGCONT);
  const auto later = result->Fetch();
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_EQ(later->data<float>()[0], 2.0f);
}

TEST_F(KillTest, AnAttemptTimeoutHandsAFrozenServersWorkToTheCpu) {
  Start();
  const Client client = Connected(Client::Cpu());
  auto add = Jit([](Tensor x) { return x + 1; }).With({.client = client});
  ASSERT_TRUE(add.Warm(Literal::Scalar(1.0f)).ok());
  ASSERT_TRUE(server_->Freeze().ok());
  auto result = add(Literal::Scalar(41.0f));
  ASSERT_TRUE(result.ok()) << result.status();
  const auto value = result->Fetch(
      {.call = {.deadline = absl::Seconds(30),
                .attempt_timeout = absl::Milliseconds(200)}});
  server_->Signal(SIGCONT);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->data<float>()[0], 42.0f);
  EXPECT_EQ(result->ran_on(), "cpu (fallback: too slow)");
}

TEST_F(KillTest, SigtermEndsTheServerCleanlyWithASessionOpen) {
  Start();
  const Client client = Connected(Client());
  ASSERT_TRUE(client.capabilities().ok());
  server_->Signal(SIGTERM);
  const auto code = server_->Wait(absl::Seconds(10));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 0) << server_->output();
}

}  // namespace
}  // namespace hawser::testing
