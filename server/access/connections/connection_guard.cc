#include "server/access/connections/connection_guard.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "server/access/connections/kernel_socket.h"

namespace hawser::server {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(20);
constexpr absl::Duration kGuardEvery = absl::Seconds(1);
// A connection stays watched for so long after something came.
constexpr absl::Duration kStaysWatched = absl::Seconds(2);
// In one period; a look takes about a microsecond.
constexpr size_t kMostLooks = 512;
// Larger than the frames of our clients' transfers.
constexpr int64_t kMuchUnfinished = 2 << 20;
// The number of looks in a row that must find too much: gRPC lets a client send
// 4 MiB of a call before any thread of ours has seen that the call is there.
constexpr int kLooksAtStranger = 10;
// A connection that holds up others is looked for among those without a
// complete message in so many looks, in which more has come than this.
constexpr int kLooksAtBlamed = 4;
constexpr int64_t kMostOfBlameless = 1 << 20;
// The memory that a connection takes by itself, and that gRPC takes for a byte
// of headers that are not complete, of which it may be.
constexpr int64_t kConnectionBytes = 64 << 10;
constexpr int64_t kBytesOfUnfinished = 16;

}  // namespace

ConnectionGuard::ConnectionGuard(ConnectionLimits limits)
    : limits_(std::move(limits)),
      memory_(limits_),
      thread_([this] { Loop(); }) {}

ConnectionGuard::~ConnectionGuard() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.SignalAll();
  }
  thread_.join();
}

void ConnectionGuard::Watch(Socket& socket) {
  if (socket.watched || !socket.counted) return;
  socket.watched = true;
  watched_.push_back(socket.fd);
}

void ConnectionGuard::Add(int fd) {
  Socket socket;
  socket.fd = fd;
  socket.inode = InodeOf(fd);
  socket.peer = PeerOf(fd);
  socket.counted = !socket.peer.empty() && ReadBytes(fd) >= 0;
  socket.connection = std::make_shared<Connection>();
  socket.changed = SteadyNow();
  MutexLock lock(&mu_);
  const auto old = sockets_.find(fd);
  if (old != sockets_.end()) Forget(Socket(old->second));  // closed since
  socket.number = ++added_;
  if (!socket.peer.empty()) by_peer_[socket.peer] = fd;
  Watch(sockets_[fd] = std::move(socket));
  changed_.SignalAll();
}

std::shared_ptr<Connection> ConnectionGuard::Find(absl::string_view peer) {
  MutexLock lock(&mu_);
  const auto at = by_peer_.find(peer);
  if (at == by_peer_.end()) return nullptr;
  return sockets_.at(at->second).connection;
}

absl::Status ConnectionGuard::Authorise(Connection& connection,
                                        absl::string_view tenant) {
  if (connection.authorised_) return absl::OkStatus();
  MutexLock lock(&mu_);
  if (connection.authorised_) return absl::OkStatus();
  int64_t& held = of_tenant_[tenant];
  if (held >= limits_.of_tenant) {
    return ResourceExhausted("tenant ", tenant, " has ", held,
                             " connections, the most one tenant may; close "
                             "some");
  }
  ++held;
  connection.tenant_ = std::string(tenant);
  connection.authorised_ = true;
  return absl::OkStatus();
}

void ConnectionGuard::Forget(const Socket& socket) {
  const auto peer = by_peer_.find(socket.peer);
  if (peer != by_peer_.end() && peer->second == socket.fd) {
    by_peer_.erase(peer);
  }
  const Connection& connection = *socket.connection;
  const auto tenant = of_tenant_.find(connection.tenant_);
  if (connection.authorised_ && tenant != of_tenant_.end() &&
      --tenant->second == 0) {
    of_tenant_.erase(tenant);
  }
  // Also from watched_, where the descriptor's next use would be a second
  // entry.
  if (socket.watched) {
    watched_.erase(std::find(watched_.begin(), watched_.end(), socket.fd));
  }
  sockets_.erase(socket.fd);
}

void ConnectionGuard::Close(const Socket& socket, absl::string_view why) {
  // The descriptor is still this socket's: gRPC closes it only after it has
  // shut it down, and another socket would have another inode.
  if (InodeOf(socket.fd) == socket.inode) ShutDown(socket.fd);
  closed_.Add(socket.peer, why, SteadyNow());
  Forget(Socket(socket));
}

void ConnectionGuard::CloseAsSuspect(const Socket& socket,
                                     absl::string_view why) {
  if (!socket.peer.empty()) {
    suspects_.Add(HostOf(socket.peer), SteadyNow());
  }
  Close(socket, why);
}

std::optional<absl::Time> ConnectionGuard::NotBefore(int fd) {
  const std::string peer = PeerOf(fd);
  MutexLock lock(&mu_);
  return suspects_.NextSlot(HostOf(peer), SteadyNow());
}

bool ConnectionGuard::Look(Socket& socket, absl::Time now) {
  if (InodeOf(socket.fd) != socket.inode) {
    Forget(Socket(socket));
    return false;
  }
  if (!socket.counted) return true;
  const int64_t received = ReadBytes(socket.fd);
  if (received > socket.received) socket.changed = now;
  socket.grown = received - socket.received;
  socket.received = received;
  ++socket.incomplete;
  const uint64_t messages = socket.connection->messages_;
  if (messages != socket.messages) {
    socket.messages = messages;
    socket.complete = received;
    socket.incomplete = 0;
  }
  if (!socket.connection->authorised_) {
    socket.over = received > limits_.stranger_bytes ? socket.over + 1 : 0;
    // The call may have come and not have been looked at yet.
    if (socket.over < kLooksAtStranger) return true;
    CloseAsSuspect(
        socket,
        absl::StrCat("it sent ", received, " bytes, ", limits_.stranger_bytes,
                     " may come before the first authorised call"));
    return false;
  }
  const int given_up = socket.connection->given_up_;
  if (given_up > limits_.given_up) {
    CloseAsSuspect(socket,
                   absl::StrCat("it gave up ", given_up,
                                " calls in a row before they had a message, ",
                                limits_.given_up, " are allowed"));
    return false;
  }
  const int64_t unfinished = received - socket.complete;
  if (unfinished <= limits_.unfinished_bytes) return true;
  CloseAsSuspect(socket,
                 absl::StrCat("it sent ", unfinished,
                              " bytes since the last complete message, ",
                              limits_.unfinished_bytes, " may come"));
  return false;
}

