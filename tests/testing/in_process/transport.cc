#include "tests/testing/in_process/transport.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "server/service/execution/stateless_call.h"
#include "server/service/stream/bulk.h"

namespace hawser {
namespace {

// The client's hold on a stream.
class ClientEnd final : public SessionStream {
 public:
  explicit ClientEnd(std::shared_ptr<InProcessStream> stream)
      : stream_(std::move(stream)) {}
  ~ClientEnd() override { stream_->HangUp(); }
  void Send(std::shared_ptr<const v1::ClientMessage> message) override {
    stream_->Send(std::move(message));
  }
  void AllowBatches() override { stream_->AllowBatches(); }
  void Finish(absl::Time deadline) override { stream_->Finish(deadline); }

 private:
  const std::shared_ptr<InProcessStream> stream_;
};

// Data coming in at `into`, from its front.
absl::Status Take(absl::string_view data, absl::Span<char>* into) {
  if (data.size() > into->size()) {
    return DataLoss("more bytes than expected: ", data.size() - into->size(),
                    " too many so far");
  }
  std::copy(data.begin(), data.end(), into->begin());
  into->remove_prefix(data.size());
  return absl::OkStatus();
}

absl::Status CheckFull(absl::Span<char> left) {
  if (left.empty()) return absl::OkStatus();
  return DataLoss(left.size(), " bytes did not come");
}

// Takes `bytes` apart, a frame at a time; an empty span is one frame, too.
absl::Status ForEachFrame(
    absl::Span<const char> bytes,
    const std::function<absl::Status(absl::Span<const char>)>& frame) {
  do {
    const auto part = bytes.subspan(0, kCallFrameBytes);
    HAWSER_RETURN_IF_ERROR(frame(part));
    bytes.remove_prefix(part.size());
  } while (!bytes.empty());
  return absl::OkStatus();
}

// One StatelessCall on its way.
struct Exchange {
  v1::CallRequest request;  // as it arrived
  CancelToken cancel;
  std::shared_ptr<ServerCore> core;
  Promise<v1::CallReply> promise;
};

}  // namespace

std::unique_ptr<Transport> InProcessServer::NewTransport(
    std::shared_ptr<FaultPlan> plan) {
  if (plan == nullptr) plan = std::make_shared<FaultPlan>();
  return std::make_unique<InProcessTransport>(this, std::move(plan));
}

InProcessTransport::~InProcessTransport() {
  auto end = [loop = loop_, server = server_] {
    loop->Stop();
    server->TransportEnds();
  };
  // A call may be the last that holds it, and ends on the loop.
  if (loop_->OnItsThread()) {
    std::thread(std::move(end)).detach();
  } else {
    end();
  }
}

std::unique_ptr<SessionStream> InProcessTransport::OpenSession(
    SessionCallbacks callbacks) {
  auto stream = std::make_shared<InProcessStream>(
      server_, loop_, plan_, recent_, std::move(callbacks));
  stream->Connect();
  return std::make_unique<ClientEnd>(std::move(stream));
}

Future<v1::CallReply> InProcessTransport::Call(
    v1::CallRequest request, const runtime::CallOptions& options) {
  auto exchange = std::make_shared<Exchange>();
  Future<v1::CallReply> future = exchange->promise.future();
  auto call =
      std::make_shared<InProcessCall>(NewCall(CallKind::kCall, options));
  exchange->cancel = CancelToken::WithFlag(call->cancel().deadline());
  if (call->cancel().deadline() != absl::InfiniteFuture()) {
    loop_->PostAt(call->cancel().deadline(), [exchange] {
      exchange->cancel.Cancel();
      exchange->promise.Set(DeadlineExceeded("the deadline of a call"));
    });
  }
  // Like gRPC, on threads of its own.
  loop_->Post([exchange, call, loop = loop_, request = std::move(request)] {
    absl::Status status = call->Begin();
    if (status.ok()) status = call->Send(request, &exchange->request);
    if (!status.ok()) {
      exchange->promise.Set(status);
      return;
    }
    exchange->core = call->shared_core();
    server::StatelessCall::Start(
        *exchange->core->executor, "default", &exchange->request,
        exchange->cancel,
        [exchange, call, loop](absl::StatusOr<v1::CallReply> reply) {
          loop->Post([exchange, call, reply = std::move(reply)] {
            v1::CallReply arrived;
            absl::Status status = call->Answer();
            if (status.ok()) status = reply.status();
            if (status.ok()) status = call->Receive(*reply, &arrived);
            if (status.ok()) {
              exchange->promise.Set(std::move(arrived));
            } else {
              exchange->promise.Set(status);
            }
            exchange->core = nullptr;
            call->Release();
          });
        });
  });
  return future;
}

absl::Status InProcessTransport::Upload(const v1::UploadChunk& header,
                                        const Literal& value,
                                        const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kUpload, options);
  HAWSER_RETURN_IF_ERROR(call.Begin());
  std::shared_ptr<server::UploadReceiver> receiver;
  v1::UploadChunk chunk = header, arrived;
  int64_t sent = 0;
  const absl::Status status = ForEachFrame(
      value.bytes(), [&](absl::Span<const char> part) -> absl::Status {
        chunk.set_data(part.data(), part.size());
        HAWSER_RETURN_IF_ERROR(call.Send(chunk, &arrived));
        chunk.Clear();
        if (receiver == nullptr) {
          HAWSER_ASSIGN_OR_RETURN(
              receiver, server::UploadReceiver::Begin(*call.core().executor,
                                                      "default", arrived));
        }
        sent += static_cast<int64_t>(part.size());
        if (options.progress) options.progress(sent, value.bytes().size());
        if (receiver->filled()) return absl::OkStatus();
        std::copy(arrived.data().begin(), arrived.data().end(),
                  receiver->at());
        receiver->Advance(static_cast<int64_t>(arrived.data().size()));
        return absl::OkStatus();
      });
  if (!status.ok()) {
    if (receiver != nullptr) call.Abandon(std::move(receiver));
    return status;
  }
  const absl::Status finished = receiver->Finish();
  receiver = nullptr;
  HAWSER_RETURN_IF_ERROR(call.Answer());
  return finished;
}

absl::Status InProcessTransport::Download(const v1::DownloadRequest& request,
                                          absl::Span<char> into,
                                          const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kDownload, options);
  HAWSER_RETURN_IF_ERROR(call.Begin());
  v1::DownloadRequest arrived;
  HAWSER_RETURN_IF_ERROR(call.Send(request, &arrived));
  auto promise = std::make_shared<Promise<Literal>>();
  const Future<Literal> future = promise->future();
  server::FetchForDownload(
      *call.core().executor, "default", arrived,
      [promise, core = call.shared_core()](
          const absl::StatusOr<Literal>& value) { promise->Set(value); });
  promise = nullptr;
  HAWSER_ASSIGN_OR_RETURN(const Literal value,
                          AwaitWithin(future, call.cancel(), address_));
  const int64_t total = static_cast<int64_t>(into.size());
  HAWSER_RETURN_IF_ERROR(ForEachFrame(
      value.bytes(), [&](absl::Span<const char> part) -> absl::Status {
        v1::DownloadChunk chunk, came;
        chunk.set_data(part.data(), part.size());
        HAWSER_RETURN_IF_ERROR(call.Receive(chunk, &came));
        HAWSER_RETURN_IF_ERROR(Take(came.data(), &into));
        if (options.progress) options.progress(total - into.size(), total);
        return absl::OkStatus();
      }));
  return CheckFull(into);
}

}  // namespace hawser
