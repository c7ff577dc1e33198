#include "server/service/executor_service.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "proto/bulk_frame.h"
#include "proto/executor.grpc.pb.h"
#include "server/service/execution/stateless_call.h"
#include "server/service/messages/frames.h"
#include "server/service/messages/unary.h"
#include "server/service/stream/bulk.h"
#include "server/service/stream/session_link.h"

namespace hawser::server {
namespace {

class SessionReactor final : public Reactor, public SessionWire {
 public:
  SessionReactor(Rpc* rpc, Executor* executor, std::string tenant)
      : Reactor(rpc),
        peer_(rpc->context().peer()),
        link_(
            std::make_shared<SessionLink>(executor, std::move(tenant), this)) {
    link_->Start();
  }

  void Read(v1::ClientMessage* into) override {
    message_ = into;
    rpc().Read(&incoming_);
  }
  void Write(const v1::ServerMessage& message) override {
    FillBuffer(message, &outgoing_);
    rpc().Write(outgoing_);
  }
  void Finish(const absl::Status& status) override { rpc().Finish(status); }
  std::string peer() const override { return peer_; }

  void OnRead(bool ok) override {
    if (ok) {
      const absl::Status parsed = ParseBuffer(incoming_, message_);
      incoming_.Clear();
      parsed.ok() ? link_->OnMessage() : link_->Close(parsed);
    } else if (rpc().cancelled()) {
      link_->OnBroken();
    } else {
      link_->OnHalfClose();
    }
  }
  void OnWritten(bool) override { link_->OnWritten(); }
  void OnCancel() override { link_->OnBroken(); }
  void OnDone() override { link_->OnDone(!rpc().cancelled()); }

 private:
  const std::string peer_;
  const std::shared_ptr<SessionLink> link_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  v1::ClientMessage* message_ = nullptr;  // to be filled from incoming_
};

class UploadReactor final : public Reactor {
 public:
  UploadReactor(Rpc* rpc, Executor* executor, std::string tenant)
      : Reactor(rpc), executor_(executor), tenant_(std::move(tenant)) {
    rpc->Read(&buffer_);
  }

  void OnRead(bool ok) override {
    const absl::Status status = ok ? Receive() : Complete();
    if (ok && status.ok()) return rpc().Read(&buffer_);
    // Before the client hears of it: it may try again at once.
    receiver_ = nullptr;
    if (!status.ok()) return rpc().Finish(status);
    FillBuffer(v1::UploadReply(), &buffer_);
    rpc().FinishWith(buffer_);
  }

 private:
  absl::Status Receive() {
    v1::UploadChunk header;
    InFrame frame;
    if (!frame.Parse(&buffer_, v1::UploadChunk::kDataFieldNumber, &header)) {
      return InvalidArgument("not a frame of this stream");
    }
    if (receiver_ == nullptr) {
      HAWSER_ASSIGN_OR_RETURN(
          receiver_, UploadReceiver::Begin(*executor_, tenant_, header));
    }
    if (receiver_->filled()) return absl::OkStatus();
    if (frame.size() > static_cast<uint64_t>(receiver_->missing())) {
      return InvalidArgument("a frame of ", frame.size(), " bytes where only ",
                             receiver_->missing(), " are missing");
    }
    frame.CopyTo(receiver_->at());
    receiver_->Advance(static_cast<int64_t>(frame.size()));
    return absl::OkStatus();
  }
  absl::Status Complete() {
    if (receiver_ == nullptr) {
      return InvalidArgument("the first chunk names session and handle");
    }
    return receiver_->Finish();
  }

  Executor* const executor_;
  const std::string tenant_;
  grpc::ByteBuffer buffer_;
  std::unique_ptr<UploadReceiver> receiver_;
};

// The value of a handle as one piece, then the end.
PieceStream::Source ValueOf(Executor* executor, const std::string& tenant,
                            const v1::DownloadRequest& request) {
  return [executor, tenant, request,
          sent = std::make_shared<bool>(false)](const PieceDone& done) {
    if (std::exchange(*sent, true)) return done(Piece());
    FetchForDownload(
        *executor, tenant, request,
        [done](const absl::StatusOr<Literal>& value) {
          if (!value.ok()) return done(value.status());
          // The owner is the Literal itself.
          auto held = std::make_shared<const Literal>(*value);
          done(Piece{std::shared_ptr<const char>(held, held->bytes().data()),
                     held->bytes()});
        });
  };
}

}  // namespace

void AddExecutorMethods(Executor* executor, RpcServer* server) {
  const char* const service = v1::Executor::service_full_name();
  server->Add(service, "Session", [executor](Rpc* rpc, std::string tenant) {
    return std::make_unique<SessionReactor>(rpc, executor, std::move(tenant));
  });
  server->Add(service, "Upload", [executor](Rpc* rpc, std::string tenant) {
    return std::make_unique<UploadReactor>(rpc, executor, std::move(tenant));
  });
  server->Add(service, "Download", [executor](Rpc* rpc, std::string tenant) {
    return std::make_unique<PieceStream>(
        rpc, v1::DownloadChunk::kDataFieldNumber,
        [executor, tenant = std::move(tenant)](const grpc::ByteBuffer& buffer)
            -> absl::StatusOr<PieceStream::Pieces> {
          v1::DownloadRequest request;
          HAWSER_RETURN_IF_ERROR(ParseBuffer(buffer, &request));
          return PieceStream::Pieces{"", ValueOf(executor, tenant, request)};
        });
  });
  server->Add(
      service, "Call",
      UnaryMethod<v1::CallRequest, v1::CallReply>(
          [executor](const std::string& tenant, v1::CallRequest* request,
                     const CancelToken& cancel, auto done) {
            StatelessCall::Start(*executor, tenant, request, cancel,
                                 std::move(done));
          }));
}

}  // namespace hawser::server
