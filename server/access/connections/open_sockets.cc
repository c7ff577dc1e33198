#include "server/access/connections/open_sockets.h"

#include "server/access/connections/kernel_socket.h"

namespace hawser::server {

void OpenSockets::Add(int fd) { inodes_[fd] = InodeOf(fd); }

void OpenSockets::Sweep() {
  absl::erase_if(inodes_, [](const auto& socket) {
    return InodeOf(socket.first) != socket.second;
  });
}

}  // namespace hawser::server
