#include "server/access/connections/open_sockets.h"

#include <sys/stat.h>

namespace hawser::server {

uint64_t InodeOf(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

void OpenSockets::Add(int fd) { inodes_[fd] = InodeOf(fd); }

void OpenSockets::Sweep() {
  absl::erase_if(inodes_, [](const auto& socket) {
    return InodeOf(socket.first) != socket.second;
  });
}

}  // namespace hawser::server
