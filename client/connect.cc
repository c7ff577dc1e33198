#include "client/connect.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/absent_client.h"
#include "client/digests/digest_cache.h"
#include "client/fallback/fallback_client.h"
#include "client/formats/array_file.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/process/forked.h"
#include "core/base/process/own_folder.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"
#include "core/environment/environment.h"

namespace hawser {
namespace {

// A server that says nothing for so long is not waited for.
constexpr absl::Duration kSilence = absl::Seconds(5);

// True if a server has answered, and said that we may not come in: a fallback
// should not hide that.
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
  // If another client stands behind it, a silent server is given up, so that
  // work goes on; else its session is kept as long as its lease.
  const bool stands_in = options.fallback.valid() || options.servers.size() > 1;
  for (const std::string& server : options.servers) {
    HAWSER_ASSIGN_OR_RETURN(
        auto remote,
        ConnectRemote(
            server,
            {.credentials = options.credentials,
             .client_name = options.client_name,
             .connect_timeout = options.timeout,
             .reattach_for = stands_in ? kSilence : absl::InfiniteDuration(),
             .silence = kSilence,
             .give_up_silent = stands_in}));
    servers.emplace_back(std::move(remote));
  }
  return servers;
}

// `why`, with the server's name in front unless it has it.
absl::Status Named(const absl::Status& why, const std::string& server) {
  return absl::StrContains(why.message(), server) ? why : Annotate(why, server);
}

// Returns what the server says. Errors: kDeadlineExceeded, its time is not over
// but a fallback is not to wait so long.
absl::StatusOr<runtime::Capabilities> Reach(Client& server,
                                            const ConnectOptions& options) {
  if (options.fallback.valid() && options.patience < options.timeout) {
    HAWSER_RETURN_IF_ERROR(
        server.runtime()->Ping({.attempt_timeout = options.patience}));
  }
  return server.capabilities();
}

absl::StatusOr<Reached> ReachFirst(const ConnectOptions& options) {
  Reached reached;
  HAWSER_ASSIGN_OR_RETURN(reached.servers, ClientsOf(options));
  for (size_t i = 0; i < reached.servers.size(); ++i) {
    const auto capabilities = Reach(reached.servers[i], options);
    if (capabilities.ok()) {
      const auto first = reached.servers.begin() + static_cast<ptrdiff_t>(i);
      std::rotate(reached.servers.begin(), first, first + 1);
      reached.status = absl::OkStatus();
      break;
    }
    if (!IsRefusal(reached.status)) {
      reached.status = Named(capabilities.status(), options.servers[i]);
    }
  }
  return reached;
}

// Writes a dataset that is on no server to a file, from which it can be put
// later.
void SaveUnsent(const UnsentDataset& dataset) {
  const std::string tags = absl::StrJoin(dataset.tags, " ");
  const std::string named =
      absl::StrCat("dataset ", dataset.token, tags.empty() ? "" : " ", tags);
  const std::string cache = CacheFolder(std::getenv);
  const std::string folder = cache + "/unsent";
  absl::Status saved = cache.empty() ? FailedPrecondition("HAWSER_CACHE is off")
                                     : MakeOwnFolder(folder);
  const std::string path =
      absl::StrCat(folder, "/", dataset.token, ".safetensors");
  NamedArrays arrays;
  for (const DatasetSource::Array& array : dataset.arrays) {
    arrays.push_back({array.name, array.value});
  }
  if (saved.ok()) saved = WriteArrays(path, arrays);
  if (!saved.ok()) {
    HAWSER_LOG(kError) << named << " is on no server and is lost with this "
                       << "process: " << saved;
    return;
  }
  HAWSER_LOG(kWarning) << named << " is on no server: it is in " << path
                       << "; `hawser put " << path << "` sends it";
}

// Clients are not destroyed where they are the process's default.
void GiveUnsentAtExit(const std::shared_ptr<FallbackClient>& client) {
  struct Clients {
    Mutex mu;
    std::vector<std::weak_ptr<FallbackClient>> all ABSL_GUARDED_BY(mu);
  };
  static Clients* const clients = [] {
    std::atexit([] {
      if (IsForked()) return;
      std::vector<std::weak_ptr<FallbackClient>> all;
      {
        MutexLock lock(&clients->mu);
        all = clients->all;
      }
      for (const auto& weak : all) {
        if (const auto client = weak.lock()) client->GiveUnsent();
      }
    });
    return new Clients;
  }();
  MutexLock lock(&clients->mu);
  std::erase_if(clients->all, [](const auto& weak) { return weak.expired(); });
  clients->all.push_back(client);
}

void SayNoneAnswers(const ConnectOptions& options, const absl::Status& why) {
  HAWSER_LOG(kWarning) << "no server of "
                       << absl::StrJoin(options.servers, ", ")
                       << " answers, computing on " << options.fallback.name()
                       << ": " << why;
}

// All servers are asked at once.
std::vector<absl::StatusOr<runtime::Capabilities>> AskAll(
    std::vector<Client>& servers) {
  std::vector<absl::StatusOr<runtime::Capabilities>> said(servers.size());
  (void)OnThreads(static_cast<int>(servers.size()), [&](int i) {
    said[i] = servers[i].capabilities();
    return absl::OkStatus();
  });
  return said;
}

// The servers that a function may be spread over; at first or later, so one
// that does not answer is among them. Errors: what the first said, where none
// answers and there is no fallback, or where one refused.
absl::StatusOr<std::vector<std::shared_ptr<runtime::Client>>> ReachPlaces(
    const ConnectOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<Client> servers, ClientsOf(options));
  std::vector<std::shared_ptr<runtime::Client>> places;
  std::string engine;
  std::set<uint64_t> instances;
  absl::Status first;
  const auto said = AskAll(servers);
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto& capabilities = said[i];
    if (!capabilities.ok()) {
      const absl::Status why = Named(capabilities.status(), options.servers[i]);
      if (IsRefusal(why)) return why;
      first.Update(why);
    } else if (capabilities->instance != 0 &&
               !instances.insert(capabilities->instance).second) {
      HAWSER_LOG(kWarning) << options.servers[i] << " is left out: another "
                           << "address of a server that is listed";
      continue;
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

// The words of HAWSER_SERVERS that are addresses, each once; what is left out
// is said.
std::vector<std::string> ServersIn(const std::string& text) {
  std::vector<std::string> servers;
  const std::vector<std::string> words =
      absl::StrSplit(text, ',', absl::SkipWhitespace());
  for (const std::string& word : words) {
    const std::string server(absl::StripAsciiWhitespace(word));
    const absl::Status address = CheckAddress(server);
    if (!address.ok()) {
      HAWSER_LOG(kWarning) << "HAWSER_SERVERS: " << address.message()
                           << "; it is left out";
    } else if (std::find(servers.begin(), servers.end(), server) !=
               servers.end()) {
      HAWSER_LOG(kWarning) << "HAWSER_SERVERS: " << server
                           << " is listed twice";
    } else {
      servers.push_back(server);
    }
  }
  return servers;
}

// Stands for servers of the environment that cannot be used as it says: results
// are marked so, or with HAWSER_FALLBACK=off there are none.
Client WithoutServers(const std::string& servers, absl::Status why,
                      const Client& fallback) {
  if (!IsRefusal(why) && !absl::IsUnavailable(why)) {
    why = FailedPrecondition("HAWSER_SERVERS=", servers, ": ", why.message());
  }
  const Client absent(MakeAbsentClient(servers, why));
  if (!fallback.valid()) {
    HAWSER_LOG(kWarning) << "HAWSER_SERVERS=" << servers << ": " << why
                         << "; HAWSER_FALLBACK=off, nothing is computed";
    return absent;
  }
  HAWSER_LOG(kWarning) << "HAWSER_SERVERS=" << servers << ": " << why
                       << "; computing on this machine";
  return WithFallback(absent, fallback, {.on_refusal = true});
}

// The process's default client: HAWSER_SERVERS, else none (so the CPU).
Client FromEnvironment() {
  WarnOfEnvironment();
  const char* servers = std::getenv("HAWSER_SERVERS");
  if (servers == nullptr || *servers == '\0') return Client();
  const char* const wish = std::getenv("HAWSER_FALLBACK");
  ConnectOptions options;
  if (wish != nullptr && absl::string_view(wish) == "off") {
    options.fallback = Client();
  }
  const Client fallback = options.fallback;
  options.servers = ServersIn(servers);
  if (options.servers.empty()) {
    return WithoutServers(servers, InvalidArgument("it has no address"),
                          fallback);
  }
  auto client = IsSwitchedOn("HAWSER_SPREAD") ? Sharded(std::move(options))
                                              : Connect(std::move(options));
  if (client.ok()) return *std::move(client);
  return WithoutServers(servers, client.status(), fallback);
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
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  HAWSER_ASSIGN_OR_RETURN(Reached reached, ReachFirst(options));
  const Client& fallback = options.fallback;
  if (!reached.status.ok()) {
    if (!fallback.valid() || IsRefusal(reached.status)) return reached.status;
    SayNoneAnswers(options, reached.status);
  }
  // They are made from the last on: each falls back to those behind it. Only
  // the first waits for its server to come back; the others are what it has
  // meanwhile.
  FallbackPolicy behind = options.policy;
  behind.wait_for_primary = absl::ZeroDuration();
  Client client = fallback;
  for (size_t i = reached.servers.size(); i-- > 0;) {
    const Client& server = reached.servers[i];
    FallbackPolicy policy = i == 0 ? options.policy : behind;
    if (i + 1 < reached.servers.size()) policy.secondary_is_here = false;
    client = client.valid() ? WithFallback(server, client, std::move(policy))
                            : server;
    // Nothing waits for a server that has had its time: this opens the breaker.
    if (absl::IsDeadlineExceeded(reached.status)) {
      (void)client.runtime()->Ping({.attempt_timeout = absl::ZeroDuration()});
    }
  }
  return client;
}

absl::StatusOr<Client> Sharded(ConnectOptions options) {
  if (options.servers.empty()) {
    return InvalidArgument("Sharded needs at least one server");
  }
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
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
  if (policy.on_unsent == nullptr) policy.on_unsent = SaveUnsent;
  auto client = MakeFallbackClient(primary.runtime(), secondary.runtime(),
                                   std::move(policy));
  GiveUnsentAtExit(client);
  return Client(std::move(client));
}

}  // namespace hawser
