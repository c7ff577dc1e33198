#include "tests/client/remote/lies/lying_end.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"
#include "tests/client/remote/lies/tcp_relay.h"

namespace hawser::testing {
namespace {

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

constexpr char kGarbage[] = "\xff\xff\xff\xff\xff\xff";

// The name of another dataset, which is well formed.
void NameAnother(v1::DatasetInfoProto* info) {
  std::string& token = *info->mutable_token();
  if (token.size() < 5) return;
  token[4] = token[4] == 'a' ? 'b' : 'a';
}

// An answer of `method` that is well formed and does not fit.
std::string WrongAnswer(const std::string& method, const std::string& bytes) {
  if (method == "FindMissing") {
    v1::FindMissingReply reply;
    reply.add_missing(4096);
    return reply.SerializeAsString();
  }
  if (method == "Put") {
    v1::PutReply reply;
    reply.set_chunks(4097);
    return reply.SerializeAsString();
  }
  if (method == "Call") {
    v1::CallReply reply;
    (void)reply.ParseFromString(bytes);
    reply.clear_results();
    return reply.SerializeAsString();
  }
  if (method == "List") {
    v1::ListReply reply;
    (void)reply.ParseFromString(bytes);
    reply.set_more(true);
    if (reply.datasets_size() > 0) {
      *reply.add_datasets() = v1::DatasetInfoProto(reply.datasets(0));
    }
    return reply.SerializeAsString();
  }
  if (method == "Commit" || method == "Stat" || method == "Pin") {
    v1::DatasetInfoProto reply;
    (void)reply.ParseFromString(bytes);
    NameAnother(&reply);
    return reply.SerializeAsString();
  }
  if (method == "Download") return "";
  return kGarbage;
}

// What is lied about a session's answers, by their numbers.
class SessionLies {
 public:
  SessionLies(std::string kind, Lie lie) : kind_(std::move(kind)), lie_(lie) {}

  // A request goes by. True: it is of the kind.
  bool Note(const v1::ClientMessage& message) {
    bool any = false;
    for (const auto& one : message.more()) any |= Note(one);
    const auto* field = v1::ClientMessage::descriptor()->FindFieldByNumber(
        message.request_case());
    if (field == nullptr || field->name() != kind_) return any;
    numbers_.insert(message.sequence());
    return true;
  }
  // Returns how many lies it told.
  int Tell(v1::ServerMessage* message) {
    int told = 0;
    v1::ServerMessage kept;
    for (v1::ServerMessage& one : *message->mutable_more()) {
      if (!IsOne(one.sequence(), one.has_open())) {
        *kept.add_more() = std::move(one);
      } else if (++told; lie_ != Lie::kMute) {
        TellOne(&one);
        *kept.add_more() = std::move(one);
      }
    }
    for (const uint64_t number : message->done()) {
      if (!IsOne(number, false)) {
        kept.add_done(number);
      } else if (++told; lie_ == Lie::kWrongNumber) {
        kept.add_done(number + 1000);
      } else if (lie_ != Lie::kMute) {
        kept.add_more();
      }
    }
    if (message->more().empty() && message->done().empty()) {
      if (IsOne(message->sequence(), message->has_open())) {
        TellOne(message);
        return 1;
      }
    } else {
      *message = std::move(kept);
    }
    return told;
  }

 private:
  bool IsOne(uint64_t number, bool has_open) const {
    return has_open ? kind_ == "open" : numbers_.count(number) > 0;
  }
  void TellOne(v1::ServerMessage* one) {
    if (lie_ == Lie::kWrongNumber) {
      return one->set_sequence(one->sequence() + 1000);
    }
    if (lie_ != Lie::kWrongResult) return one->Clear();
    if (one->has_execute()) {
      for (auto& result : *one->mutable_execute()->mutable_results()) {
        result.mutable_data()->append("x");
      }
    } else if (one->has_fetch()) {
      one->mutable_fetch()->mutable_data()->append("x");
      one->mutable_fetch()->set_large(false);
    } else if (one->has_freeze()) {
      NameAnother(one->mutable_freeze()->mutable_dataset());
    } else if (one->has_open()) {
      one->mutable_open()->set_session_id(0);
    } else {
      one->add_more()->add_more();
    }
  }

  const std::string kind_;
  const Lie lie_;
  std::set<uint64_t> numbers_;
};

class Proxy final : public LyingEnd, public grpc::CallbackGenericService {
 public:
  Proxy(const std::string& server, std::string stage, Lie lie)
      : stage_(std::move(stage)), lie_(lie) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    // Each proxy has a connection of its own.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
        server, grpc::InsecureChannelCredentials(), arguments));
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(-1);
    server_ = builder.BuildAndStart();
    relay_ = std::make_unique<TcpRelay>(absl::StrCat("127.0.0.1:", port));
  }
  ~Proxy() override {
    relay_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  const std::string& address() const override { return relay_->address(); }
  void Begin() override { lying_ = true; }
  int lies() const override { return lies_; }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

  // The next of `method`'s answers; false: it never comes.
  bool Answer(const std::string& method, SessionLies* session,
              grpc::ByteBuffer* buffer);
  // A request of `method` goes by.
  void Request(const std::string& method, SessionLies* session,
               const grpc::ByteBuffer& buffer);

 private:
  friend class ProxyCall;
  bool IsOfSession() const { return absl::StartsWith(stage_, "Session/"); }
  void OnStage() {
    if (lie_ == Lie::kStopped) relay_->set_mode(TcpRelay::Mode::kStopped);
    if (lie_ == Lie::kByteASecond) {
      relay_->set_mode(TcpRelay::Mode::kByteASecond);
    }
    if (lie_ == Lie::kStopped || lie_ == Lie::kByteASecond) ++lies_;
  }
  bool IsOfBytes() const {
    return lie_ == Lie::kStopped || lie_ == Lie::kByteASecond;
  }

  const std::string stage_;
  const Lie lie_;
  std::atomic<bool> lying_{false};
  std::atomic<int> lies_{0};
  std::unique_ptr<grpc::GenericStub> stub_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<TcpRelay> relay_;
};

