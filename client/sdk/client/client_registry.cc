// Runtime clients by name.
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "client/sdk/client/client.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace hawser {
namespace {

struct RegisteredClient {
  std::function<absl::StatusOr<Client>()> make;
  Mutex mu;  // held while it is made, so that it is made once
  Client client ABSL_GUARDED_BY(mu);
};

struct Registry {
  Mutex mu;
  // Entries stay for good, so a pointer to one needs no lock.
  std::map<std::string, std::unique_ptr<RegisteredClient>> entries
      ABSL_GUARDED_BY(mu);
};

std::unique_ptr<RegisteredClient> NewEntry(
    std::function<absl::StatusOr<Client>()> make) {
  auto entry = std::make_unique<RegisteredClient>();
  entry->make = std::move(make);
  return entry;
}

Registry& TheRegistry() {
  static auto& instance = *[] {
    auto* registry = new Registry;
    MutexLock lock(&registry->mu);
    registry->entries["cpu"] = NewEntry([] { return Client::Cpu(); });
    return registry;
  }();
  return instance;
}

bool IsName(absl::string_view name) {
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-') return false;
  }
  return !name.empty();
}

}  // namespace

absl::Status RegisterClient(absl::string_view name,
                            std::function<absl::StatusOr<Client>()> make) {
  if (!IsName(name)) {
    return InvalidArgument("\"", name,
                           "\" is no name for a client: letters, digits, _ and "
                           "- make one");
  }
  if (make == nullptr) {
    return InvalidArgument("client \"", name, "\" needs a function to make it");
  }
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mu);
  auto& entry = registry.entries[std::string(name)];
  if (entry != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a client \"", name, "\" already"));
  }
  entry = NewEntry(std::move(make));
  return absl::OkStatus();
}

std::vector<std::string> ClientNames() {
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mu);
  std::vector<std::string> names;
  for (const auto& [name, entry] : registry.entries) names.push_back(name);
  return names;
}

absl::StatusOr<Client> Client::Named(absl::string_view name) {
  RegisteredClient* entry = nullptr;
  {
    Registry& registry = TheRegistry();
    MutexLock lock(&registry.mu);
    const auto at = registry.entries.find(std::string(name));
    if (at != registry.entries.end()) entry = at->second.get();
  }
  if (entry == nullptr) {
    return NotFound("there is no client \"", name,
                    "\", there are: ", absl::StrJoin(ClientNames(), ", "));
  }
  MutexLock lock(&entry->mu);
  if (entry->client.valid()) return entry->client;
  auto made = entry->make();
  if (!made.ok()) {
    return Annotate(made.status(), absl::StrCat("client \"", name, "\""));
  }
  if (!made->valid()) {
    return FailedPrecondition("client \"", name,
                              "\" was made without a client");
  }
  entry->client = *std::move(made);
  return entry->client;
}

}  // namespace hawser
