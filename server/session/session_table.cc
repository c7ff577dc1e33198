#include "server/session/session_table.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr size_t kSecretBytes = 32;

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

std::string RandomBytes(size_t n) {
  std::string out(n, '\0');
  size_t done = 0;
  while (done < n) {
    const ssize_t got = getrandom(&out[done], n - done, 0);
    if (got < 0 && errno == EINTR) continue;
    HAWSER_CHECK(got > 0);
    done += static_cast<size_t>(got);
  }
  return out;
}

uint64_t RandomNumber() {
  uint64_t number = 0;
  while (number == 0) {
    const std::string bytes = RandomBytes(sizeof(number));
    std::memcpy(&number, bytes.data(), sizeof(number));
  }
  return number;
}

SessionTable::~SessionTable() { EndAll(Unavailable("the server is stopping")); }

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Open(
    absl::string_view tenant, absl::string_view client_name) {
  constexpr size_t kMaxName = 256;
  std::string secret = RandomBytes(kSecretBytes);
  MutexLock lock(&mu_);
  if (static_cast<int64_t>(sessions_.size()) >= options_.sessions) {
    return ResourceExhausted("this server's limit of ", options_.sessions,
                             " sessions");
  }
  uint64_t id = RandomNumber();
  while (sessions_.contains(id)) id = RandomNumber();
  auto session = std::make_shared<Session>(
      id, std::move(secret), std::string(tenant),
      std::string(client_name.substr(0, kMaxName)), options_.limits);
  session->Detach(nullptr, now());  // the lease runs until a stream attaches
  sessions_.emplace(id, session);
  return session;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Find(
    absl::string_view tenant, uint64_t id, absl::string_view secret) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    auto at = sessions_.find(id);
    if (at != sessions_.end()) session = at->second;
  }
  if (session == nullptr || !EqualSecrets(session->secret(), secret) ||
      session->tenant() != tenant) {
    return NotFound("session ", id, " is not known on this server");
  }
  return session;
}

void SessionTable::End(uint64_t id, const absl::Status& why) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    auto at = sessions_.find(id);
    if (at == sessions_.end()) return;
    session = std::move(at->second);
    sessions_.erase(at);
  }
  session->End(why);
}

void SessionTable::EndAll(const absl::Status& why) {
  absl::flat_hash_map<uint64_t, std::shared_ptr<Session>> all;
  {
    MutexLock lock(&mu_);
    all.swap(sessions_);
  }
  for (auto& [id, session] : all) session->End(why);
}

void SessionTable::Sweep() {
  std::vector<std::shared_ptr<Session>> all;
  {
    MutexLock lock(&mu_);
    for (const auto& [id, session] : sessions_) all.push_back(session);
  }
  const absl::Time time = now();
  for (const auto& session : all) {
    if (!session->EndIfIdleSince(time - options_.lease)) continue;
    MutexLock lock(&mu_);
    sessions_.erase(session->id());
  }
}

int64_t SessionTable::size() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(sessions_.size());
}

}  // namespace hawser::server
