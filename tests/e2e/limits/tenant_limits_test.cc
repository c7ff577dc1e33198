// One tenant takes all that it may have of a server; another one notices
// nothing.
#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "client/hawser.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "proto/executor.grpc.pb.h"
#include "proto/grpc_status.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int64_t kMiB = 1 << 20;
constexpr absl::string_view kGreedy = "greedy-tenants-token-0123456789ab";
constexpr absl::string_view kQuiet = "quiet-tenants-token-0123456789abc";

int Finish(ComputationBuilder& builder, ValueId result) {
  const absl::StatusOr<int> index = builder.Finish({result});
  EXPECT_TRUE(index.ok()) << index.status();
  return index.ok() ? *index : 0;
}

// (x: f32[n]) -> x, after a loop without an end.
Module Endless(int64_t n) {
  const Shape shape = Shape::Of(DType::kF32, {n});
  Module m("endless");
  ComputationBuilder condition(&m, "condition");
  condition.Parameter(shape);
  const ValueId one = condition.Constant(Literal::Scalar<int32_t>(1));
  const int goes_on = Finish(
      condition, condition.Add(kCompare, {one, one}, {{"direction", "EQ"}}));
  ComputationBuilder body(&m, "body");
  const ValueId state = body.Parameter(shape);
  const int stays = Finish(body, state);
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(shape);
  Finish(b, b.Add(kWhile, {x}, {}, {goes_on, stays}));
  return m;
}

// A stateless call that does not end by itself.
class EndlessCall {
 public:
  EndlessCall(v1::Executor::Stub* stub, absl::string_view token, int64_t n) {
    const std::string module = EncodeModule(Endless(n));
    request_.set_fingerprint(std::string(Fingerprint(module, {}).bytes()));
    request_.set_module(module);
    *request_.mutable_options() = ToProto(runtime::CompileOptions());
    ToProto(Literal::Zeros(Shape::Of(DType::kF32, {n})),
            request_.add_arguments()->mutable_literal());
    context_.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    stub->async()->Call(&context_, &request_, &reply_,
                        [this](const grpc::Status& status) {
                          MutexLock lock(&mu_);
                          status_ = FromGrpc(status);
                          over_ = true;
                          changed_.SignalAll();
                        });
  }
  ~EndlessCall() {
    Cancel();
    Wait(absl::InfiniteDuration());
  }
  void Cancel() { context_.TryCancel(); }
  // False: it goes on.
  bool Wait(absl::Duration patience) {
    MutexLock lock(&mu_);
    return changed_.WaitUntil(
        &mu_, SteadyNow() + patience,
        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return over_; });
  }
  absl::Status status() {
    MutexLock lock(&mu_);
    return status_;
  }

 private:
  v1::CallRequest request_;
  v1::CallReply reply_;
  grpc::ClientContext context_;
  Mutex mu_;
  CondVar changed_;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

// A session that was opened, or refused.
class OpenSession {
 public:
  OpenSession(v1::Executor::Stub* stub, absl::string_view token) {
    context_.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    stream_ = stub->Session(&context_);
    v1::ClientMessage open;
    open.mutable_open();
    stream_->Write(open);
    v1::ServerMessage answer;
    if (!stream_->Read(&answer)) {
      status_ = FromGrpc(stream_->Finish());
    } else {
      open_ = true;
      status_ = FromProto(answer.status());
    }
  }
  ~OpenSession() {
    context_.TryCancel();
    if (open_) (void)stream_->Finish();
  }
  const absl::Status& status() const { return status_; }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>>
      stream_;
  bool open_ = false;
  absl::Status status_;
};

class TenantLimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto line = [](absl::string_view tenant, absl::string_view token) {
      return absl::StrCat(tenant, " ", Sha256(token).ToHex(), "\n");
    };
    const std::string tokens = folder_.Write(
        "tokens", absl::StrCat(line("quiet", kQuiet), line("greedy", kGreedy)));
    ASSERT_OK_AND_ASSIGN(
        Process server,
        StartHawserd(
            {"--device=cpu", "--tokens_file=" + tokens, "--memory=512MiB",
             "--max_connections=128", "--dataset_memory=64MiB"},
            &address_));
    server_ = std::make_unique<Process>(std::move(server));
  }
  void TearDown() override {
    server_->Signal(SIGTERM);
    const auto code = server_->Wait(kPatience);
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(*code, 0) << server_->output();
    EXPECT_LT(server_->peak_memory(), 768 * kMiB) << server_->output();
  }

  absl::StatusOr<Client> ConnectAs(absl::string_view token) {
    return Connect({.servers = {address_},
                    .credentials = {.token = std::string(token)},
                    .fallback = Client()});
  }
  // A connection of its own.
  std::unique_ptr<v1::Executor::Stub> NewStub() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxSendMessageSize(-1);
    return v1::Executor::NewStub(grpc::CreateCustomChannel(
        address_, grpc::InsecureChannelCredentials(), arguments));
  }

  // Datasets in memory, by the greedy tenant.
  void PutUntilRefused(std::vector<Dataset>* kept) {
    ASSERT_OK_AND_ASSIGN(const Client greedy, ConnectAs(kGreedy));
    absl::Status refused;
    for (int i = 0; refused.ok() && i < 64; ++i) {
      std::vector<float> numbers(1 << 20, static_cast<float>(i));
      const auto dataset =
          greedy.Put({{"x", Literal::Of<float>(numbers, {int64_t{1} << 20})}});
      refused = dataset.status();
      if (dataset.ok()) kept->push_back(*dataset);
    }
    EXPECT_THAT(refused,
                StatusIs(absl::StatusCode::kResourceExhausted, "quota"));
    EXPECT_GT(kept->size(), 4u);
  }

  // Opens a session, puts a dataset and computes with it.
  void ExpectTheOtherTenantIsServed() {
    ASSERT_OK_AND_ASSIGN(const Client client, ConnectAs(kQuiet));
    std::vector<float> numbers(1 << 18, 1.0f);
    numbers[0] = static_cast<float>(++served_);
    ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        client.Put({{"x", Literal::Of<float>(numbers, {int64_t{1} << 18})}}));
    auto sum = Jit([](Tensor x) { return Sum(x); }).With({.client = client});
    ASSERT_OK_AND_ASSIGN(const Tensor result, sum(dataset["x"]));
    ASSERT_OK_AND_ASSIGN(const Literal value,
                         result.Fetch({.call = {.deadline = kPatience}}));
    EXPECT_EQ(value.data<float>()[0], (1 << 18) - 1 + served_);
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Process> server_;

 private:
  int served_ = 0;
};

TEST_F(TenantLimitsTest, OneAtEveryLimitAtOnce) {
  std::vector<Dataset> datasets;
  PutUntilRefused(&datasets);
  ExpectTheOtherTenantIsServed();

  // Sessions.
  absl::Status refused;
  std::vector<std::unique_ptr<v1::Executor::Stub>> stubs;
  std::deque<OpenSession> sessions;
  while (refused.ok() && sessions.size() < 5000) {
    if (sessions.size() % 900 == 0) stubs.push_back(NewStub());
    sessions.emplace_back(stubs.back().get(), kGreedy);
    refused = sessions.back().status();
  }
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted, "tenant greedy"));
  // One is that of the SDK's client.
  EXPECT_EQ(sessions.size(), 1024u);
  ExpectTheOtherTenantIsServed();

  // Executions that run or wait.
  std::deque<EndlessCall> calls;
  refused = absl::OkStatus();
  while (refused.ok() && calls.size() < 5000) {
    if (calls.size() % 900 == 0) stubs.push_back(NewStub());
    calls.emplace_back(stubs.back().get(), kGreedy, 16);
    // Those that are refused are so at once; the last of them tells.
    if (calls.size() % 100 == 0 && calls.back().Wait(absl::Seconds(2))) {
      refused = calls.back().status();
    }
  }
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kResourceExhausted, "greedy"));
  ExpectTheOtherTenantIsServed();

  // Connections: a quarter of all.
  refused = absl::OkStatus();
  while (refused.ok() && stubs.size() < 200) {
    stubs.push_back(NewStub());
    EndlessCall call(stubs.back().get(), kGreedy, 17);
    call.Wait(absl::Milliseconds(100));
    if (absl::StrContains(call.status().message(), "connections")) {
      refused = call.status();
    }
  }
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted,
                                "tenant greedy has 32 connections"));
  EXPECT_LE(stubs.size(), 32u);
  ExpectTheOtherTenantIsServed();
}

// Twice the memory there is, by one that has one such call under way at a time.
TEST_F(TenantLimitsTest, CancelledCallsThatWaitLeaveTheirArguments) {
  const auto stub = NewStub();
  std::deque<EndlessCall> busy;
  for (int i = 0; i < 8; ++i) busy.emplace_back(stub.get(), kGreedy, 16);
  absl::SleepFor(absl::Milliseconds(200));
  for (int i = 0; i < 64; ++i) {
    EndlessCall call(stub.get(), kGreedy, 4 * kMiB);
    EXPECT_FALSE(call.Wait(absl::Milliseconds(20))) << i << call.status();
    call.Cancel();
    ASSERT_TRUE(call.Wait(kPatience));
    ASSERT_EQ(call.status().code(), absl::StatusCode::kCancelled)
        << i << ": " << call.status();
  }
  ExpectTheOtherTenantIsServed();
}

}  // namespace
}  // namespace hawser::testing
