// A server in this process, and its methods by name.
#ifndef HAWSER_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_
#define HAWSER_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"
#include "tests/server/service/raw_session.h"
#include "tests/server/service/raw_stream.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/loopback.h"

namespace hawser::testing {

inline absl::string_view BytesOf(const Literal& value) {
  return {value.bytes().data(), value.bytes().size()};
}

constexpr char kCall[] = "/hawser.v1.Executor/Call";
constexpr char kUpload[] = "/hawser.v1.Executor/Upload";
constexpr char kDownload[] = "/hawser.v1.Executor/Download";
constexpr uint64_t kPutNumber = 1;  // of the puts of these
constexpr char kFindMissing[] = "/hawser.v1.Datasets/FindMissing";
constexpr char kPut[] = "/hawser.v1.Datasets/Put";
constexpr char kCommit[] = "/hawser.v1.Datasets/Commit";
constexpr char kGet[] = "/hawser.v1.Datasets/Get";
constexpr char kStat[] = "/hawser.v1.Datasets/Stat";
constexpr char kList[] = "/hawser.v1.Datasets/List";
constexpr char kDelete[] = "/hawser.v1.Datasets/Delete";

// ---- frames of bulk streams

v1::UploadChunk UploadFrame(const RawSession& session, uint64_t handle,
                            absl::string_view data);
v1::PutChunk PutFrame(absl::string_view digest, uint64_t chunk_bytes,
                      absl::string_view data);

// One call: messages out, the answers and the status back.
template <typename Answer>
struct Called {
  absl::Status status;
  std::vector<Answer> answers;
  // The only one.
  const Answer& answer() const { return answers.at(0); }
};

template <typename Answer, typename Request>
Called<Answer> CallMethod(const std::shared_ptr<grpc::Channel>& channel,
                          const std::string& method,
                          const std::vector<Request>& requests) {
  std::vector<grpc::ByteBuffer> messages;
  for (const Request& r : requests) {
    messages.push_back(ToBuffer(r.SerializeAsString()));
  }
  std::vector<std::string> bytes;
  Called<Answer> called;
  called.status = CallRaw(channel, method, messages, &bytes);
  for (const std::string& b : bytes) {
    Answer answer;
    EXPECT_TRUE(answer.ParseFromString(b)) << method;
    called.answers.push_back(std::move(answer));
  }
  return called;
}

// Puts a dataset of one array, in frames of 100,000 bytes, and returns its
// token.
std::string PutArray(const std::shared_ptr<grpc::Channel>& channel,
                     const Literal& value);

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }
  void Start(LoopbackOptions options) {
    ASSERT_OK_AND_ASSIGN(server_, LoopbackServer::Start(std::move(options)));
    channel_ = ConnectRaw(server_->address());
  }
  // A session with AddModule as 1, PairModule as 2, and no handle yet.
  std::unique_ptr<RawSession> OpenSession() {
    auto session = std::make_unique<RawSession>(channel_);
    EXPECT_TRUE(session->Open().has_open());
    EXPECT_OK(session->Do(CompileMessage(1, EncodeModule(AddModule()))));
    EXPECT_OK(session->Do(CompileMessage(2, EncodeModule(PairModule()))));
    return session;
  }

  // Until the server, who hears of the end of a stream after its client does,
  // has no session any more; false after a long while.
  bool AllSessionsEnd() {
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (server_->sessions() > 0 && absl::Now() < deadline) {
      std::this_thread::yield();
    }
    return server_->sessions() == 0;
  }

  std::unique_ptr<LoopbackServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_
