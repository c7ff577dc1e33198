// v1.Datasets on gRPC, over DatasetsHandler.
#ifndef HAWSER_SERVER_SERVICE_DATASETS_SERVICE_H_
#define HAWSER_SERVER_SERVICE_DATASETS_SERVICE_H_

#include "core/base/threads/thread_pool.h"
#include "server/rpc/rpc_server.h"
#include "server/service/datasets_handler.h"

namespace hawser::server {

// Both outlive the server. Data that comes in is verified on the workers.
void AddDatasetsMethods(DatasetsHandler* handler, ThreadPool* workers,
                        RpcServer* server);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_DATASETS_SERVICE_H_
