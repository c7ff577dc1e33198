#include "client/formats/files/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

absl::Status ErrnoStatus(const std::string& path) {
  return absl::ErrnoToStatus(errno, path);
}

absl::Status WriteAll(int fd, absl::Span<const char> bytes,
                      const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status WriteNew(const std::string& path,
                      absl::Span<const absl::Span<const char>> parts) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return ErrnoStatus(path);
  absl::Status status;
  for (absl::Span<const char> part : parts) {
    if (status.ok()) status = WriteAll(fd, part, path);
  }
  // Some file systems report a full disk only here.
  if (::close(fd) != 0 && status.ok()) status = ErrnoStatus(path);
  return status;
}

}  // namespace

bool FileBytes::StartsWith(absl::string_view magic) const {
  return size >= static_cast<int64_t>(magic.size()) &&
         absl::string_view(data.get(), magic.size()) == magic;
}

FileBytes FileBytes::Of(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {std::shared_ptr<const char>(owner, owner->data()),
          static_cast<int64_t>(owner->size())};
}

absl::StatusOr<FileBytes> MapFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path);
  auto close = absl::MakeCleanup([fd] { ::close(fd); });
  struct stat info;
  if (::fstat(fd, &info) != 0) return ErrnoStatus(path);
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgument(path, ": is not a regular file");
  }
  if (info.st_size == 0) return FileBytes::Of("");
  const size_t size = static_cast<size_t>(info.st_size);
  void* p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) return ErrnoStatus(path);
  return FileBytes{std::shared_ptr<const char>(
                       static_cast<const char*>(p),
                       [p, size](const char*) { ::munmap(p, size); }),
                   static_cast<int64_t>(size)};
}

std::string UnfinishedPath(const std::string& path) {
  static std::atomic<int> next{0};
  return absl::StrCat(path, ".", ::getpid(), ".", next.fetch_add(1), ".tmp");
}

absl::Status ReplaceFile(const std::string& path,
                         absl::Span<const absl::Span<const char>> parts) {
  const std::string unfinished = UnfinishedPath(path);
  absl::Status status = WriteNew(unfinished, parts);
  if (status.ok() && ::rename(unfinished.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(path);
  }
  if (!status.ok()) ::unlink(unfinished.c_str());
  return status;
}

}  // namespace hawser
