#include "client/connect.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/fallback/fallback_client.h"
#include "client/remote/grpc/grpc_transport.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// A server that says nothing for so long is not waited for.
constexpr absl::Duration kSilence = absl::Seconds(5);

// Whether a server has answered, and said that we may not come in: nothing
// that a fallback should hide.
bool IsRefusal(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

// The servers in the order they are used: the first that answers, then the
// others as they are listed. `status`: none answers, because.
struct Reached {
  std::vector<Client> servers;
  absl::Status status;
};
absl::StatusOr<Reached> ReachFirst(const ConnectOptions& options) {
  Reached reached;
  // With another one behind it a silent server is given up, so that work goes
  // on; without one its session is kept as long as its lease.
  const bool stands_in = options.fallback.valid() || options.servers.size() > 1;
  for (const std::string& server : options.servers) {
    HAWSER_ASSIGN_OR_RETURN(
        auto remote,
        ConnectRemote(server, {.credentials = options.credentials,
                               .client_name = options.client_name,
                               .connect_timeout = options.timeout,
                               .reattach_for =
                                   stands_in ? kSilence
                                             : absl::InfiniteDuration(),
                               .silence = kSilence,
                               .give_up_silent = stands_in}));
    reached.servers.emplace_back(std::move(remote));
  }
  for (size_t i = 0; i < reached.servers.size(); ++i) {
    const auto capabilities = reached.servers[i].capabilities();
    if (capabilities.ok()) {
      const auto first = reached.servers.begin() + static_cast<ptrdiff_t>(i);
      std::rotate(reached.servers.begin(), first, first + 1);
      reached.status = absl::OkStatus();
      break;
    }
    if (!IsRefusal(reached.status)) {
      reached.status = Annotate(capabilities.status(), options.servers[i]);
    }
  }
  return reached;
}

// The process's default client: HAWSER_SERVERS, else none (so the CPU).
Client FromEnvironment() {
  const char* servers = std::getenv("HAWSER_SERVERS");
  if (servers == nullptr || *servers == '\0') return Client();
  ConnectOptions options;
  options.servers = absl::StrSplit(servers, ',', absl::SkipWhitespace());
  auto client = Connect(std::move(options));
  if (client.ok()) return *std::move(client);
  HAWSER_LOG(kWarning) << "HAWSER_SERVERS=" << servers << ": "
                       << client.status() << "; computing on this machine";
  return Client();
}

const bool registered = [] {
  SetDefaultClientFactory(FromEnvironment);
  return true;
}();

}  // namespace

absl::StatusOr<Client> Connect(ConnectOptions options) {
  if (options.servers.empty()) {
    return InvalidArgument("Connect needs at least one server");
  }
  HAWSER_ASSIGN_OR_RETURN(Reached reached, ReachFirst(options));
  const Client& fallback = options.fallback;
  if (!reached.status.ok()) {
    if (!fallback.valid() || IsRefusal(reached.status)) return reached.status;
    HAWSER_LOG(kWarning) << "no server of "
                         << absl::StrJoin(options.servers, ", ")
                         << " answers, computing on " << fallback.name() << ": "
                         << reached.status;
  }
  // From the last on: each falls back to those behind it. Only the first waits
  // for its server to come back; the others are what it has meanwhile.
  FallbackPolicy behind = options.policy;
  behind.wait_for_primary = absl::ZeroDuration();
  Client client = fallback;
  for (size_t i = reached.servers.size(); i-- > 0;) {
    const Client& server = reached.servers[i];
    client = client.valid()
                 ? WithFallback(server, client, i == 0 ? options.policy : behind)
                 : server;
  }
  return client;
}

Client WithFallback(const Client& primary, const Client& secondary,
                    FallbackPolicy policy) {
  return Client(MakeFallbackClient(primary.runtime(), secondary.runtime(),
                                   std::move(policy)));
}

}  // namespace hawser
