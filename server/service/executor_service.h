// v1.Executor on gRPC. Knows the transport alone; what requests mean is
// ExecutorHandler's.
#ifndef HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_
#define HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_

#include "server/rpc/rpc_server.h"
#include "server/service/executor_handler.h"

namespace hawser::server {

// `handler` outlives the server.
void AddExecutorMethods(ExecutorHandler* handler, RpcServer* server);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_
