// ConnectionGuard: how much a connection may send, and which go when memory is
// short.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_GUARD_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_GUARD_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "server/access/connections/closed_log.h"
#include "server/access/connections/connection_limits.h"
#include "server/access/connections/memory_watch.h"
#include "server/access/connections/suspects.h"

namespace hawser::server {

// Calls tell it about the connection they came by. Thread-safe.
class Connection {
 public:
  // A message of the client has come whole.
  void CountMessage() {
    messages_.fetch_add(1, std::memory_order_relaxed);
    given_up_.store(0, std::memory_order_relaxed);
  }
  // The client has cancelled a call: the part of a message that has come is
  // dropped. `with_message`: another had come whole.
  void CountCancelled(bool with_message) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    if (!with_message) given_up_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  friend class ConnectionGuard;
  std::atomic<uint64_t> messages_{0};  // complete, or dropped
  std::atomic<int> given_up_{0};       // since the last message
  std::atomic<bool> authorised_{false};
  std::string tenant_;  // once it is; written under the guard's lock
};

// gRPC neither says nor bounds how much it has buffered of a message or a block
// of headers that is not complete (CVE-2023-33953): so the kernel is asked how
// many bytes each socket has received. A thread of its own looks every 20 ms at
// connections on which something comes, which are those in `watched_`, and at
// the process's memory, and every second at the others; it is not in the way of
// the data. `by_peer_` has the TCP connections of `sockets_`, `of_tenant_`
// counts the authorised ones. Connections on Unix sockets have no byte counts,
// but go when memory is short. Thread-safe.
class ConnectionGuard {
 public:
  explicit ConnectionGuard(ConnectionLimits limits);
  ~ConnectionGuard();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // When this new connection may be given away, nothing: never. From an address
  // where one was closed for what it sent, new ones come one by one (Suspects).
  std::optional<absl::Time> NotBefore(int fd);
  // Watches a connected socket that is about to be given away.
  void Add(int fd);
  // The connection of a call by gRPC's name of its other end; null: one that
  // has no name of its own, as on Unix sockets, or is closed.
  std::shared_ptr<Connection> Find(absl::string_view peer);
  // A call of `tenant` begins on a connection. Errors: kResourceExhausted, the
  // tenant has as many connections as one may.
  absl::Status Authorise(Connection& connection, absl::string_view tenant);

  // A thread that serves connections is held up by one: closes the one that
  // sends most at this time without completing a message.
  void Blame();

  // Returns how many were closed, for any of the reasons above.
  int64_t closed() const { return closed_.count(); }

 private:
  struct Socket {
    int fd = -1;
    uint64_t inode = 0;
    uint64_t number = 0;   // of those added: the newest is the largest
    bool counted = false;  // the kernel says how much it has received
    std::string peer;
    std::shared_ptr<Connection> connection;
    uint64_t messages = 0;  // when last looked at
    int64_t received = 0;   // likewise
    int over = 0;           // looks in a row that found too much
    int64_t complete = 0;   // up to the last look that saw a new message
    int64_t grown = 0;      // by the last look
    int incomplete = 0;     // looks in a row that saw no new message
    absl::Time changed;     // when a look saw more received than before
    bool watched = false;   // in watched_
  };
  using Sockets = absl::flat_hash_map<int, Socket>;

  void Loop();
  // Looks at how much gRPC has read of a socket; false: it is gone or closed.
  bool Look(Socket& socket, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Looks at those watched, as many as one period has time for.
  void LookAtWatched(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Looks at all, and forgets those that are closed.
  void Sweep(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Watch(Socket& socket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(const Socket& socket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Close(const Socket& socket, absl::string_view why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Close, and the address it came from is a suspect.
  void CloseAsSuspect(const Socket& socket, absl::string_view why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookAtMemory();
  // Finds the tenant whose connections have most of messages that are not
  // complete, and closes those that have much, up to half of what the first of
  // them has. False: there is none.
  bool CloseUnfinished();
  // Closes a connection of the tenant with the largest share: what it is
  // charged for and what its connections may take besides.
  void CloseOfLargest();

  const ConnectionLimits limits_;
  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<int> watched_ ABSL_GUARDED_BY(mu_);  // looked at longest ago first
  Sockets sockets_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int> by_peer_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> of_tenant_ ABSL_GUARDED_BY(mu_);
  Suspects suspects_ ABSL_GUARDED_BY(mu_);
  uint64_t added_ ABSL_GUARDED_BY(mu_) = 0;
  ClosedLog closed_;    // Add under mu_
  MemoryWatch memory_;  // Check by the guard's thread alone
  std::thread thread_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_GUARD_H_
