#include "server/session/session_table.h"

#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/base/random.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr size_t kSecretBytes = 32;
// A session with its stream, its gRPC call and their first blocks of memory, as
// tests/server/service/held measures them.
constexpr int64_t kSessionBytes = 48 << 10;

// In a time that does not depend on where the texts differ.
bool EqualSecrets(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = difference | static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace

SessionTable::~SessionTable() { EndAll(Unavailable("the server is stopping")); }

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Open(
    absl::string_view tenant, absl::string_view client_name) {
  constexpr size_t kMaxName = 256;
  std::string secret = RandomBytes(kSecretBytes);
  uint64_t id = RandomNumber();
  MemoryHolderPtr memory;
  MemoryCharge state;
  if (options_.memory != nullptr) {
    memory =
        options_.memory->Tenant(tenant)->Part(absl::StrCat("session ", id));
    HAWSER_ASSIGN_OR_RETURN(state,
                            memory->Take(MemoryUse::kSession, kSessionBytes));
  }
  std::shared_ptr<Session> gone;  // ends after the lock
  const auto end = absl::MakeCleanup([&gone] {
    if (gone == nullptr) return;
    gone->End(Unavailable("session ", gone->id(),
                          " had no stream, and the "
                          "server needed its place"));
  });
  MutexLock lock(&mu_);
  const auto at = tenants_.find(tenant);
  const auto held =
      at == tenants_.end() ? 0 : static_cast<int64_t>(at->second.size());
  if (held >= options_.tenant_sessions) {
    gone = TakeDetached(&at->second);
    if (gone == nullptr) return Full(tenant, held);
  } else if (size_ >= options_.sessions) {
    gone = TakeDetached(nullptr);
    if (gone == nullptr) return Full(tenant, held);
  }
  Sessions& own = tenants_[tenant];
  while (own.contains(id)) id = RandomNumber();
  auto session = std::make_shared<Session>(
      SessionIdentity{id, std::move(secret), std::string(tenant),
                      std::string(client_name.substr(0, kMaxName))},
      options_.limits, std::move(memory), std::move(state));
  session->Detach(nullptr, now());  // the lease runs until a stream attaches
  own.emplace(id, session);
  ++size_;
  return session;
}

std::shared_ptr<Session> SessionTable::TakeDetached(const Sessions* only) {
  std::shared_ptr<Session> longest;
  const auto look = [&longest](const Sessions& sessions) {
    for (const auto& [id, session] : sessions) {
      if (session->detached_at() == absl::InfiniteFuture()) continue;
      if (longest == nullptr ||
          session->detached_at() < longest->detached_at()) {
        longest = session;
      }
    }
  };
  if (only != nullptr) {
    look(*only);
  } else {
    for (const auto& [tenant, sessions] : tenants_) look(sessions);
  }
  if (longest != nullptr) Erase(longest->id());
  return longest;
}

absl::Status SessionTable::Full(absl::string_view tenant,
                                int64_t of_tenant) const {
  if (of_tenant >= options_.tenant_sessions) {
    return ResourceExhausted("tenant ", tenant, " has ", of_tenant,
                             " sessions, the most one tenant may; end some");
  }
  return ResourceExhausted("this server's limit of ", options_.sessions,
                           " sessions, all of them in use; tenant ", tenant,
                           " has ", of_tenant, " of them");
}

size_t SessionTable::tenants() const {
  MutexLock lock(&mu_);
  return tenants_.size();
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Find(
    absl::string_view tenant, uint64_t id, absl::string_view secret) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    auto own = tenants_.find(tenant);
    if (own != tenants_.end()) {
      auto at = own->second.find(id);
      if (at != own->second.end()) session = at->second;
    }
  }
  if (session == nullptr || !EqualSecrets(session->secret(), secret)) {
    return Unavailable("session ", id, " is not known on this server");
  }
  return session;
}

void SessionTable::Erase(uint64_t id) {
  // Ids are 64 random bits: no two tenants have the same.
  for (auto tenant = tenants_.begin(); tenant != tenants_.end(); ++tenant) {
    if (tenant->second.erase(id) == 0) continue;
    --size_;
    if (tenant->second.empty()) tenants_.erase(tenant);
    return;
  }
}

std::vector<std::shared_ptr<Session>> SessionTable::All() const {
  std::vector<std::shared_ptr<Session>> all;
  MutexLock lock(&mu_);
  all.reserve(size_);
  for (const auto& [tenant, sessions] : tenants_) {
    for (const auto& [id, session] : sessions) all.push_back(session);
  }
  return all;
}

void SessionTable::End(uint64_t id, const absl::Status& why) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    for (const auto& [tenant, sessions] : tenants_) {
      auto at = sessions.find(id);
      if (at != sessions.end()) session = at->second;
    }
    if (session == nullptr) return;
    Erase(id);
  }
  session->End(why);
}

void SessionTable::EndAll(const absl::Status& why) {
  absl::flat_hash_map<std::string, Sessions> all;
  {
    MutexLock lock(&mu_);
    all.swap(tenants_);
    size_ = 0;
  }
  for (const auto& [tenant, sessions] : all) {
    for (const auto& [id, session] : sessions) session->End(why);
  }
}

void SessionTable::Sweep() {
  const absl::Time time = now();
  for (const auto& session : All()) {
    if (!session->EndIfIdleSince(time - options_.lease)) continue;
    MutexLock lock(&mu_);
    Erase(session->id());
  }
}

int64_t SessionTable::size() const {
  MutexLock lock(&mu_);
  return size_;
}

}  // namespace hawser::server
