// Listener: a listening socket.
#ifndef HAWSER_SERVER_LISTENER_H_
#define HAWSER_SERVER_LISTENER_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser::server {

// Owns its descriptor, and the file of a Unix socket, which goes with it.
class Listener {
 public:
  // "host:port" ("[::1]:0" too; port 0 takes a free one) or "unix:/path". A
  // host's first address counts; "[::]" takes IPv4 as well. A Unix socket is
  // its user's alone (mode 0600) and takes the place of one that a dead server
  // has left. Listens beyond loopback and Unix sockets only if `anywhere`.
  // Errors: kInvalidArgument for the text, kFailedPrecondition (in use, not
  // ours to use, a file that is no socket, or beyond loopback).
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(
      absl::string_view address, bool anywhere);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // "127.0.0.1:7070", with the port that was taken, or "unix:/path".
  const std::string& address() const { return address_; }
  // True if only this machine can reach it.
  bool local() const { return local_; }
  // Non-blocking.
  int fd() const { return fd_; }
  // From now on new connections are refused at once, and so are those that wait
  // to be accepted: a client that is left waiting would not look elsewhere.
  void Refuse();

 private:
  Listener() = default;
  absl::Status BindTcp(absl::string_view text, bool anywhere);
  absl::Status BindUnix(absl::string_view path);

  int fd_ = -1;
  bool local_ = true;
  std::string address_;
  std::string unix_path_;
  ino_t unix_inode_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_LISTENER_H_
