// ExecutorService: v1.Executor on gRPC. All it knows is gRPC; what the
// requests mean is ExecutorHandler's, and for whom they are done Access says.
#ifndef HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_
#define HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "proto/executor.grpc.pb.h"
#include "server/access/access.h"
#include "server/service/executor_handler.h"

namespace hawser::server {

// Raw, for what ParseBuffer says, and so that bulk data goes from gRPC's
// buffers to its place without a protobuf string in between.
using ExecutorMethods = v1::Executor::WithRawCallbackMethod_Session<
    v1::Executor::WithRawCallbackMethod_Call<
        v1::Executor::WithRawCallbackMethod_Upload<
            v1::Executor::WithRawCallbackMethod_Download<
                v1::Executor::Service>>>>;

class ExecutorService final : public ExecutorMethods {
 public:
  // Both outlive it.
  ExecutorService(ExecutorHandler* handler, const Access* access)
      : handler_(handler), access_(access) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* reply) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* Upload(
      grpc::CallbackServerContext* context, grpc::ByteBuffer* reply) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Download(
      grpc::CallbackServerContext* context,
      const grpc::ByteBuffer* request) override;

 private:
  ExecutorHandler* const handler_;
  const Access* const access_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_
