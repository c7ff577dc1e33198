// absl::Status <-> grpc::Status: the codes are the same numbers.
#ifndef HAWSER_PROTO_GRPC_STATUS_H_
#define HAWSER_PROTO_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace hawser {

// The message is cut to 8 KiB on its way out: gRPC carries it in a header.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace hawser
#endif  // HAWSER_PROTO_GRPC_STATUS_H_
