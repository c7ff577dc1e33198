// Minutes of mixed work of clients that come and go: afterwards an idle server
// has given back what it took. HAWSER_SOAK_SECONDS says how long, 600.
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/hawser.h"
#include "core/base/clock.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int kClients = 4;
// Of a server that does nothing and holds nothing.
constexpr absl::Duration kGivesBackWithin = absl::Seconds(5);
constexpr int64_t kSlack = 128 * kMiB;

absl::Duration HowLong() {
  int seconds = 600;
  const char* const text = std::getenv("HAWSER_SOAK_SECONDS");
  if (text != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(text, &seconds)) << text;
  }
  return absl::Seconds(seconds);
}

int64_t ResidentOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/statm"));
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4096;
}

// One client's life: steps on values that stay there, uploads of all sizes, a
// dataset, and values that are dropped on the way.
absl::Status Live(const std::string& address, int number) {
  const absl::StatusOr<Client> client =
      Connect({.servers = {address}, .fallback = Client()});
  if (!client.ok()) return client.status();
  auto step = Jit([](Tensor w, Tensor x) { return w + Mean(Exp(x)); })
                  .With({.client = *client});
  Tensor w = Zeros(DType::kF32, {1000});
  for (int i = 0; i < 20; ++i) {
    const int64_t n = int64_t{1} << ((i + number) % 22);
    const auto next = step(w, Literal::Zeros(Shape::Of(DType::kF32, {n})));
    if (!next.ok()) return next.status();
    w = *next;
  }
  const absl::StatusOr<Literal> value =
      w.Fetch({.call = {.deadline = absl::Minutes(1)}});
  if (!value.ok()) return value.status();
  EXPECT_EQ(value->data<float>()[999], 20.0f);
  const auto put = client->Put(
      {{"x", Literal::Zeros(Shape::Of(DType::kF32, {1 << (10 + number % 8)}))}});
  return put.status();
}

TEST(SoakTest, AnIdleServerHasGivenBackWhatItTook) {
  std::string address;
  auto server =
      StartHawserd({"--device=cpu", "--lease=1s", "--memory=4GiB"}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  ASSERT_TRUE(Live(address, 0).ok());
  absl::SleepFor(kGivesBackWithin);
  const int64_t before = ResidentOf(server->pid());
  const absl::Time end = SteadyNow() + HowLong();
  std::vector<std::thread> clients;
  std::atomic<int> lives{0};
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      for (int i = c; SteadyNow() < end; i += kClients, ++lives) {
        const absl::Status status = Live(address, i);
        ASSERT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  const int64_t busy = ResidentOf(server->pid());
  // A lease, and what it takes to notice.
  absl::SleepFor(absl::Seconds(3) + kGivesBackWithin);
  const int64_t after = ResidentOf(server->pid());
  RecordProperty("before_mib", static_cast<int>(before / kMiB));
  RecordProperty("busy_mib", static_cast<int>(busy / kMiB));
  RecordProperty("after_mib", static_cast<int>(after / kMiB));
  RecordProperty("lives", lives.load());
  EXPECT_GT(lives, kClients);
  server->Signal(SIGTERM);
  EXPECT_TRUE(server->Wait(absl::Minutes(1)).ok());
  // Who behaves is not closed.
  EXPECT_FALSE(absl::StrContains(server->output(), "closed"))
      << server->output();
  EXPECT_LE(after, before + kSlack) << before << " " << busy << " " << after;
}

}  // namespace
}  // namespace hawser::testing
