// BareCalls over gRPC.
#ifndef HAWSER_CLIENT_REMOTE_BARE_GRPC_BARE_CALLS_H_
#define HAWSER_CLIENT_REMOTE_BARE_GRPC_BARE_CALLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/remote/bare/bare_calls.h"
#include "client/remote/link/credentials.h"
#include "core/base/threads/cancel.h"

namespace hawser {

// Connects at its first use. Everything ends with `cancel`.
// Errors: those of the credentials.
absl::StatusOr<std::unique_ptr<BareCalls>> MakeBareCalls(
    const std::string& address, const Credentials& credentials,
    const CancelToken& cancel);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_BARE_GRPC_BARE_CALLS_H_
