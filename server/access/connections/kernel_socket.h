// What the kernel knows of a socket.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_KERNEL_SOCKET_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_KERNEL_SOCKET_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hawser::server {

// Tells a socket from the next one with its descriptor: no two open sockets
// have the same. 0: `fd` is not open.
uint64_t InodeOf(int fd);

// The address of a socket's other end in the form that gRPC writes; "" for
// sockets that have no address.
std::string PeerOf(int fd);
// `peer` without its port.
absl::string_view HostOf(absl::string_view peer);

// The bytes that were read of a TCP socket in its life; those that still lie in
// the kernel cost this process no memory. -1: the kernel does not say.
int64_t ReadBytes(int fd);

// Shuts a socket down and drops what lies there unread: gRPC, which owns it,
// would parse that before it sees the end.
void ShutDown(int fd);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_KERNEL_SOCKET_H_
