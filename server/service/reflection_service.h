// gRPC's own reflection: what the server understands, for tools.
// libgrpc++_reflection does not do here: it lists the services of a
// ServerBuilder, which has none of an RpcServer's, it is synchronous, and its
// calls pass neither the limit of open calls nor ConnectionGuard.
#ifndef HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_
#define HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_

#include "server/rpc/rpc_server.h"

namespace hawser::server {

// Adds its methods, which know all services added before, and itself.
void AddReflectionMethods(RpcServer* server);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_REFLECTION_SERVICE_H_
