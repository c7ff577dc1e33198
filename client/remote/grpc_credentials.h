// Credentials, in gRPC's terms.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_CREDENTIALS_H_
#define HAWSER_CLIENT_REMOTE_GRPC_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/remote/credentials.h"

namespace hawser {

// What channels to `address` are made with; every call on them carries the
// token, if there is one. Errors: kFailedPrecondition when it would go to
// another machine in plaintext, kNotFound and kInvalidArgument naming the file
// or what is missing.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ToGrpcCredentials(
    const Credentials& credentials, const std::string& address);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_CREDENTIALS_H_
