// Credentials, in gRPC's terms.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_GRPC_CREDENTIALS_H_
#define HAWSER_CLIENT_REMOTE_GRPC_GRPC_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/remote/link/credentials.h"

namespace hawser {

// Returns credentials for channels to `address`, one for each of `connections`:
// if two share their watch of the certificates' files and connect at once, gRPC
// 1.51 has none yet for the second. Every call on them carries the token, if
// there is one. Errors: kFailedPrecondition when it would go to another machine
// in plaintext, kNotFound and kInvalidArgument naming the file or what is
// missing.
absl::StatusOr<std::vector<std::shared_ptr<grpc::ChannelCredentials>>>
ToGrpcCredentials(const Credentials& credentials, const std::string& address,
                  int connections);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_GRPC_CREDENTIALS_H_
