// gRPC's own reflection: what the server understands, for tools.
#ifndef HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_
#define HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_

#include "server/rpc/rpc_server.h"

namespace hawser::server {

// Of all services added before, and of itself.
void AddReflectionMethods(RpcServer* server);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_
