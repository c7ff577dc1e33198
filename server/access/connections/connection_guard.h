// ConnectionGuard: how much a connection may send, and which go when memory is
// short.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_GUARD_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_GUARD_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace hawser::server {

struct ConnectionLimits {
  // What a connection may receive before its first authorised call begins.
  int64_t stranger_bytes = 64 << 10;
  // And afterwards since the last message of it was complete: more than the
  // largest message, less than what gRPC can be made to buffer.
  int64_t unfinished_bytes = 24 << 20;
  // Of the process; beyond, connections are closed: those with much that is not
  // complete, then the newest. 0: no limit.
  int64_t resident_bytes = 0;
  // Of the process, beyond what `charged` says that clients are charged for:
  // what gRPC has buffered. Beyond, connections with much that is not complete
  // are closed. 0: no limit.
  int64_t uncharged_bytes = 0;
  std::function<int64_t()> charged = [] { return int64_t{0}; };
  // Calls it may give up in a row without having sent a message
  // (CVE-2023-44487).
  int given_up = 1000;
  // Authorised connections of one tenant.
  int64_t of_tenant = 4096;
  // What the process takes now; replaced by tests.
  std::function<int64_t()> resident;
};

// What calls say of the connection they came by. Thread-safe.
class Connection {
 public:
  // A message of the client has come whole.
  void CountMessage() {
    messages_.fetch_add(1, std::memory_order_relaxed);
    given_up_.store(0, std::memory_order_relaxed);
  }
  // The client has cancelled a call: what has come of a message of it is
  // dropped. `with_message`: one had come whole.
  void CountCancelled(bool with_message) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    if (!with_message) given_up_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  friend class ConnectionGuard;
  std::atomic<uint64_t> messages_{0};  // complete, or dropped
  std::atomic<int> given_up_{0};  // since the last message
  std::atomic<bool> authorised_{false};
  std::string tenant_;  // once it is; written under the guard's lock
};

// gRPC says neither how much it has buffered of a message or of a block of
// headers that is not complete, nor bounds it (CVE-2023-33953): so the kernel
// is asked how many bytes each socket has received. A thread of its own looks
// every 20 ms at connections on which something comes and at the process's
// memory, and every second at the others; nothing stands in the way of the
// data. Connections on Unix sockets are not counted, but close when memory is
// short. Thread-safe.
class ConnectionGuard {
 public:
  explicit ConnectionGuard(ConnectionLimits limits);
  ~ConnectionGuard();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // When a connection from where this one is from may be given away: where one
  // was closed for what it sent, new ones come one by one for half a minute,
  // the slower the more often that happens.
  absl::Time NotBefore(int fd);
  // Watches a connected socket that is about to be given away.
  void Add(int fd);
  // The connection of a call by what gRPC calls its other end; null: one that
  // is not told from others, as on Unix sockets, or is closed.
  std::shared_ptr<Connection> Find(absl::string_view peer);
  // A call of `tenant` begins on it. Errors: kResourceExhausted, the tenant has
  // as many connections as one may.
  absl::Status Authorise(Connection& connection, absl::string_view tenant);

  // A thread that serves connections has been held up by one for long: closes
  // the one that sends most at this time without completing a message.
  void Blame();

  // How many were closed, for any of the reasons above.
  int64_t closed() const { return closed_; }

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
  // An address from which connections had to be closed.
  struct Suspect {
    absl::Duration gap;  // between two new connections
    absl::Time next;     // of the next one
    absl::Time closed;   // the last
  };

  void Loop();
  // Looks at what gRPC has read of a socket; false: it is gone, or was closed.
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
  // Closes those that have sent much of a message that is not complete. False:
  // there is none.
  bool CloseUnfinished();
  void CloseNewest();

  const ConnectionLimits limits_;
  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<int> watched_ ABSL_GUARDED_BY(mu_);  // looked at longest ago first
  Sockets sockets_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int> by_peer_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> of_tenant_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Suspect> suspects_ ABSL_GUARDED_BY(mu_);
  uint64_t added_ ABSL_GUARDED_BY(mu_) = 0;
  std::atomic<int64_t> closed_{0};
  absl::Time next_log_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  int64_t unlogged_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time next_close_ = absl::InfinitePast();  // of the guard's thread alone
  std::thread thread_;
};

// Bytes of memory this process has now.
int64_t ResidentBytes();

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_CONNECTION_GUARD_H_
