// DatasetsService: v1.Datasets on gRPC, over DatasetsHandler.
#ifndef HAWSER_SERVER_SERVICE_DATASETS_SERVICE_H_
#define HAWSER_SERVER_SERVICE_DATASETS_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "proto/datasets.grpc.pb.h"
#include "server/access/access.h"
#include "server/service/datasets_handler.h"

namespace hawser::server {

// Raw, for what ParseBuffer says, and so that bulk data is not copied twice.
using DatasetsMethods = v1::Datasets::WithRawCallbackMethod_FindMissing<
    v1::Datasets::WithRawCallbackMethod_Put<
        v1::Datasets::WithRawCallbackMethod_Commit<
            v1::Datasets::WithRawCallbackMethod_Get<
                v1::Datasets::WithRawCallbackMethod_Stat<
                    v1::Datasets::Service>>>>>;

class DatasetsService final : public DatasetsMethods {
 public:
  // Both outlive it.
  DatasetsService(DatasetsHandler* handler, const Access* access)
      : handler_(handler), access_(access) {}

  grpc::ServerUnaryReactor* FindMissing(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* Put(
      grpc::CallbackServerContext* context, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Commit(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Get(
      grpc::CallbackServerContext* context,
      const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* Stat(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* reply) override;

 private:
  DatasetsHandler* const handler_;
  const Access* const access_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_DATASETS_SERVICE_H_
