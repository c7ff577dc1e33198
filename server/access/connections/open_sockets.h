// OpenSockets: which of the connections given away are still open.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_OPEN_SOCKETS_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_OPEN_SOCKETS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace hawser::server {

// gRPC does not say when it closes a connection it was given, so the kernel is
// asked whether the descriptor still is that socket. Not thread-safe.
class OpenSockets {
 public:
  // `fd` is open; its owner may close it at any time.
  void Add(int fd);
  // The number that were open when last asked.
  size_t size() const { return inodes_.size(); }
  // Forgets those that are closed.
  void Sweep();

 private:
  absl::flat_hash_map<int, uint64_t> inodes_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_OPEN_SOCKETS_H_
