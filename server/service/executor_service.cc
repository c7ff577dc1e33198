#include "server/service/executor_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "core/base/status.h"
#include "proto/grpc_status.h"
#include "server/service/frames.h"
#include "server/service/refused.h"

namespace hawser::server {
namespace {

// Deletes itself in OnDone, like all reactors here.
class SessionReactor final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public SessionWire {
 public:
  SessionReactor(ExecutorHandler* handler, absl::string_view tenant,
                 grpc::CallbackServerContext* context)
      : context_(context), link_(handler->Connect(tenant, this)) {
    link_->Start();
  }

  void Read(v1::ClientMessage* into) override {
    message_ = into;
    StartRead(&incoming_);
  }
  void Write(const v1::ServerMessage& message) override {
    FillBuffer(message, &outgoing_);
    StartWrite(&outgoing_);
  }
  void Finish(const absl::Status& status) override {
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>::Finish(
        ToGrpc(status));
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      const absl::Status parsed = ParseBuffer(incoming_, message_);
      incoming_.Clear();
      parsed.ok() ? link_->OnMessage() : link_->Close(parsed);
    } else if (context_->IsCancelled()) {
      link_->OnBroken();
    } else {
      link_->OnHalfClose();
    }
  }
  void OnWriteDone(bool) override { link_->OnWritten(); }
  void OnCancel() override { link_->OnBroken(); }
  void OnDone() override {
    link_->OnDone(!context_->IsCancelled());
    delete this;
  }

 private:
  grpc::CallbackServerContext* const context_;
  const std::shared_ptr<SessionLink> link_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  v1::ClientMessage* message_ = nullptr;  // to be filled from incoming_
};

class CallReactor final : public grpc::ServerUnaryReactor {
 public:
  CallReactor(ExecutorHandler* handler, absl::string_view tenant,
              grpc::CallbackServerContext* context,
              const grpc::ByteBuffer& request, grpc::ByteBuffer* reply)
      : cancel_(CancelToken::WithFlag(absl::FromChrono(context->deadline()))) {
    const absl::Status parsed = ParseBuffer(request, &request_);
    if (!parsed.ok()) {
      Finish(ToGrpc(parsed));
      return;
    }
    handler->Call(tenant, &request_, cancel_,
                  [this, reply](absl::StatusOr<v1::CallReply> result) {
                    if (result.ok()) FillBuffer(*result, reply);
                    Finish(ToGrpc(result.status()));
                  });
  }
  void OnCancel() override { cancel_.Cancel(); }
  void OnDone() override { delete this; }

 private:
  const CancelToken cancel_;
  v1::CallRequest request_;
};

class UploadReactor final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  UploadReactor(ExecutorHandler* handler, std::string tenant,
                grpc::ByteBuffer* reply)
      : handler_(handler), tenant_(std::move(tenant)) {
    FillBuffer(v1::UploadReply(), reply);
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override {
    const absl::Status status = ok ? Receive() : Complete();
    if (ok && status.ok()) return StartRead(&buffer_);
    // Before the client hears of it: it may try again at once.
    receiver_ = nullptr;
    Finish(ToGrpc(status));
  }
  void OnDone() override { delete this; }

 private:
  absl::Status Receive() {
    v1::UploadChunk header;
    InFrame frame;
    HAWSER_RETURN_IF_ERROR(
        frame.Parse(&buffer_, v1::UploadChunk::kDataFieldNumber, &header));
    if (receiver_ == nullptr) {
      HAWSER_ASSIGN_OR_RETURN(receiver_, handler_->Upload(tenant_, header));
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

  ExecutorHandler* const handler_;
  const std::string tenant_;
  grpc::ByteBuffer buffer_;
  std::unique_ptr<UploadReceiver> receiver_;
};

// The value of a handle as one piece, then the end.
PieceStream::Source ValueOf(ExecutorHandler* handler,
                            const std::string& tenant,
                            const v1::DownloadRequest& request) {
  return [handler, tenant, request,
          sent = std::make_shared<bool>(false)](const PieceDone& done) {
    if (std::exchange(*sent, true)) return done(Piece());
    handler->Download(
        tenant, request, [done](const absl::StatusOr<Literal>& value) {
          if (!value.ok()) return done(value.status());
          // The owner is the Literal itself.
          auto held = std::make_shared<const Literal>(*value);
          done(Piece{std::shared_ptr<const char>(held, held->bytes().data()),
                     held->bytes()});
        });
  };
}

// The source of a stream that fails at once.
PieceStream::Source NothingBut(const absl::Status& status) {
  return [status](const PieceDone& done) { done(status); };
}

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>*
ExecutorService::Session(grpc::CallbackServerContext* context) {
  using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;
  const auto tenant = access_->TenantOf(*context);
  if (!tenant.ok()) return new Refused<Reactor>(tenant.status());
  return new SessionReactor(handler_, *tenant, context);
}

grpc::ServerUnaryReactor* ExecutorService::Call(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply) {
  const auto tenant = access_->TenantOf(*context);
  if (!tenant.ok()) {
    return new Refused<grpc::ServerUnaryReactor>(tenant.status());
  }
  return new CallReactor(handler_, *tenant, context, *request, reply);
}

grpc::ServerReadReactor<grpc::ByteBuffer>* ExecutorService::Upload(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* reply) {
  using Reactor = grpc::ServerReadReactor<grpc::ByteBuffer>;
  const auto tenant = access_->TenantOf(*context);
  if (!tenant.ok()) return new Refused<Reactor>(tenant.status());
  return new UploadReactor(handler_, *tenant, reply);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ExecutorService::Download(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  const auto tenant = access_->TenantOf(*context);
  v1::DownloadRequest parsed;
  absl::Status status = tenant.status();
  if (status.ok()) status = ParseBuffer(*request, &parsed);
  return new PieceStream(
      v1::DownloadChunk::kDataFieldNumber, v1::DownloadChunk(),
      status.ok() ? ValueOf(handler_, *tenant, parsed) : NothingBut(status));
}

}  // namespace hawser::server
