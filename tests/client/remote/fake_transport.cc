// The Transport in front of a FakeServer.
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "core/wire/dataset_verbs.h"
#include "tests/client/remote/fake_server.h"

namespace hawser {

class FakeStream final : public SessionStream {
 public:
  FakeStream(FakeServer* server, FakeServer::LinkPtr link)
      : server_(server), link_(std::move(link)) {}
  ~FakeStream() override {
    FakeServer::CloseLink(link_, {Cancelled("the client ended the stream")});
  }
  void Send(std::shared_ptr<const v1::ClientMessage> message) override {
    server_->Post(
        [server = server_, link = link_, message = std::move(message)] {
          server->Handle(link, *message);
        });
  }
  void Finish(absl::Time deadline) override {
    auto heard = std::make_shared<std::atomic<bool>>(false);
    server_->Post([server = server_, heard, link = link_] {
      MutexLock lock(&server->mu_);
      ++server->counts_.goodbyes;
      server->sessions_.erase(link->session);
      *heard = true;
    });
    while (!*heard && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }

 private:
  FakeServer* const server_;
  const FakeServer::LinkPtr link_;
};

absl::Status FakeServer::EnterCall(const runtime::CallOptions& options,
                                   bool executes) {
  const CancelToken cancel = runtime::AttemptToken(options);
  MutexLock lock(&mu_);
  while ((frozen_ || (executes && hold_executes_)) && !refuse_) {
    HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), "fake"));
    changed_.WaitUntil(&mu_, SteadyNow() + absl::Milliseconds(5),
                       [] { return false; });
  }
  HAWSER_RETURN_IF_ERROR(Annotate(cancel.Check(), "fake"));
  return refuse_ ? Unavailable("fake: nobody listens") : absl::OkStatus();
}

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(FakeServer* server) : server_(server) {}
  std::string address() const override { return server_->address_; }

  std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) override {
    auto link = std::make_shared<FakeServer::Link>();
    link->callbacks = std::move(callbacks);
    bool refuse;
    {
      MutexLock lock(&server_->mu_);
      refuse = server_->refuse_;
      if (!refuse) server_->links_.push_back(link);
    }
    if (refuse) {
      server_->Post([link] {
        FakeServer::CloseLink(link, {Unavailable("Connection refused"), true});
      });
    }
    return std::make_unique<FakeStream>(server_, std::move(link));
  }

  // Answers on a thread of its own, as gRPC does.
  Future<v1::CallReply> Call(v1::CallRequest request,
                             const runtime::CallOptions& options) override {
    auto promise = std::make_shared<Promise<v1::CallReply>>();
    Future<v1::CallReply> future = promise->future();
    // The transport may go with the last callback of the call.
    server_->Spawn(
        [server = server_, promise, options, request = std::move(request)] {
          promise->Set(Run(server, request, options));
        });
    return future;
  }

  absl::Status Upload(const v1::UploadChunk& header, const Literal& value,
                      const runtime::CallOptions& options) override {
    HAWSER_RETURN_IF_ERROR(server_->EnterCall(options));
    {
      MutexLock lock(&server_->mu_);
      if (server_->fail_uploads_ > 0) {
        --server_->fail_uploads_;
        return Unavailable("fake: the side stream broke");
      }
      auto found = server_->sessions_.find(header.session_id());
      if (found == server_->sessions_.end()) return NotFound("session");
      auto slot = found->second.slots.find(header.handle());
      if (slot == found->second.slots.end()) return NotFound("handle");
      slot->second->ready = true;
      slot->second->value =
          *Literal::FromBytes(slot->second->shape, value.bytes());
      server_->RunDeferred();
    }
    server_->Post([] {});  // sends what that has answered
    if (options.progress)
      options.progress(value.bytes().size(), value.bytes().size());
    return absl::OkStatus();
  }

  absl::Status Download(const v1::DownloadRequest& request,
                        absl::Span<char> into,
                        const runtime::CallOptions& options) override {
    HAWSER_RETURN_IF_ERROR(server_->EnterCall(options));
    MutexLock lock(&server_->mu_);
    ++server_->counts_.downloads;
    auto found = server_->sessions_.find(request.session_id());
    if (found == server_->sessions_.end() ||
        found->second.secret != request.secret()) {
      return NotFound("session");
    }
    auto slot = found->second.slots.find(request.handle());
    if (slot == found->second.slots.end()) return NotFound("handle");
    return CopyTo(slot->second->value, into);
  }

  using Transport::Ask;
  absl::Status Ask(absl::string_view method,
                   const google::protobuf::Message& request,
                   google::protobuf::Message* reply,
                   const runtime::CallOptions& options) override {
    HAWSER_RETURN_IF_ERROR(server_->EnterCall(options));
    MutexLock lock(&server_->mu_);
    absl::Status status = Unimplemented("no method ", method);
    ForEachDatasetsMethod([&](auto one) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      using Method = decltype(one);
      if (method != Method::kMethod) return;
      const absl::StatusOr<typename Method::Reply> answer = Answer(
          Method(), static_cast<const typename Method::Request&>(request));
      status = answer.status();
      if (answer.ok()) reply->CopyFrom(*answer);
    });
    return status;
  }

  // Verbs that no test here needs.
  template <typename Method>
  absl::StatusOr<typename Method::Reply> Answer(Method,
                                                const typename Method::Request&)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    return Unimplemented(Method::kMethod);
  }

  absl::StatusOr<v1::FindMissingReply> Answer(
      FindMissingMethod, const v1::FindMissingRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    v1::FindMissingReply reply;
    const absl::string_view digests = request.digests();
    for (size_t i = 0; i * Digest::kSize < digests.size(); ++i) {
      const auto digest =
          Digest::FromBytes(digests.substr(i * Digest::kSize, Digest::kSize));
      if (!server_->chunks_.contains(*digest)) reply.add_missing(i);
    }
    return reply;
  }

  absl::Status PutChunks(uint64_t, absl::Span<const ChunkToPut> chunks,
                         const runtime::CallOptions& options) override {
    HAWSER_RETURN_IF_ERROR(server_->EnterCall(options));
    int64_t sent = 0;
    for (const ChunkToPut& chunk : chunks) {
      if (Sha256(chunk.bytes) != chunk.digest) return DataLoss("digest");
      sent += chunk.bytes.size();
      if (options.progress) options.progress(sent, 0);
      MutexLock lock(&server_->mu_);
      server_->counts_.put_bytes += chunk.bytes.size();
      server_->chunks_[chunk.digest] =
          std::string(chunk.bytes.data(), chunk.bytes.size());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<v1::DatasetInfoProto> Answer(CommitMethod,
                                              const v1::CommitRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    HAWSER_ASSIGN_OR_RETURN(DatasetManifest manifest,
                            FromProto(request.manifest()));
    if (std::exchange(server_->lose_chunk_, false)) {
      server_->chunks_.erase(manifest.arrays[0].chunks[0]);
    }
    for (const ArrayManifest& array : manifest.arrays) {
      for (const Digest& chunk : array.chunks) {
        if (server_->chunks_.contains(chunk)) continue;
        return FailedPrecondition("chunk ", chunk.ToHex(), " is missing");
      }
    }
    DatasetInfo info = InfoOf(manifest);
    info.durable = request.wait_durable();
    server_->datasets_[info.token] = std::move(manifest);
    return ToProto(info);
  }

  absl::StatusOr<v1::DatasetInfoProto> Answer(OnWire<StatDataset>,
                                              const v1::StatRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    auto found = server_->datasets_.find(request.token());
    if (found == server_->datasets_.end()) {
      return NotFound("dataset ", request.token());
    }
    v1::DatasetInfoProto info = ToProto(InfoOf(found->second));
    if (!request.digests()) return info;
    SetChunks(found->second, &info);
    if (server_->flip_digests_ > 0) {
      --server_->flip_digests_;
      info.mutable_arrays(0)->mutable_chunks()->at(0) ^= 1;
    }
    return info;
  }

  absl::StatusOr<v1::ListReply> Answer(OnWire<DatasetQuery>,
                                       const v1::ListRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    std::vector<DatasetInfo> all;
    for (const auto& [token, manifest] : server_->datasets_) {
      all.push_back(InfoOf(manifest));
    }
    HAWSER_ASSIGN_OR_RETURN(const DatasetQuery query,
                            OnWire<DatasetQuery>::Receive(request));
    return ToProto(PageOf(std::move(all), query, FakeServer::kPage));
  }

  absl::StatusOr<v1::DeleteReply> Answer(OnWire<DeleteDataset>,
                                         const v1::DeleteRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    if (server_->datasets_.erase(request.token()) == 0) {
      return NotFound("dataset ", request.token());
    }
    return v1::DeleteReply();
  }

  absl::Status Get(
      const v1::GetRequest& request,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
          on_shape,
      const runtime::CallOptions& options) override {
    HAWSER_RETURN_IF_ERROR(server_->EnterCall(options));
    MutexLock lock(&server_->mu_);
    HAWSER_RETURN_IF_ERROR(FailGet(request, options));
    HAWSER_ASSIGN_OR_RETURN(
        Literal value, server_->DatasetValue(request.token(), request.array()));
    if (request.row_count() > 0) {
      HAWSER_ASSIGN_OR_RETURN(
          value, SliceRows(value, {request.row_begin(), request.row_count()}));
    }
    if (request.chunk_count() > 0) {
      HAWSER_ASSIGN_OR_RETURN(value, ChunksOf(value, request));
    }
    HAWSER_ASSIGN_OR_RETURN(const absl::Span<char> into,
                            on_shape(ToProto(value.shape())));
    HAWSER_RETURN_IF_ERROR(CopyTo(value, into));
    const int64_t flip = server_->flip_get_at_ - BeginOf(request);
    if (server_->flips_ > 0 && flip >= 0 &&
        flip < static_cast<int64_t>(into.size())) {
      --server_->flips_;
      into[flip] ^= 1;
    }
    return absl::OkStatus();
  }

 private:
  // Of what is asked for in an array of bytes.
  static int64_t BeginOf(const v1::GetRequest& request) {
    return request.row_begin() + request.first_chunk() * kChunkBytes;
  }
  static absl::StatusOr<Literal> ChunksOf(const Literal& value,
                                          const v1::GetRequest& request) {
    const auto bytes =
        value.bytes().subspan(request.first_chunk() * kChunkBytes,
                              request.chunk_count() * kChunkBytes);
    const auto size = static_cast<int64_t>(bytes.size());
    return Literal::FromBytes(Shape::Of(DType::kU8, {size}), bytes);
  }
  // What FailGetAt asks for.
  absl::Status FailGet(const v1::GetRequest& request,
                       const runtime::CallOptions& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_->mu_) {
    if (server_->fail_get_at_ < 0) return absl::OkStatus();
    const bool fails = BeginOf(request) == server_->fail_get_at_;
    server_->waiting_gets_ += fails ? 0 : 1;
    const CancelToken cancel = runtime::AttemptToken(options);
    absl::Status over;
    while ((over = Annotate(cancel.Check(), "fake")).ok()) {
      if (fails && server_->waiting_gets_ > 0) {
        over = DataLoss("fake: row ", BeginOf(request), " cannot be read");
        break;
      }
      server_->changed_.WaitUntil(&server_->mu_,
                                  absl::Now() + absl::Milliseconds(5),
                                  [] { return false; });
    }
    server_->waiting_gets_ -= fails ? 0 : 1;
    server_->counts_.cancelled_gets += absl::IsCancelled(over);
    return over;
  }
  static absl::Status CopyTo(const Literal& value, absl::Span<char> into) {
    if (value.bytes().size() != into.size()) return DataLoss("size");
    if (!into.empty())
      std::memcpy(into.data(), value.bytes().data(), into.size());
    return absl::OkStatus();
  }

  static absl::StatusOr<v1::CallReply> Run(
      FakeServer* server, const v1::CallRequest& request,
      const runtime::CallOptions& options) {
    HAWSER_RETURN_IF_ERROR(server->EnterCall(options, /*executes=*/true));
    MutexLock lock(&server->mu_);
    ++server->counts_.calls;
    if (!request.module().empty()) {
      ++server->counts_.bodies;
      HAWSER_ASSIGN_OR_RETURN(const Module module,
                              DecodeModule(request.module()));
      server->modules_[request.fingerprint()] = module.signature();
    }
    if (!server->modules_.contains(request.fingerprint())) {
      return NotFound("fingerprint");
    }
    v1::CallReply reply;
    for (const v1::ArgumentProto& argument : request.arguments()) {
      HAWSER_ASSIGN_OR_RETURN(const auto slot,
                              server->ArgumentSlot(0, argument));
      Literal out = Literal::Uninitialized(slot->value.shape());
      for (int64_t i = 0; i < out.shape().num_elements(); ++i) {
        out.mutable_data<float>()[i] = slot->value.data<float>()[i] + 1;
      }
      ToProto(out, reply.add_results());
    }
    return reply;
  }

  FakeServer* const server_;
};

std::unique_ptr<Transport> FakeServer::NewTransport() {
  return std::make_unique<FakeTransport>(this);
}

}  // namespace hawser
