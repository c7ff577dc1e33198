// A method of one request and one answer, with its parsing and its cancel flag.
#ifndef HAWSER_SERVER_SERVICE_MESSAGES_UNARY_H_
#define HAWSER_SERVER_SERVICE_MESSAGES_UNARY_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "server/rpc/rpc.h"
#include "server/rpc/rpc_server.h"
#include "server/service/messages/frames.h"

namespace hawser::server {

template <typename Request, typename Reply>
class Unary final : public Reactor {
 public:
  using Done = std::function<void(const absl::StatusOr<Reply>&)>;
  // Calls `done` once, on any thread; the request lives until then. The token
  // ends with the client's deadline or wish.
  using Serve = std::function<void(Request* request, const CancelToken& cancel,
                                   Done done)>;

  Unary(Rpc* rpc, Serve serve)
      : Reactor(rpc),
        serve_(std::move(serve)),
        cancel_(CancelToken::WithFlag(rpc->deadline())) {
    rpc->Read(&buffer_);
  }

  void OnRead(bool ok) override {
    const absl::Status parsed = ok ? ParseBuffer(buffer_, &request_)
                                   : InvalidArgument("no request came");
    buffer_.Clear();
    if (!parsed.ok()) return rpc().Finish(parsed);
    serve_(&request_, cancel_, [this](const absl::StatusOr<Reply>& reply) {
      if (!reply.ok()) return rpc().Finish(reply.status());
      FillBuffer(*reply, &buffer_);
      rpc().FinishWith(buffer_);
    });
  }
  void OnCancel() override { cancel_.Cancel(); }

 private:
  const Serve serve_;
  const CancelToken cancel_;
  grpc::ByteBuffer buffer_;
  Request request_;
};

// `serve(tenant, request, cancel, done)` as a method of RpcServer.
template <typename Request, typename Reply, typename Serve>
RpcServer::Start UnaryMethod(Serve serve) {
  return [serve](Rpc* rpc, std::string tenant) -> std::unique_ptr<Reactor> {
    return std::make_unique<Unary<Request, Reply>>(
        rpc, [serve, tenant = std::move(tenant)](
                 Request* request, const CancelToken& cancel,
                 typename Unary<Request, Reply>::Done done) {
          serve(tenant, request, cancel, std::move(done));
        });
  };
}

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_MESSAGES_UNARY_H_
