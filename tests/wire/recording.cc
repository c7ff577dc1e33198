#include "tests/wire/recording.h"

#include <cstdint>
#include <map>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "proto/executor.pb.h"

namespace hawser {

// An exchange of the session stands in `open_` from its request to its reply.
class Recorder {
 public:
  void OnRequest(const v1::ClientMessage& message) {
    MutexLock lock(&mu_);
    if (message.more_size() == 0) return Add(message);
    for (const v1::ClientMessage& each : message.more()) Add(each);
  }
  void OnReply(const v1::ServerMessage& message) {
    MutexLock lock(&mu_);
    for (const uint64_t sequence : message.done()) {
      v1::ServerMessage done;
      done.set_sequence(sequence);
      Answer(done);
    }
    for (const v1::ServerMessage& each : message.more()) Answer(each);
    if (message.more_size() == 0 && message.done_size() == 0) Answer(message);
  }
  void OnAnswered(absl::string_view method, std::string request,
                  std::string reply) {
    MutexLock lock(&mu_);
    said_.push_back(
        {std::string(method), std::move(request), std::move(reply)});
  }
  Conversation said() {
    MutexLock lock(&mu_);
    return said_;
  }

 private:
  void Add(const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    open_[message.sequence()] = said_.size();
    said_.push_back({kOnSession, message.SerializeAsString(), ""});
  }
  void Answer(const v1::ServerMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto at = open_.find(message.sequence());
    HAWSER_CHECK(at != open_.end());
    said_[at->second].reply = message.SerializeAsString();
    open_.erase(at);
  }

  Mutex mu_;
  Conversation said_ ABSL_GUARDED_BY(mu_);
  std::map<uint64_t, size_t> open_ ABSL_GUARDED_BY(mu_);
};

std::shared_ptr<Recorder> NewRecorder() { return std::make_shared<Recorder>(); }
Conversation Recorded(Recorder& recorder) { return recorder.said(); }

namespace {

class RecordingStream final : public SessionStream {
 public:
  RecordingStream(std::unique_ptr<SessionStream> inner,
                  std::shared_ptr<Recorder> recorder)
      : inner_(std::move(inner)), recorder_(std::move(recorder)) {}
  void Send(std::shared_ptr<const v1::ClientMessage> message) override {
    recorder_->OnRequest(*message);
    inner_->Send(std::move(message));
  }
  void Finish(absl::Time deadline) override { inner_->Finish(deadline); }

 private:
  const std::unique_ptr<SessionStream> inner_;
  const std::shared_ptr<Recorder> recorder_;
};

class RecordingTransport final : public Transport {
 public:
  RecordingTransport(std::unique_ptr<Transport> inner,
                     std::shared_ptr<Recorder> recorder)
      : inner_(std::move(inner)), recorder_(std::move(recorder)) {}
  std::string address() const override { return inner_->address(); }

  std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) override {
    callbacks.on_message =
        [recorder = recorder_,
         inner = std::move(callbacks.on_message)](v1::ServerMessage* message) {
          recorder->OnReply(*message);
          inner(message);
        };
    return std::make_unique<RecordingStream>(
        inner_->OpenSession(std::move(callbacks)), recorder_);
  }
  Future<v1::CallReply> Call(v1::CallRequest request,
                             const runtime::CallOptions& options) override {
    const std::string sent = request.SerializeAsString();
    Future<v1::CallReply> reply = inner_->Call(std::move(request), options);
    reply.OnReady([recorder = recorder_,
                   sent](const absl::StatusOr<v1::CallReply>& answer) {
      if (!answer.ok()) return;
      recorder->OnAnswered(kCallMethod, sent, answer->SerializeAsString());
    });
    return reply;
  }
  absl::Status Ask(absl::string_view method,
                   const google::protobuf::Message& request,
                   google::protobuf::Message* reply,
                   const runtime::CallOptions& options) override {
    HAWSER_RETURN_IF_ERROR(inner_->Ask(method, request, reply, options));
    recorder_->OnAnswered(method, request.SerializeAsString(),
                          reply->SerializeAsString());
    return absl::OkStatus();
  }

  absl::Status Upload(const v1::UploadChunk& header, const Literal& value,
                      const runtime::CallOptions& options) override {
    return inner_->Upload(header, value, options);
  }
  absl::Status Download(const v1::DownloadRequest& request,
                        absl::Span<char> into,
                        const runtime::CallOptions& options) override {
    return inner_->Download(request, into, options);
  }
  absl::Status PutChunks(uint64_t upload, absl::Span<const ChunkToPut> chunks,
                         const runtime::CallOptions& options) override {
    return inner_->PutChunks(upload, chunks, options);
  }
  absl::Status Get(
      const v1::GetRequest& request,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
          on_shape,
      const runtime::CallOptions& options) override {
    return inner_->Get(request, std::move(on_shape), options);
  }

 private:
  const std::unique_ptr<Transport> inner_;
  const std::shared_ptr<Recorder> recorder_;
};

}  // namespace

std::unique_ptr<Transport> Recording(std::unique_ptr<Transport> inner,
                                     std::shared_ptr<Recorder> recorder) {
  return std::make_unique<RecordingTransport>(std::move(inner),
                                              std::move(recorder));
}

}  // namespace hawser
