#include "server/access/connections/acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Kept free for files, pipes and sockets of everything else in the process: at
// most this many, of a low limit a quarter.
constexpr int64_t kMostReserved = 128;
constexpr int64_t kFewestConnections = 16;
constexpr int kEventsAtOnce = 64;
// At the cap, the time between two questions to the kernel which connections
// are still open.
constexpr absl::Duration kSweepEvery = absl::Milliseconds(20);
constexpr int kPauseMs = 50;
constexpr absl::Duration kLogEvery = absl::Seconds(1);

int64_t OpenDescriptors() {
  std::error_code error;
  int64_t open = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end;
       !error && it != end; it.increment(error)) {
    ++open;
  }
  return open;
}

// Not even refusing works: waits until something may have been closed.
void Pause() { (void)poll(nullptr, 0, kPauseMs); }

// Returns how many connections the limit of file descriptors leaves room for.
int64_t RoomForConnections(int64_t* limit) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  *limit = static_cast<int64_t>(std::min<rlim_t>(files.rlim_cur, 1 << 20));
  return *limit - std::min(*limit / 4, kMostReserved) - OpenDescriptors();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Create(
    int listener, AcceptorOptions options) {
  int64_t limit = 0;
  const int64_t room = RoomForConnections(&limit);
  if (room < kFewestConnections) {
    return FailedPrecondition("the limit of ", limit,
                              " file descriptors (ulimit -n) leaves room for ",
                              std::max<int64_t>(room, 0),
                              " connections, at least ", kFewestConnections,
                              " are needed");
  }
  if (room < options.max_connections) {
    HAWSER_LOG(kInfo) << "at most " << room << " connections, for the limit of "
                      << limit << " file descriptors";
  }
  const size_t capacity = static_cast<size_t>(
      std::min<int64_t>(room, std::max(options.max_connections, 1)));
  std::unique_ptr<Acceptor> acceptor(
      new Acceptor(listener, std::move(options), capacity));
  HAWSER_RETURN_IF_ERROR(acceptor->Open());
  return acceptor;
}

Acceptor::Acceptor(int listener, AcceptorOptions options, size_t capacity)
    : listener_(listener), options_(std::move(options)), capacity_(capacity) {}

absl::Status Acceptor::Open() {
  spare_fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  for (const int fd : {listener_, stop_fd_}) {
    event.data.fd = fd;
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
      return FailedPrecondition("cannot wait for connections: ",
                                std::strerror(errno));
    }
  }
  return absl::OkStatus();
}

Acceptor::~Acceptor() {
  Stop();
  for (const int fd : {spare_fd_, stop_fd_, epoll_fd_}) {
    if (fd >= 0) close(fd);
  }
}

void Acceptor::Start(std::function<void(int fd)> on_connection) {
  on_connection_ = std::move(on_connection);
  thread_ = std::thread([this] { Loop(); });
}

void Acceptor::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  HAWSER_CHECK(write(stop_fd_, &one, sizeof(one)) == sizeof(one));
  thread_.join();
  while (CloseOneThatWaits()) {
  }
}

int Acceptor::NextTimeout() const {
  absl::Time next = absl::InfiniteFuture();
  if (!waiting_.empty()) next = waiting_.front().until;
  if (!held_.empty()) next = std::min(next, held_.begin()->first);
  if (next == absl::InfiniteFuture()) return -1;
  const absl::Duration left = next - SteadyNow();
  // Rounded up, so that the loop does not turn for nothing.
  return 1 + static_cast<int>(std::clamp<int64_t>(
                 absl::ToInt64Milliseconds(left), 0, 60000));
}

void Acceptor::Loop() {
  epoll_event events[kEventsAtOnce];
  while (true) {
    const int n = epoll_wait(epoll_fd_, events, kEventsAtOnce, NextTimeout());
    HAWSER_CHECK(n >= 0 || errno == EINTR);
    // Clients that speak first, so that they are not closed for others.
    bool accept = false;
    for (int i = 0; i < n; ++i) {
      const int fd = events[i].data.fd;
      if (fd == stop_fd_) return;
      if (fd == listener_) {
        accept = true;
      } else {
        Hear(fd);
      }
    }
    CloseSilent();
    GiveThoseHeld();
    if (accept) Accept();
  }
}

