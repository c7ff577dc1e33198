#include "tests/testing/processes/faulty_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace hawser::testing {
namespace {

struct Rule {
  std::string call, path;
  int error = 0, percent = 100, milliseconds = 0;
};

struct Faults {
  std::mutex mu;
  std::vector<Rule> rules;
  uint64_t state = 1;
  std::atomic<int> count{0};  // of rules, to be looked at without the lock
  std::atomic<int64_t> failed{0};
};

void Parse(const std::string& text, Faults* faults) {
  const std::lock_guard<std::mutex> lock(faults->mu);
  faults->rules.clear();
  std::istringstream all(text);
  for (std::string one; std::getline(all, one, ';');) {
    std::istringstream words(one);
    Rule rule;
    words >> rule.call >> rule.path >> rule.error >> rule.percent >>
        rule.milliseconds;
    if (!rule.call.empty()) faults->rules.push_back(rule);
  }
  faults->failed = 0;
  faults->count = static_cast<int>(faults->rules.size());
}

Faults& All() {
  static Faults* const faults = [] {
    auto* made = new Faults;
    const char* text = std::getenv("HAWSER_TEST_FAULTS");
    made->state = static_cast<uint64_t>(getpid()) * 2654435761u + 1;
    if (text != nullptr) Parse(text, made);
    return made;
  }();
  return *faults;
}

bool Matches(const std::string& part, const std::string& path) {
  if (part.empty() || part.back() != '$') {
    return path.find(part) != std::string::npos;
  }
  const size_t n = part.size() - 1;
  return path.size() >= n && path.compare(path.size() - n, n, part, 0, n) == 0;
}

// The errno that this call is to fail with; 0: none.
int FaultOf(const char* call, const std::string& path) {
  Faults& faults = All();
  int error = 0, milliseconds = 0;
  {
    const std::lock_guard<std::mutex> lock(faults.mu);
    for (const Rule& rule : faults.rules) {
      if (rule.call != call || !Matches(rule.path, path)) continue;
      faults.state = faults.state * 6364136223846793005u + 1442695040888963407u;
      if (static_cast<int>((faults.state >> 33) % 100) >= rule.percent)
        continue;
      error = rule.error;
      milliseconds = rule.milliseconds;
      break;
    }
  }
  if (milliseconds > 0) {
    timespec pause{milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&pause, nullptr);
  }
  if (error != 0) ++faults.failed;
  return error;
}

bool Fails(const char* call, const char* path) {
  if (All().count == 0 || path == nullptr) return false;
  const int error = FaultOf(call, path);
  if (error != 0) errno = error;
  return error != 0;
}

bool Fails(const char* call, int fd) {
  if (All().count == 0) return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof(path) - 1);
  if (n <= 0) return false;
  path[n] = '\0';
  return Fails(call, path);
}

// The C library's own.
template <typename F>
F* Real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void SetFileFaults(const std::string& rules) { Parse(rules, &All()); }
int64_t FileFaults() { return All().failed; }

}  // namespace hawser::testing

using hawser::testing::Fails;
using hawser::testing::Real;

// What callers of these names were compiled to, by their headers' choice.
#define HAWSER_OPEN(name)                                              \
  extern "C" int name(const char* path, int flags, ...) {              \
    static auto* const real = Real<int(const char*, int, ...)>(#name); \
    mode_t mode = 0;                                                   \
    if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {                      \
      va_list rest;                                                    \
      va_start(rest, flags);                                           \
      mode = va_arg(rest, mode_t);                                     \
      va_end(rest);                                                    \
    }                                                                  \
    return Fails("open", path) ? -1 : real(path, flags, mode);         \
  }
HAWSER_OPEN(open)
HAWSER_OPEN(open64)

extern "C" ssize_t pread(int fd, void* into, size_t size, off_t at) {
  static auto* const real = Real<ssize_t(int, void*, size_t, off_t)>("pread");
  return Fails("pread", fd) ? -1 : real(fd, into, size, at);
}

extern "C" ssize_t pread64(int fd, void* into, size_t size, off64_t at) {
  static auto* const real =
      Real<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return Fails("pread", fd) ? -1 : real(fd, into, size, at);
}

extern "C" int fstat(int fd, struct stat* info) {
  static auto* const real = Real<int(int, struct stat*)>("fstat");
  return Fails("fstat", fd) ? -1 : real(fd, info);
}

extern "C" dirent* readdir(DIR* folder) {
  static auto* const real = Real<dirent*(DIR*)>("readdir");
  return Fails("readdir", dirfd(folder)) ? nullptr : real(folder);
}

extern "C" int fsync(int fd) {
  static auto* const real = Real<int(int)>("fsync");
  return Fails("fsync", fd) ? -1 : real(fd);
}

extern "C" int rename(const char* from, const char* to) {
  static auto* const real = Real<int(const char*, const char*)>("rename");
  return Fails("rename", to) ? -1 : real(from, to);
}

extern "C" int unlink(const char* path) {
  static auto* const real = Real<int(const char*)>("unlink");
  return Fails("unlink", path) ? -1 : real(path);
}
