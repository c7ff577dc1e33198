// Acceptor: the loop that accepts connections and gives them away.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_ACCEPTOR_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_ACCEPTOR_H_

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/connections/open_sockets.h"

namespace hawser::server {

struct AcceptorOptions {
  // Connections at a time; fewer where the limit of file descriptors says so.
  int max_connections = 4096;
  // A client has to send its first byte within this.
  absl::Duration first_word = absl::Seconds(10);
  // Returns when a connection whose client has spoken may be given away;
  // nullopt: it is closed. Called once for each, by the acceptor's thread.
  // Null: at once.
  std::function<std::optional<absl::Time>(int fd)> not_before;
};

// Takes the place of gRPC's acceptor, which stops for good once the process
// runs out of file descriptors (CVE-2023-4785); some descriptors stay free for
// everything else. Each connection is in one of three places: in `waiting_`
// until its client has sent a first byte, then in `held_` until it may be given
// away, then in `open_` until gRPC has closed it. If there is no room for
// another one, one of those held is closed, the one with longest to wait, or
// else the one in `waiting_` for longest. A flood of connections thus makes
// room for clients, and not the other way round.
class Acceptor {
 public:
  // `listener` is a listening, non-blocking socket that outlives it.
  // Errors: kFailedPrecondition, there are too few file descriptors.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Create(
      int listener, AcceptorOptions options);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Returns how many connections there is room for.
  size_t capacity() const { return capacity_; }

  // Gives connected, non-blocking sockets away, on a thread of its own. Call it
  // once.
  void Start(std::function<void(int fd)> on_connection);
  // Nothing is given away any more; connections that still wait are closed.
  void Stop();

 private:
  struct Waiting {
    int fd;
    absl::Time until;
  };

  Acceptor(int listener, AcceptorOptions options, size_t capacity);
  absl::Status Open();
  void Loop();
  int NextTimeout() const;  // milliseconds, for epoll_wait
  void Accept();
  void Admit(int fd);
  bool MakeRoom();
  // A client has spoken or gone: its connection is given away, held or closed.
  void Hear(int fd);
  void Give(int fd);
  void GiveThoseHeld();
  void CloseSilent();
  void CloseOldest();
  bool CloseOneThatWaits();
  void RefuseForLackOfDescriptors();
  void CountRefused();

  const int listener_;
  const AcceptorOptions options_;
  const size_t capacity_;
  int stop_fd_ = -1;  // readable once Stop was called
  int epoll_fd_ = -1;
  int spare_fd_ = -1;  // given up to be able to refuse
  std::function<void(int fd)> on_connection_;
  std::thread thread_;

  // The loop's thread alone uses these.
  std::list<Waiting> waiting_;  // longest first
  absl::flat_hash_map<int, std::list<Waiting>::iterator> places_;
  std::multimap<absl::Time, int> held_;  // by when they may be given away
  OpenSockets open_;
  absl::Time next_sweep_ = absl::InfinitePast();
  absl::Time next_log_ = absl::InfinitePast();
  int64_t refused_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_ACCEPTOR_H_
