// BenchServer against a server in this process. No times.
#include "client/bench/server_bench.h"

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/bench/tcp_exchange.h"
#include "client/remote/bare/grpc_bare_calls.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/loopback.h"

namespace hawser::bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As much as 1 MiB needs, however slow the machine: it ends by itself.
constexpr absl::Duration kEnough = absl::Minutes(1);

class ServerBench : public ::testing::Test {
 protected:
  void Start(LoopbackOptions options = {}) {
    ASSERT_OK_AND_ASSIGN(server_, LoopbackServer::Start(std::move(options)));
    plan_.address = server_->address();
    plan_.client = server_->Connect();
    plan_.time = absl::Milliseconds(50);
    plan_.bytes = 1 << 20;
    plan_.cancel = CancelToken(absl::Now() + kEnough);
    ASSERT_OK_AND_ASSIGN(
        plan_.bare, MakeBareCalls(server_->address(), server_->credentials(),
                                  plan_.cancel));
  }
  std::vector<std::string> Comparisons(const BenchReport& report) const {
    std::vector<std::string> all;
    for (const BenchRow& row : report.rows) {
      EXPECT_GT(row.ours, 0) << row.what;
      EXPECT_TRUE(std::isfinite(row.ratio()) && row.ratio() > 0) << row.what;
      EXPECT_GE(row.samples, 1u) << row.what;
      all.push_back(absl::StrCat(row.what, " / ", row.beside));
    }
    return all;
  }
  void ExpectNothingIsLeft() {
    ASSERT_OK_AND_ASSIGN(const DatasetUsage usage,
                         plan_.client->datasets().Ask(QueryUsage{}, {}));
    EXPECT_EQ(usage.datasets, 0);
    EXPECT_EQ(usage.bytes, 0);
    EXPECT_EQ(usage.upload_bytes, 0);
  }

  std::unique_ptr<LoopbackServer> server_;
  BenchPlan plan_;
};

TEST_F(ServerBench, EveryFigureStandsBesideWhatIsBelowIt) {
  Start();
  ASSERT_OK_AND_ASSIGN(const BenchReport report, BenchServer(plan_));
  EXPECT_OK(report.failure);
  EXPECT_THAT(
      Comparisons(report),
      ElementsAre(
          "step, p50 / gRPC ping, p50", "step, p99 / gRPC ping, p99",
          "step, p50 / TCP connect, p50", "step, p99 / TCP connect, p99",
          "Call, p50 / gRPC unary call, p50",
          "Call, p99 / gRPC unary call, p99", "Call, p50 / TCP connect, p50",
          "Call, p99 / TCP connect, p99",
          "100 dependent steps, p50 / one step, p50",
          "100 dependent steps, p50 / gRPC ping, p50",
          "upload of 1 MiB / gRPC Put streams",
          "download of 1 MiB / gRPC Get streams",
          "put of the same again, p50 / two gRPC unary calls, p50"));
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("--peer")));
  ExpectNothingIsLeft();
}

TEST_F(ServerBench, WithAPeerTcpIsRoundTripsAndStreams) {
  Start();
  ASSERT_OK_AND_ASSIGN(const TcpSocket listener,
                       TcpSocket::Listen("127.0.0.1:0"));
  ASSERT_OK_AND_ASSIGN(const TcpEndpoint local, listener.local());
  const CancelToken stop = CancelToken::WithFlag();
  std::thread peer([&] { ServeExchanges(listener, stop).IgnoreError(); });
  plan_.peer = local.ToString();
  const auto report = BenchServer(plan_);
  stop.Cancel();
  peer.join();
  ASSERT_OK(report);
  const auto rows = Comparisons(*report);
  for (const char* row :
       {"step, p50 / TCP round trip, p50", "Call, p99 / TCP round trip, p99",
        "upload of 1 MiB / TCP stream", "download of 1 MiB / TCP stream"}) {
    EXPECT_THAT(rows, Contains(row));
  }
  EXPECT_THAT(report->notes, IsEmpty());
}

TEST_F(ServerBench, APeerThatIsNotThereIsAnError) {
  Start();
  plan_.peer = "127.0.0.1:1";
  const absl::Status status = BenchServer(plan_).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("127.0.0.1:1"));
}

TEST_F(ServerBench, OfAUnixSocketThereIsNoTcp) {
  Start();
  plan_.address = "unix:/tmp/hawser.sock";  // as it was reached
  ASSERT_OK_AND_ASSIGN(const BenchReport report, BenchServer(plan_));
  for (const std::string& row : Comparisons(report)) {
    EXPECT_EQ(row.find("TCP"), std::string::npos) << row;
  }
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("is a Unix socket")));
}

TEST_F(ServerBench, AServerWithDisksSaysSoInItsRow) {
  Start({.data_dir = true});
  ASSERT_OK_AND_ASSIGN(const BenchReport report, BenchServer(plan_));
  EXPECT_THAT(Comparisons(report),
              Contains("upload of 1 MiB, to its disk / gRPC Put streams"));
  ExpectNothingIsLeft();
}

TEST_F(ServerBench, WhatTheQuotaRefusesLeavesTheOtherRows) {
  Start({.datasets = {.tenant_bytes = 1 << 10}});
  ASSERT_OK_AND_ASSIGN(const BenchReport report, BenchServer(plan_));
  EXPECT_TRUE(absl::IsResourceExhausted(report.failure)) << report.failure;
  EXPECT_THAT(Comparisons(report), Contains("step, p50 / gRPC ping, p50"));
  ExpectNothingIsLeft();
}

// Cancels in the middle: what was put is there, and not deleted yet.
class Cancels final : public BareCalls {
 public:
  enum In { kPut, kGet };

  Cancels(In in, std::shared_ptr<BareCalls> calls, const CancelToken& cancel)
      : in_(in), calls_(std::move(calls)), cancel_(cancel) {}
  absl::Status Check() override { return calls_->Check(); }
  absl::Status Ping() override { return calls_->Ping(); }
  absl::Status Put(const Literal& value,
                   absl::Span<const Digest> chunks) override {
    const absl::Status status = calls_->Put(value, chunks);
    if (in_ == kPut) cancel_.Cancel();
    return status;
  }
  absl::Status Commit(const DatasetManifest& manifest,
                      const CancelToken& cancel) override {
    return calls_->Commit(manifest, cancel);
  }
  absl::Status Get(const std::string& token, int64_t bytes) override {
    if (in_ == kGet) cancel_.Cancel();
    HAWSER_RETURN_IF_ERROR(cancel_.Check());
    return calls_->Get(token, bytes);
  }

 private:
  const In in_;
  const std::shared_ptr<BareCalls> calls_;
  const CancelToken cancel_;
};

TEST_F(ServerBench, InterruptedItLeavesNothing) {
  Start();
  const auto calls = plan_.bare;
  for (const auto in : {Cancels::kGet, Cancels::kPut}) {
    plan_.cancel = CancelToken::WithFlag();
    plan_.bare = std::make_shared<Cancels>(in, calls, plan_.cancel);
    ASSERT_OK_AND_ASSIGN(const BenchReport report, BenchServer(plan_));
    // After the put nothing may be left to be cancelled.
    EXPECT_TRUE(absl::IsCancelled(report.failure) ||
                (in == Cancels::kPut && report.failure.ok()))
        << report.failure;
    ExpectNothingIsLeft();
  }
}

TEST_F(ServerBench, AServerThatIsGoneIsAnError) {
  Start();
  server_->Kill();
  EXPECT_TRUE(absl::IsUnavailable(BenchServer(plan_).status()));
}

}  // namespace
}  // namespace hawser::bench
