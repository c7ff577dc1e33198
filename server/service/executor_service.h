// v1.Executor on gRPC. Knows the transport alone; what requests mean is said in
// `stream` and `execution`.
#ifndef HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_
#define HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_

#include "server/rpc/rpc_server.h"
#include "server/service/execution/executor.h"

namespace hawser::server {

// `executor` outlives the server.
void AddExecutorMethods(Executor* executor, RpcServer* server);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTOR_SERVICE_H_
