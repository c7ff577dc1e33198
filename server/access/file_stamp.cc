#include "server/access/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr int64_t kMaxBytes = int64_t{16} << 20;

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

FileStamp StampOf(const struct stat& about) {
  return {.device = about.st_dev,
          .inode = about.st_ino,
          .size = about.st_size,
          .modified_ns = Nanoseconds(about.st_mtim),
          .changed_ns = Nanoseconds(about.st_ctim)};
}

absl::Status CannotRead(const std::string& path, int error) {
  return NotFound(path, " cannot be read: ", std::strerror(error));
}

absl::StatusOr<std::pair<std::string, FileStamp>> ReadFrom(
    const std::string& path, int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0) return CannotRead(path, errno);
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotRead(path, errno);
    text.append(buffer, static_cast<size_t>(n));
    if (static_cast<int64_t>(text.size()) > kMaxBytes) {
      return InvalidArgument(path, " has more than ", kMaxBytes, " bytes");
    }
  }
  return std::pair(std::move(text), StampOf(about));
}

}  // namespace

FileStamp FileStamp::Of(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 ? StampOf(about) : FileStamp();
}

absl::StatusOr<std::pair<std::string, FileStamp>> ReadStamped(
    const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead(path, errno);
  auto read = ReadFrom(path, fd);
  close(fd);
  return read;
}

}  // namespace hawser::server
