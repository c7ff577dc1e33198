#include "server/service/datasets_service.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/cpu_threads.h"
#include "core/wire/dataset_verbs.h"
#include "proto/bulk_frame.h"
#include "proto/datasets.grpc.pb.h"
#include "server/service/messages/frames.h"
#include "server/service/messages/unary.h"

namespace hawser::server {
namespace {

// Frames above this are copied and hashed by another thread: the one that
// serves connections would keep small steps of others waiting.
constexpr uint64_t kFrameForWorkers = 64 << 10;
const bool kManyCores = CpuThreads() > 1;

// A chunk that waits for memory, because the disk is slow, says so as often.
constexpr absl::Duration kBeat = absl::Milliseconds(200);

// The writes of a Put's stream: beats while it waits, then its end. A beat is
// written only while the stream waits, and the end only when no beat is under
// way. Thread-safe; outlives the call in an alarm.
class PutAnswers : public std::enable_shared_from_this<PutAnswers> {
 public:
  explicit PutAnswers(Rpc* rpc) : rpc_(*rpc) {}

  // The stream waits from now on; `so_far` is what each beat says.
  void Wait(const v1::PutReply& so_far) {
    MutexLock lock(&mu_);
    so_far_ = so_far;
    since_ = SteadyNow();
    waits_ = true;
    if (!writes_) BeatAt(since_ + kBeat);
  }
  void WaitNoMore() {
    MutexLock lock(&mu_);
    waits_ = false;
  }
  void OnWritten(bool ok) {
    MutexLock lock(&mu_);
    writes_ = false;
    if (end_ != nullptr) return std::exchange(end_, nullptr)();
    if (waits_ && ok) BeatAt(SteadyNow() + kBeat);
  }
  // Calls `end`, which finishes the call; maybe on the thread of OnWritten. The
  // reactor may be gone before this returns.
  void End(std::function<void()> end) {
    const auto self = shared_from_this();
    MutexLock lock(&mu_);
    waits_ = false;
    if (!writes_) return end();
    end_ = std::move(end);
  }

 private:
  // One alarm at a time: it looks whether what waits then has waited so long.
  void BeatAt(absl::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (std::exchange(is_armed_, true)) return;
    Alarm::OfProcess().At(when, [self = shared_from_this()] { self->Beat(); });
  }
  void Beat() {
    MutexLock lock(&mu_);
    is_armed_ = false;
    if (!waits_) return;  // the call may be over
    if (SteadyNow() < since_ + kBeat) return BeatAt(since_ + kBeat);
    writes_ = true;
    grpc::ByteBuffer beat;
    FillBuffer(so_far_, &beat);
    rpc_.Write(beat);
  }

  Rpc& rpc_;
  Mutex mu_;
  v1::PutReply so_far_ ABSL_GUARDED_BY(mu_);
  bool waits_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time since_ ABSL_GUARDED_BY(mu_);  // it waits
  bool is_armed_ ABSL_GUARDED_BY(mu_) = false;
  bool writes_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> end_ ABSL_GUARDED_BY(mu_);
};

class PutReactor final : public Reactor {
 public:
  PutReactor(Rpc* rpc, std::unique_ptr<PutStream> stream, ThreadPool* workers)
      : Reactor(rpc),
        stream_(std::move(stream)),
        workers_(workers),
        answers_(std::make_shared<PutAnswers>(rpc)) {
    rpc->Read(&buffer_);
  }

  void OnRead(bool ok) override {
    if (!ok) return Complete();
    v1::PutChunk header;
    if (!frame_.Parse(&buffer_, v1::PutChunk::kDataFieldNumber, &header)) {
      return Fail(InvalidArgument("not a frame of this stream"));
    }
    const bool begins = !header.digest().empty();
    if (begins) answers_->Wait(stream_->so_far());
    stream_->Frame(header, frame_.size(),
                   [this, begins](const absl::Status& ready) {
                     if (begins) answers_->WaitNoMore();
                     Ready(ready);
                   });
  }
  void OnWritten(bool ok) override { answers_->OnWritten(ok); }

 private:
  void Ready(const absl::Status& status) {
    if (!status.ok()) return Fail(status);
    if (frame_.size() < kFrameForWorkers || !kManyCores) return Receive();
    workers_->Schedule([this] { Receive(); });
  }
  void Receive() {
    if (frame_.size() > 0) {
      frame_.CopyTo(stream_->at());
      const absl::Status status =
          stream_->Filled(static_cast<int64_t>(frame_.size()));
      if (!status.ok()) return Fail(status);
    }
    rpc().Read(&buffer_);
  }
  void Complete() {
    const absl::StatusOr<v1::PutReply> result = stream_->Finish();
    if (!result.ok()) return Fail(result.status());
    FillBuffer(*result, &buffer_);
    answers_->End([this] { rpc().FinishWith(buffer_); });
  }
  void Fail(const absl::Status& status) {
    answers_->End([this, status] { rpc().Finish(status); });
  }

  const std::unique_ptr<PutStream> stream_;
  ThreadPool* const workers_;
  const std::shared_ptr<PutAnswers> answers_;
  grpc::ByteBuffer buffer_;
  InFrame frame_;
};

absl::StatusOr<PieceStream::Pieces> OpenRows(DatasetsHandler* handler,
                                             const std::string& tenant,
                                             const grpc::ByteBuffer& buffer) {
  v1::GetRequest request;
  HAWSER_RETURN_IF_ERROR(ParseBuffer(buffer, &request));
  HAWSER_ASSIGN_OR_RETURN(auto rows, handler->Get(tenant, request));
  v1::GetChunk first;
  *first.mutable_shape() = ToProto(rows->shape());
  return PieceStream::Pieces{first.SerializeAsString(), [rows](PieceDone done) {
                               rows->Next(std::move(done));
                             }};
}

}  // namespace

void AddDatasetsMethods(DatasetsHandler* handler, ThreadPool* workers,
                        RpcServer* server) {
  const char* const service = v1::Datasets::service_full_name();
  ForEachDatasetsMethod([&](auto method) {
    using Method = decltype(method);
    server->Add(service, Method::kMethod,
                UnaryMethod<typename Method::Request, typename Method::Reply>(
                    [handler](const std::string& tenant,
                              typename Method::Request* request,
                              const CancelToken&, auto done) {
                      handler->Serve(Method(), tenant, *request,
                                     std::move(done));
                    }));
  });
  server->Add(service, "Put", [handler, workers](Rpc* rpc, std::string tenant) {
    return std::make_unique<PutReactor>(rpc, handler->Put(tenant), workers);
  });
  server->Add(service, "Get", [handler](Rpc* rpc, std::string tenant) {
    return std::make_unique<PieceStream>(
        rpc, v1::GetChunk::kDataFieldNumber,
        [handler, tenant = std::move(tenant)](const grpc::ByteBuffer& buffer) {
          return OpenRows(handler, tenant, buffer);
        });
  });
}

}  // namespace hawser::server
