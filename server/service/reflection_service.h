// gRPC's own reflection: what the server understands, for tools.
#ifndef HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_
#define HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_

#include "server/rpc/rpc_server.h"

namespace hawser::server {

// Adds its methods, which know all services added before, and itself.
void AddReflectionMethods(RpcServer* server);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_
