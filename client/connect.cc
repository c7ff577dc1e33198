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

// Whether a server has answered, and said that we may not come in: nothing
// that a fallback should hide.
bool IsRefusal(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

// Every server in turn: the first that answers, else the first of all with
// what the last one said, or one that has refused us. Errors: what is wrong
// with the options.
struct Reached {
  Client client;
  absl::Status status;
};
absl::StatusOr<Reached> ReachFirst(const ConnectOptions& options) {
  Reached reached;
  for (const std::string& server : options.servers) {
    HAWSER_ASSIGN_OR_RETURN(
        auto remote,
        ConnectRemote(server, {.credentials = options.credentials,
                               .client_name = options.client_name,
                               .connect_timeout = options.timeout}));
    Client client(std::move(remote));
    const auto capabilities = client.capabilities();
    if (capabilities.ok()) return Reached{std::move(client), absl::OkStatus()};
    if (!IsRefusal(reached.status)) {
      reached.status = Annotate(capabilities.status(), server);
    }
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
  HAWSER_ASSIGN_OR_RETURN(Reached reached, ReachFirst(options));
  const Client& fallback = options.fallback;
  if (!reached.status.ok()) {
    if (!fallback.valid() || IsRefusal(reached.status)) return reached.status;
    HAWSER_LOG(kWarning) << "no server of "
                         << absl::StrJoin(options.servers, ", ")
                         << " answers, computing on " << fallback.name() << ": "
                         << reached.status;
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
