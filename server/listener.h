// Listener: a socket and the loop that accepts on it.
#ifndef HAWSER_SERVER_LISTENER_H_
#define HAWSER_SERVER_LISTENER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser::server {

// We accept ourselves because this gRPC's own acceptor stops for good once the
// process runs out of file descriptors (CVE-2023-4785). Connections beyond
// the cap are closed at once, so that descriptors are always left.
class Listener {
 public:
  // "host:port" ("[::1]:0" too; port 0 takes a free one) or "unix:/path".
  // Beyond loopback and Unix sockets only with `insecure`. Errors:
  // kInvalidArgument for the text, kFailedPrecondition (not ours to use, in
  // use, or not without --insecure).
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(
      absl::string_view address, bool insecure);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // "127.0.0.1:7070", with the port that was taken.
  const std::string& address() const { return address_; }
  int fd() const { return fd_; }

  // Gives connected, non-blocking sockets away, on a thread of its own. Once.
  void Start(std::function<void(int fd)> on_connection);
  void Stop();

 private:
  Listener() = default;
  absl::Status BindTcp(absl::string_view text, bool insecure);
  absl::Status BindUnix(absl::string_view path);
  absl::Status Listen();
  void Loop();
  void Accept();

  int fd_ = -1;
  int stop_fd_ = -1;  // readable once Stop was called
  int fd_cap_ = 0;
  std::string address_;
  std::string unix_path_;
  std::function<void(int fd)> on_connection_;
  std::thread thread_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_LISTENER_H_
