#include "client/formats/files/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/process/mapped_file.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// The kernel follows as many links.
constexpr int kMostLinks = 40;

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

// All of them, and closes `fd`.
absl::Status WriteParts(int fd, const std::string& path,
                        absl::Span<const absl::Span<const char>> parts) {
  absl::Status status;
  for (absl::Span<const char> part : parts) {
    if (status.ok()) status = WriteAll(fd, part, path);
  }
  // Some file systems report a full disk only here.
  if (::close(fd) != 0 && status.ok()) status = ErrnoStatus(path);
  return status;
}

absl::Status WriteNew(const std::string& path,
                      absl::Span<const absl::Span<const char>> parts) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return ErrnoStatus(path);
  return WriteParts(fd, path, parts);
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

absl::Status FileBytes::CheckUnchanged() const {
  return hawser::CheckUnchanged(span());
}

absl::StatusOr<FileBytes> MapFile(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  const absl::Span<const char> bytes = file->bytes();
  return FileBytes{std::shared_ptr<const char>(file, bytes.data()),
                   static_cast<int64_t>(bytes.size())};
}

absl::StatusOr<Destination> Destination::Of(const std::string& path) {
  Destination to{path};
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return ErrnoStatus(path);
    // A link may name what is not there yet: that is made, not the link's place
    // taken.
    std::error_code error;
    for (int i = 0; i < kMostLinks; ++i) {
      const auto next = std::filesystem::read_symlink(to.path, error);
      if (error) return to;
      const auto folder = std::filesystem::path(to.path).parent_path();
      to.path = next.is_absolute() ? next.string() : (folder / next).string();
    }
    return InvalidArgument(path, ": is a link to a link, more than ",
                           kMostLinks, " times");
  }
  if (S_ISDIR(info.st_mode)) return InvalidArgument(path, ": is a folder");
  to.replaces = S_ISREG(info.st_mode);
  if (!to.replaces) return to;
  // A link is followed: it stays, and what it names is replaced.
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return absl::ErrnoToStatus(error.value(), path);
  to.path = real.string();
  return to;
}

absl::Status WriteTo(const std::string& path,
                     absl::Span<const absl::Span<const char>> parts) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path);
  return WriteParts(fd, path, parts);
}

std::string UnfinishedPath(const std::string& path) {
  static std::atomic<int> next{0};
  return absl::StrCat(path, ".", ::getpid(), ".", next.fetch_add(1), ".tmp");
}

absl::Status ReplaceFile(const std::string& path,
                         absl::Span<const absl::Span<const char>> parts) {
  HAWSER_ASSIGN_OR_RETURN(const Destination to, Destination::Of(path));
  if (!to.replaces) return WriteTo(to.path, parts);
  const std::string unfinished = UnfinishedPath(to.path);
  absl::Status status = WriteNew(unfinished, parts);
  if (status.ok() && ::rename(unfinished.c_str(), to.path.c_str()) != 0) {
    status = ErrnoStatus(path);
  }
  if (!status.ok()) ::unlink(unfinished.c_str());
  return status;
}

}  // namespace hawser