void Acceptor::Accept() {
  const int fd =
      accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) return Admit(fd);
  switch (errno) {
    case EMFILE:
    case ENFILE:
      return RefuseForLackOfDescriptors();
    case ENOBUFS:
    case ENOMEM:
      CountRefused();
      Pause();
      return;
    default:
      return;  // the client has gone
  }
}

void Acceptor::Admit(int fd) {
  if (!MakeRoom()) {
    CountRefused();
    close(fd);
    return;
  }
  const int on = 1;  // fails on Unix sockets, which have no delay
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    CountRefused();
    close(fd);
    return;
  }
  waiting_.push_back({fd, SteadyNow() + options_.first_word});
  places_[fd] = std::prev(waiting_.end());
}

bool Acceptor::MakeRoom() {
  const auto room = [this] {
    return open_.size() + waiting_.size() + held_.size() < capacity_;
  };
  if (room()) return true;
  const absl::Time now = SteadyNow();
  if (now >= next_sweep_) {
    next_sweep_ = now + kSweepEvery;
    open_.Sweep();
  }
  if (room()) return true;
  if (!CloseOneThatWaits()) return false;
  CountRefused();
  return true;
}

void Acceptor::Hear(int fd) {
  const auto place = places_.find(fd);
  if (place == places_.end()) return;  // closed in this turn
  char byte;
  const ssize_t n = recv(fd, &byte, 1, MSG_PEEK);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  waiting_.erase(place->second);
  places_.erase(place);
  (void)epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  if (n <= 0) {  // gone without a word
    close(fd);
    return;
  }
  const absl::Time now = SteadyNow();
  const std::optional<absl::Time> at =
      options_.not_before == nullptr ? now : options_.not_before(fd);
  if (!at.has_value()) {
    CountRefused();
    close(fd);
    return;
  }
  if (*at <= now) return Give(fd);
  held_.emplace(*at, fd);
}

void Acceptor::Give(int fd) {
  open_.Add(fd);
  on_connection_(fd);
}

void Acceptor::GiveThoseHeld() {
  const absl::Time now = SteadyNow();
  while (!held_.empty() && held_.begin()->first <= now) {
    const int fd = held_.begin()->second;
    held_.erase(held_.begin());
    Give(fd);
  }
}

bool Acceptor::CloseOneThatWaits() {
  if (!held_.empty()) {
    const auto last = std::prev(held_.end());
    close(last->second);
    held_.erase(last);
    return true;
  }
  if (waiting_.empty()) return false;
  CloseOldest();
  return true;
}

void Acceptor::CloseSilent() {
  const absl::Time now = SteadyNow();
  while (!waiting_.empty() && waiting_.front().until <= now) CloseOldest();
}

void Acceptor::CloseOldest() {
  const int fd = waiting_.front().fd;
  places_.erase(fd);
  waiting_.pop_front();
  close(fd);  // which takes it out of the epoll set
}

// If nothing was refused, the client would wait in the kernel's queue, and the
// loop turn without end.
void Acceptor::RefuseForLackOfDescriptors() {
  CountRefused();
  if (CloseOneThatWaits()) return;
  if (spare_fd_ >= 0) close(spare_fd_);
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  spare_fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && spare_fd_ >= 0) return;
  Pause();
}

void Acceptor::CountRefused() {
  ++refused_;
  const absl::Time now = SteadyNow();
  if (now < next_log_) return;
  next_log_ = now + kLogEvery;
  HAWSER_LOG(kWarning) << refused_
                       << " connections refused so far: " << open_.size()
                       << " are open, " << waiting_.size()
                       << " have said nothing yet and " << held_.size()
                       << " are held back, of " << capacity_;
}

}  // namespace hawser::server
