#include "client/connect.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/fallback/fallback_client.h"
#include "client/remote/grpc_transport.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Every server in turn: the first that answers, else the first of all with
// what the last one said.
struct Reached {
  Client client;
  absl::Status status;
};
Reached ReachFirst(const ConnectOptions& options) {
  Reached reached;
  for (const std::string& server : options.servers) {
    auto remote = ConnectRemote(server, {.client_name = options.client_name,
                                         .connect_timeout = options.timeout});
    if (!remote.ok()) {
      reached.status = Annotate(remote.status(), server);
      continue;
    }
    Client client(*std::move(remote));
    const auto capabilities = client.capabilities();
    if (capabilities.ok()) return {std::move(client), absl::OkStatus()};
    reached.status = Annotate(capabilities.status(), server);
    if (!reached.client.valid()) reached.client = std::move(client);
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
  Reached reached = ReachFirst(options);
  const Client& fallback = options.fallback;
  if (!reached.status.ok()) {
    if (!fallback.valid()) return reached.status;
    HAWSER_LOG(kWarning) << "no server of "
                         << absl::StrJoin(options.servers, ", ")
                         << " answers, computing on " << fallback.name()
                         << ": " << reached.status;
    if (!reached.client.valid()) return fallback;
  }
  if (!fallback.valid()) return std::move(reached.client);
  return WithFallback(reached.client, fallback, std::move(options.policy));
}

Client WithFallback(const Client& primary, const Client& secondary,
                    FallbackPolicy policy) {
  return Client(MakeFallbackClient(primary.shared(), secondary.shared(),
                                   std::move(policy)));
}

}  // namespace hawser
