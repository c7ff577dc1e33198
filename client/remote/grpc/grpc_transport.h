// The way to a server over gRPC.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_GRPC_TRANSPORT_H_
#define HAWSER_CLIENT_REMOTE_GRPC_GRPC_TRANSPORT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"
#include "core/runtime/client.h"

namespace hawser {

// A client of the server at `address`: "host:port", "[::1]:port" or
// "unix:/path". Connects at its first use, not here.
// Errors: kInvalidArgument, that is no address; those of the credentials.
absl::StatusOr<std::shared_ptr<runtime::Client>> ConnectRemote(
    std::string address, RemoteOptions options = {});

// Errors: kInvalidArgument for what is neither "host:port" (a port of 1 to
// 65535, an IPv6 host in brackets) nor "unix:/path".
absl::Status CheckAddress(const std::string& address);

// The transport alone: one connection for the session and small calls, others
// for bulk bytes, so that these do not hold up those.
absl::StatusOr<std::unique_ptr<Transport>> MakeGrpcTransport(
    const std::string& address, const RemoteOptions& options);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_GRPC_TRANSPORT_H_
