// GrpcConnection: one connection to a server, made when it is first used.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_GRPC_CONNECTION_H_
#define HAWSER_CLIENT_REMOTE_GRPC_GRPC_CONNECTION_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "client/remote/grpc/grpc_poller.h"
#include "client/remote/link/options.h"

namespace hawser {

// A gRPC channel that shares its connection with no other.
//
// Its end leaves no socket behind. gRPC 1.51 by itself does: when a channel is
// destroyed after its TCP connection stands and before the server's first
// frame has come, that connection is never closed. It does not say when
// that is either, so an attempt that may be under way is waited for, without
// blocking, before the channel goes; it ends after `connect_timeout`.
class GrpcConnection {
 public:
  GrpcConnection(const std::string& address,
                 std::shared_ptr<grpc::ChannelCredentials> credentials,
                 const RemoteOptions& options,
                 std::shared_ptr<GrpcPoller> poller);
  // All other holders of the channel have let go of it.
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  class LastAttempt;
  std::shared_ptr<grpc::Channel> MakeChannel() const;

  const std::string address_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const absl::Duration connect_timeout_;
  const int number_;  // of this connection in this process
  const std::shared_ptr<GrpcPoller> poller_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_GRPC_CONNECTION_H_
