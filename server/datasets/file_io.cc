#include "server/datasets/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Of dataset records; a chunk list of 2 TB has 16 MiB.
constexpr int64_t kMaxFileBytes = int64_t{64} << 20;

absl::Status WriteAll(int fd, absl::Span<const char> bytes,
                      const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("cannot write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FileError(absl::string_view what, absl::string_view path,
                       int error) {
  const std::string text =
      absl::StrCat(what, " ", path, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return absl::ResourceExhaustedError(text);
  }
  if (error == ENOENT) return absl::NotFoundError(text);
  return absl::InternalError(text);
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

absl::Status WriteFile(const std::string& path,
                       std::initializer_list<absl::Span<const char>> parts) {
  const std::string temporary = path + ".tmp";
  auto clean = absl::MakeCleanup([&] { unlink(temporary.c_str()); });
  {
    FileDescriptor file(open(temporary.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) return FileError("cannot create", temporary, errno);
    for (absl::Span<const char> part : parts) {
      HAWSER_RETURN_IF_ERROR(WriteAll(file.get(), part, temporary));
    }
    if (fsync(file.get()) != 0) {
      return FileError("cannot flush", temporary, errno);
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    return FileError("cannot rename to", path, errno);
  }
  std::move(clean).Cancel();
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& path) {
  FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || fsync(folder.get()) != 0) {
    return FileError("cannot flush", path, errno);
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return FileError("cannot make folder", path, errno);
}

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return FileError("cannot list", path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(folder);
  return names;
}

absl::Status ReadExactly(int fd, int64_t offset, absl::Span<char> into,
                         const std::string& path) {
  while (!into.empty()) {
    const ssize_t n = pread(fd, into.data(), into.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("cannot read", path, errno);
    if (n == 0) return DataLoss(path, " ends at byte ", offset);
    into.remove_prefix(static_cast<size_t>(n));
    offset += n;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!file.valid() || fstat(file.get(), &info) != 0) {
    return FileError("cannot read", path, errno);
  }
  if (info.st_size > kMaxFileBytes) {
    return DataLoss(path, " has ", info.st_size, " bytes");
  }
  std::string out(static_cast<size_t>(info.st_size), '\0');
  HAWSER_RETURN_IF_ERROR(ReadExactly(file.get(), 0, absl::MakeSpan(out), path));
  return out;
}

}  // namespace hawser::server