void ConnectionGuard::LookAtWatched(absl::Time now) {
  for (size_t left = std::min(watched_.size(), kMostLooks); left > 0; --left) {
    Socket& socket = sockets_.at(watched_.front());
    if (!Look(socket, now)) continue;
    watched_.pop_front();
    socket.watched = false;
    if (now - socket.changed < kStaysWatched) Watch(socket);
  }
}

void ConnectionGuard::Sweep(absl::Time now) {
  std::vector<int> all;
  all.reserve(sockets_.size());
  for (const auto& [fd, socket] : sockets_) all.push_back(fd);
  for (const int fd : all) {
    Socket& socket = sockets_.at(fd);
    if (Look(socket, now) && socket.changed == now) Watch(socket);
  }
}

bool ConnectionGuard::CloseUnfinished() {
  MutexLock lock(&mu_);
  absl::flat_hash_map<std::string, int64_t> of_tenant;
  const std::string* most = nullptr;
  for (const auto& [fd, socket] : sockets_) {
    const int64_t unfinished = socket.received - socket.complete;
    if (unfinished > kMuchUnfinished) {
      of_tenant[socket.connection->tenant_] += unfinished;
    }
  }
  for (const auto& [tenant, unfinished] : of_tenant) {
    if (most == nullptr || unfinished > of_tenant.at(*most)) most = &tenant;
  }
  if (most == nullptr) return false;
  std::vector<Socket> much;
  int64_t first = 0;
  for (const auto& [fd, socket] : sockets_) {
    if (socket.connection->tenant_ != *most) continue;
    first = std::max(first, socket.received - socket.complete);
    much.push_back(socket);
  }
  for (const Socket& socket : much) {
    const int64_t unfinished = socket.received - socket.complete;
    if (unfinished <= kMuchUnfinished || unfinished < first / 2) continue;
    CloseAsSuspect(
        socket,
        absl::StrCat("the server is short of memory, and it sent ", unfinished,
                     " bytes since its last complete message"));
  }
  return true;
}

void ConnectionGuard::Blame() {
  MutexLock lock(&mu_);
  const Socket* to_blame = nullptr;
  for (const auto& [fd, socket] : sockets_) {
    if (socket.incomplete >= kLooksAtBlamed &&
        socket.received - socket.complete > kMostOfBlameless &&
        socket.grown > (to_blame == nullptr ? 0 : to_blame->grown)) {
      to_blame = &socket;
    }
  }
  if (to_blame == nullptr) return;
  CloseAsSuspect(*to_blame,
                 absl::StrCat("it held up others with ",
                              to_blame->received - to_blame->complete,
                              " bytes since its last complete message"));
}

void ConnectionGuard::CloseOfLargest() {
  MutexLock lock(&mu_);
  // Strangers together are the tenant without a name.
  absl::flat_hash_map<std::string, int64_t> shares;
  const auto beside = [](const Socket& socket) {
    return kConnectionBytes +
           kBytesOfUnfinished * (socket.received - socket.complete);
  };
  for (const auto& [fd, socket] : sockets_) {
    const std::string& tenant = socket.connection->tenant_;
    const auto [share, is_new] = shares.try_emplace(tenant, 0);
    if (is_new && !tenant.empty()) share->second = limits_.held(tenant);
    share->second += beside(socket);
  }
  const Socket* largest = nullptr;
  const auto rank = [&](const Socket& socket) {
    return std::tuple(shares.at(socket.connection->tenant_), beside(socket),
                      socket.number);
  };
  for (const auto& [fd, socket] : sockets_) {
    if (largest == nullptr || rank(socket) > rank(*largest)) largest = &socket;
  }
  if (largest == nullptr) return;
  const std::string& tenant = largest->connection->tenant_;
  const std::string who = tenant.empty()
                              ? "connections without an authorised call"
                              : absl::StrCat("tenant ", absl::CEscape(tenant));
  Close(*largest, absl::StrCat("the server has ", memory_.resident(),
                               " bytes of memory, more than ",
                               limits_.resident_bytes, ", and ", who,
                               " has the largest share, ", shares.at(tenant)));
}

void ConnectionGuard::LookAtMemory() {
  const MemoryWatch::Look look = memory_.Check(SteadyNow());
  if (!look.is_short || CloseUnfinished()) return;
  if (look.is_over) CloseOfLargest();
}

void ConnectionGuard::Loop() {
  absl::Time next_sweep = SteadyNow() + kGuardEvery;
  while (true) {
    {
      MutexLock lock(&mu_);
      // If there is no connection, there is nothing to look at.
      changed_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return stopping_ || !sockets_.empty();
      });
      changed_.WaitUntil(
          &mu_, SteadyNow() + kPeriod,
          [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopping_; });
      if (stopping_) return;
      const absl::Time now = SteadyNow();
      LookAtWatched(now);
      if (now >= next_sweep) {
        next_sweep = now + kGuardEvery;
        Sweep(now);
      }
    }
    LookAtMemory();
  }
}

}  // namespace hawser::server
