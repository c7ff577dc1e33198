#include "client/remote/grpc/grpc_connection.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace hawser {
namespace {

// The largest answer of one Call; bulk frames are far below.
constexpr int kMaxAnswerBytes = 256 << 20;
// A server that restarts is found again within this.
constexpr int kReconnectMs = 50;
constexpr int kLongestReconnectMs = 1000;
// A link without an answer is probed this often while a call is under way.
constexpr int kKeepaliveMs = 30000;
constexpr int kKeepaliveTimeoutMs = 20000;
// Unknown to gRPC, which shares connections only between equal arguments.
constexpr char kNumberArgument[] = "hawser.connection";
// Beyond the connect timeout, for names of more than one address.
constexpr absl::Duration kAttemptMargin = absl::Seconds(5);

int NextNumber() {
  static std::atomic<int> last{0};
  return last.fetch_add(1);
}

}  // namespace

// Holds a channel until its attempt to connect has ended.
class GrpcConnection::LastAttempt final : public GrpcPoller::Tag {
 public:
  LastAttempt(std::shared_ptr<GrpcPoller> poller,
              std::shared_ptr<grpc::Channel> channel,
              std::shared_ptr<grpc::Channel> another, absl::Time deadline)
      : poller_(std::move(poller)),
        channel_(std::move(channel)),
        another_(std::move(another)),
        deadline_(deadline) {}

  void Done(bool changed) override {
    if (changed) {
      Look();
    } else {
      delete this;
    }
  }

  // Goes on waiting, or ends.
  void Look() {
    grpc::Channel& watched = another_ ? *another_ : *channel_;
    const auto state = watched.GetState(/*try_to_connect=*/another_ != nullptr);
    if (state == GRPC_CHANNEL_CONNECTING ||
        (state == GRPC_CHANNEL_IDLE && another_ != nullptr)) {
      watched.NotifyOnStateChange(state, ToWallChrono(deadline_),
                                  poller_->queue(), this);
    } else {
      delete this;  // it stands, or there is a pause before the next attempt
    }
  }

 private:
  ~LastAttempt() = default;

  const std::shared_ptr<GrpcPoller> poller_;
  const std::shared_ptr<grpc::Channel> channel_;
  // A channel that has failed says so until it succeeds, also while it tries
  // again: what its connection does shows in a new channel that shares it.
  const std::shared_ptr<grpc::Channel> another_;  // else null
  const absl::Time deadline_;
};

GrpcConnection::GrpcConnection(
    const std::string& address,
    std::shared_ptr<grpc::ChannelCredentials> credentials,
    const RemoteOptions& options, std::shared_ptr<GrpcPoller> poller)
    : address_(address),
      credentials_(std::move(credentials)),
      connect_timeout_(
          std::clamp(options.connect_timeout, absl::Milliseconds(1),
                     absl::Milliseconds(std::numeric_limits<int>::max()))),
      number_(NextNumber()),
      poller_(std::move(poller)),
      channel_(MakeChannel()) {}

GrpcConnection::~GrpcConnection() {
  const auto state = channel_->GetState(/*try_to_connect=*/false);
  if (state != GRPC_CHANNEL_CONNECTING &&
      state != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    return;
  }
  (new LastAttempt(
       poller_, std::move(channel_),
       state == GRPC_CHANNEL_TRANSIENT_FAILURE ? MakeChannel() : nullptr,
       SteadyNow() + connect_timeout_ + kAttemptMargin))
      ->Look();
}

std::shared_ptr<grpc::Channel> GrpcConnection::MakeChannel() const {
  grpc::ChannelArguments args;
  args.SetInt(kNumberArgument, number_);
  args.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  args.SetMaxSendMessageSize(-1);  // the server says what is too much
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  // gRPC's name for the time one attempt may take.
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
              static_cast<int>(absl::ToInt64Milliseconds(connect_timeout_)));
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // Requests are retried here or by a fallback, knowing what they are.
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address_, credentials_, args);
}

}  // namespace hawser
