// TcpRelay: connections passed on byte by byte, until it is told otherwise.
#ifndef HAWSER_TESTS_CLIENT_REMOTE_LIES_TCP_RELAY_H_
#define HAWSER_TESTS_CLIENT_REMOTE_LIES_TCP_RELAY_H_

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hawser::testing {

// Listens on a free port of 127.0.0.1. Thread-safe.
class TcpRelay {
 public:
  enum class Mode { kPass, kStopped, kByteASecond };
  // "127.0.0.1:port".
  explicit TcpRelay(const std::string& to);
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  const std::string& address() const { return address_; }
  void set_mode(Mode mode) { mode_ = mode; }

 private:
  void Accept();
  // Copies from one socket to another; what comes from the server goes by the
  // mode, what goes there only stops.
  void Copy(int from, int to, bool from_server);

  const int to_port_;
  int listener_ = -1;
  std::string address_;
  std::atomic<Mode> mode_{Mode::kPass};
  std::atomic<bool> ended_{false};
  std::mutex mu_;
  std::vector<int> sockets_;          // under mu_
  std::vector<std::thread> threads_;  // under mu_
  std::thread acceptor_;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_CLIENT_REMOTE_LIES_TCP_RELAY_H_