// One call, passed on. Lives until both sides are done.
class ProxyCall final : public grpc::ServerGenericBidiReactor {
 public:
  ProxyCall(Proxy* proxy, const std::string& method)
      : proxy_(proxy),
        method_(method.substr(method.rfind('/') + 1)),
        session_(proxy->IsOfSession() ? proxy->stage_.substr(8) : "",
                 proxy->lie_) {
    proxy->stub_->PrepareBidiStreamingCall(&context_, method, {}, &up_);
    // Until nothing more goes up, and until nothing more is read.
    up_.AddMultipleHolds(2);
    up_.StartRead(&answer_);
    up_.StartCall();
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    const std::lock_guard<std::mutex> lock(mu_);
    if (up_ended_) return;
    if (!ok) {
      up_.StartWritesDone();
      return EndUpward();
    }
    proxy_->Request(method_, &session_, request_);
    up_.StartWrite(&request_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) {
      up_.StartRead(&answer_);
    } else {
      up_.RemoveHold();
    }
  }
  void OnCancel() override {
    context_.TryCancel();
    FinishOnce(grpc::Status::CANCELLED);
  }
  void OnDone() override { Drop(); }

 private:
  class Upward final
      : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    explicit Upward(ProxyCall* call) : call_(call) {}
    void OnReadDone(bool ok) override { call_->OnAnswer(ok); }
    void OnWriteDone(bool ok) override {
      if (ok) call_->ReadNext();
    }
    void OnDone(const grpc::Status& status) override {
      if (!call_->mute_) call_->FinishOnce(status);
      call_->Drop();
    }

   private:
    ProxyCall* const call_;
  };

  void OnAnswer(bool ok) {
    if (!ok) {
      const std::lock_guard<std::mutex> lock(mu_);
      up_.RemoveHold();
      return EndUpward();
    }
    if (proxy_->Answer(method_, &session_, &answer_)) {
      const std::lock_guard<std::mutex> lock(mu_);
      if (finished_) return up_.RemoveHold();
      StartWrite(&answer_);
    } else {
      mute_ = mute_ || method_ != "Session";
      up_.StartRead(&answer_);
    }
  }
  void ReadNext() {
    const std::lock_guard<std::mutex> lock(mu_);
    if (finished_) return EndUpward();
    StartRead(&request_);
  }
  void EndUpward() {
    if (!std::exchange(up_ended_, true)) up_.RemoveHold();
  }
  void FinishOnce(const grpc::Status& status) {
    const std::lock_guard<std::mutex> lock(mu_);
    if (!std::exchange(finished_, true)) Finish(status);
  }
  void Drop() {
    if (--left_ == 0) delete this;
  }

  Proxy* const proxy_;
  const std::string method_;
  grpc::ClientContext context_;
  SessionLies session_;
  Upward up_{this};
  std::mutex mu_;
  bool up_ended_ = false;  // under mu_: nothing more goes up
  bool finished_ = false;  // under mu_: nothing more goes down
  std::atomic<bool> mute_{false};
  std::atomic<int> left_{2};
  grpc::ByteBuffer request_, answer_;
};

grpc::ServerGenericBidiReactor* Proxy::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new ProxyCall(this, context->method());
}

void Proxy::Request(const std::string& method, SessionLies* session,
                    const grpc::ByteBuffer& buffer) {
  if (!lying_) return;
  if (!IsOfSession()) {
    if (method == stage_) OnStage();
    return;
  }
  if (method != "Session") return;
  v1::ClientMessage message;
  if (message.ParseFromString(BytesOf(buffer)) && session->Note(message)) {
    OnStage();
  }
}

bool Proxy::Answer(const std::string& method, SessionLies* session,
                   grpc::ByteBuffer* buffer) {
  if (!lying_ || IsOfBytes() || lie_ == Lie::kNone) return true;
  if (IsOfSession()) {
    if (method != "Session") return true;
    v1::ServerMessage message;
    if (!message.ParseFromString(BytesOf(*buffer))) return true;
    const int told = session->Tell(&message);
    if (told == 0) return true;
    lies_ += told;
    if (lie_ == Lie::kGarbage) {
      *buffer = BufferOf(kGarbage);
      return true;
    }
    const std::string bytes = message.SerializeAsString();
    *buffer = BufferOf(bytes);
    return lie_ != Lie::kMute || !bytes.empty();
  }
  if (method != stage_) return true;
  ++lies_;
  if (lie_ == Lie::kMute) return false;
  *buffer = BufferOf(lie_ == Lie::kEmpty ? ""
                     : lie_ == Lie::kWrongResult
                         ? WrongAnswer(method, BytesOf(*buffer))
                         : kGarbage);
  return true;
}

}  // namespace

const char* LieName(Lie lie) {
  constexpr const char* kNames[] = {
      "none",         "mute",  "stopped",      "a byte a second",
      "wrong number", "empty", "wrong result", "garbage"};
  return kNames[static_cast<int>(lie)];
}

absl::StatusOr<std::unique_ptr<LyingEnd>> LyingEnd::Start(
    const std::string& server, std::string stage, Lie lie) {
  auto proxy = std::make_unique<Proxy>(server, std::move(stage), lie);
  if (proxy->address().empty()) return Internal("the relay did not start");
  return proxy;
}

}  // namespace hawser::testing
