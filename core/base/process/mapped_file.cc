#include "core/base/process/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Below this a copy costs less than the page faults of a mapping.
constexpr int64_t kSmall = 1 << 20;
// The largest step that a file system's clock may have: a change shows in the
// time of a file that was last written longer ago.
const absl::Duration kClockStep = absl::Milliseconds(5);
constexpr int kMostGuards = 4096;

// A mapping whose faults are caught. `begin` is 0 while the place is free; the
// handler reads without a lock.
struct Guard {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> torn{false};
};
Guard guards[kMostGuards];
std::atomic<int> guards_used{0};  // those beyond were never taken
struct sigaction handler_before;

// Puts a page of zeros where the file has none any more. Everything it calls
// may be called in a handler.
void OnBusError(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  const int used = guards_used.load(std::memory_order_acquire);
  for (int i = 0; i < used; ++i) {
    const uintptr_t begin = guards[i].begin.load(std::memory_order_acquire);
    if (begin == 0 || at < begin || at >= guards[i].end) continue;
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const start = reinterpret_cast<void*>(at / page * page);
    if (mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) != start) {
      break;
    }
    guards[i].torn = true;
    return;
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    return handler_before.sa_sigaction(signal, info, context);
  }
  if (handler_before.sa_handler == SIG_DFL ||
      handler_before.sa_handler == SIG_IGN) {
    // Not ours: the access faults again and ends the process.
    ::signal(signal, SIG_DFL);
    return;
  }
  handler_before.sa_handler(signal);
}

// The mappings by their ends, to find the file of some bytes. The lock is held
// to take and to free a guard, too.
struct Mappings {
  Mutex mu;
  std::map<const char*, const MappedFile*> by_end ABSL_GUARDED_BY(mu);
  std::atomic<int> count{0};

  // Returns -1 if all guards are taken.
  int TakeGuard(absl::Span<const char> bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns null for bytes of no mapping.
  const MappedFile* FileOf(absl::Span<const char> bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    const auto at = by_end.upper_bound(bytes.data());
    if (at == by_end.end()) return nullptr;
    const MappedFile* const file = at->second;
    return bytes.data() < file->bytes().data() ? nullptr : file;
  }
};
Mappings& TheMappings() {
  static Mappings* const mappings = new Mappings();
  return *mappings;
}

int Mappings::TakeGuard(absl::Span<const char> bytes) {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    return sigaction(SIGBUS, &action, &handler_before) == 0;
  }();
  if (!installed) return -1;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  for (int i = 0; i < kMostGuards; ++i) {
    if (guards[i].begin != 0) continue;
    guards[i].torn = false;
    guards[i].end = begin + bytes.size();
    guards[i].begin = begin;
    int used = guards_used;
    while (used <= i && !guards_used.compare_exchange_weak(used, i + 1)) {
    }
    return i;
  }
  return -1;
}

absl::Status ErrorOf(const std::string& path) {
  return absl::ErrnoToStatus(errno, path);
}

absl::Time ModifiedAt(const struct stat& file) {
  return absl::TimeFromTimespec(file.st_mtim);
}

absl::Status Changed(const std::string& path) {
  return Aborted(path, ": changed while it was read; read it again once it is ",
                 "written");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(
    const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return ErrorOf(path);
  const auto close = absl::MakeCleanup([fd] { ::close(fd); });
  std::shared_ptr<MappedFile> file(new MappedFile(path));
  if (::fstat(fd, &file->opened_) != 0) return ErrorOf(path);
  if (!S_ISREG(file->opened_.st_mode)) {
    return InvalidArgument(path, ": is not a regular file");
  }
  // A change right after a write of the same step of the clock would not show.
  const absl::Duration age = absl::Now() - ModifiedAt(file->opened_);
  if (age >= absl::ZeroDuration() && age < kClockStep) {
    absl::SleepFor(kClockStep - age);
    if (::fstat(fd, &file->opened_) != 0) return ErrorOf(path);
  }
  const bool small = file->opened_.st_size <= kSmall;
  HAWSER_RETURN_IF_ERROR(small ? file->Read(fd) : file->Map(fd));
  return file;
}

absl::Status MappedFile::Read(int fd) {
  read_.resize(static_cast<size_t>(opened_.st_size));
  size_t done = 0;
  while (done < read_.size()) {
    const ssize_t n = ::pread(fd, &read_[done], read_.size() - done,
                              static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrorOf(path_);
    if (n == 0) return Changed(path_);
    done += static_cast<size_t>(n);
  }
  bytes_ = read_;
  struct stat now;
  if (::fstat(fd, &now) != 0) return ErrorOf(path_);
  const bool same =
      now.st_size == opened_.st_size && ModifiedAt(now) == ModifiedAt(opened_);
  return same ? absl::OkStatus() : Changed(path_);
}

absl::Status MappedFile::Map(int fd) {
  const auto size = static_cast<size_t>(opened_.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) return ErrorOf(path_);
  bytes_ = {static_cast<const char*>(at), size};
  {
    Mappings& mappings = TheMappings();
    MutexLock lock(&mappings.mu);
    guard_ = mappings.TakeGuard(bytes_);
    if (guard_ >= 0) {
      mappings.by_end[bytes_.data() + bytes_.size()] = this;
      ++mappings.count;
      return absl::OkStatus();
    }
  }
  // Too many mappings: this one is read, as a small file is.
  ::munmap(at, size);
  bytes_ = {};
  return Read(fd);
}

MappedFile::~MappedFile() {
  if (guard_ < 0) return;
  Mappings& mappings = TheMappings();
  {
    MutexLock lock(&mappings.mu);
    mappings.by_end.erase(bytes_.data() + bytes_.size());
    --mappings.count;
    guards[guard_].begin = 0;
  }
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

absl::Status MappedFile::CheckUnchanged() const {
  if (guard_ < 0) return absl::OkStatus();
  if (guards[guard_].torn) return Changed(path_);
  struct stat now;
  // It is gone, or another file has taken its name: nothing writes to it.
  if (::stat(path_.c_str(), &now) != 0) return absl::OkStatus();
  if (now.st_dev != opened_.st_dev || now.st_ino != opened_.st_ino) {
    return absl::OkStatus();
  }
  const bool same =
      now.st_size == opened_.st_size && ModifiedAt(now) == ModifiedAt(opened_);
  return same ? absl::OkStatus() : Changed(path_);
}

bool IsMapped(absl::Span<const char> bytes) {
  Mappings& mappings = TheMappings();
  if (mappings.count == 0 || bytes.empty()) return false;
  MutexLock lock(&mappings.mu);
  return mappings.FileOf(bytes) != nullptr;
}

absl::Status CheckUnchanged(absl::Span<const char> bytes) {
  Mappings& mappings = TheMappings();
  if (mappings.count == 0 || bytes.empty()) return absl::OkStatus();
  MutexLock lock(&mappings.mu);
  const MappedFile* const file = mappings.FileOf(bytes);
  return file == nullptr ? absl::OkStatus() : file->CheckUnchanged();
}

}  // namespace hawser
