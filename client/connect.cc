#include "client/connect.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/fallback/fallback_client.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
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
absl::StatusOr<std::vector<Client>> ClientsOf(const ConnectOptions& options) {
  std::vector<Client> servers;
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
    servers.emplace_back(std::move(remote));
  }
  return servers;
}

absl::StatusOr<Reached> ReachFirst(const ConnectOptions& options) {
  Reached reached;
  HAWSER_ASSIGN_OR_RETURN(reached.servers, ClientsOf(options));
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

void SayNoneAnswers(const ConnectOptions& options, const absl::Status& why) {
  HAWSER_LOG(kWarning) << "no server of "
                       << absl::StrJoin(options.servers, ", ")
                       << " answers, computing on " << options.fallback.name()
                       << ": " << why;
}

// The servers that a function may be spread over; at first or later, so one
// that does not answer is among them. Errors: what the first said, where none
// answers and there is no fallback, or where one refused.
absl::StatusOr<std::vector<std::shared_ptr<runtime::Client>>> ReachPlaces(
    const ConnectOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<Client> servers, ClientsOf(options));
  std::vector<std::shared_ptr<runtime::Client>> places;
  std::string engine;
  absl::Status first;
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto capabilities = servers[i].capabilities();
    if (!capabilities.ok()) {
      const absl::Status why =
          Annotate(capabilities.status(), options.servers[i]);
      if (IsRefusal(why)) return why;
      first.Update(why);
    } else if (engine.empty()) {
      engine = capabilities->platform;
    } else if (engine != capabilities->platform && !options.mix_engines) {
      HAWSER_LOG(kWarning) << options.servers[i] << " is left out: its engine "
                           << "is " << capabilities->platform << ", not "
                           << engine;
      continue;
    }
    places.push_back(servers[i].runtime());
  }
  if (engine.empty()) {
    if (!options.fallback.valid()) return first;
    SayNoneAnswers(options, first);
  }
  return places;
}

// The process's default client: HAWSER_SERVERS, else none (so the CPU).
Client FromEnvironment() {
  const char* servers = std::getenv("HAWSER_SERVERS");
  if (servers == nullptr || *servers == '\0') return Client();
  ConnectOptions options;
  options.servers = absl::StrSplit(servers, ',', absl::SkipWhitespace());
  const char* spread = std::getenv("HAWSER_SPREAD");
  const bool all = spread != nullptr && std::string(spread) == "1";
  auto client = all ? Sharded(std::move(options)) : Connect(std::move(options));
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
    SayNoneAnswers(options, reached.status);
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

absl::StatusOr<Client> Sharded(ConnectOptions options) {
  if (options.servers.empty()) {
    return InvalidArgument("Sharded needs at least one server");
  }
  std::vector<std::string> sorted = options.servers;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return InvalidArgument("server ", *twice, " is listed twice");
  }
  HAWSER_ASSIGN_OR_RETURN(auto places, ReachPlaces(options));
  HAWSER_ASSIGN_OR_RETURN(auto sharded, MakeShardedClient(std::move(places)));
  sharded->StartMeasuring();
  const Client client(std::move(sharded));
  return options.fallback.valid()
             ? WithFallback(client, options.fallback, options.policy)
             : client;
}

Client WithFallback(const Client& primary, const Client& secondary,
                    FallbackPolicy policy) {
  return Client(MakeFallbackClient(primary.runtime(), secondary.runtime(),
                                   std::move(policy)));
}

}  // namespace hawser
