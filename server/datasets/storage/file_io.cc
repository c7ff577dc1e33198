#include "server/datasets/storage/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "absl/strings/cord.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// The largest file of a dataset record; a chunk list of 2 TB has 16 MiB.
constexpr int64_t kMaxFileBytes = int64_t{64} << 20;

// Bytes that go past the page cache begin and end at multiples of this, in
// memory and in the file.
constexpr size_t kPage = 4096;
// Marks a status.
constexpr absl::string_view kOfProcess = "hawser.of_process";

// Fewer bytes are copied sooner than the disk has them.
constexpr size_t kWorthWaiting = size_t{256} << 10;

// Moves as much of the front of `bytes` as can go past the page cache, which
// would hold the bytes a second time and whose memory takes longer to get than
// a disk to fill, and returns how much. Stops at an error, which the caller
// meets again when it moves the rest in the usual way.
template <typename T, typename Transfer>
size_t MoveDirectly(int fd, int64_t offset, absl::Span<T> bytes,
                    const Transfer& transfer) {
  const int flags = fcntl(fd, F_GETFL);
  if (bytes.size() < kWorthWaiting || offset % kPage != 0 ||
      reinterpret_cast<uintptr_t>(bytes.data()) % kPage != 0 ||
      fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) {
    return 0;
  }
  const size_t pages = bytes.size() / kPage * kPage;
  size_t done = 0;
  while (done < pages) {
    const ssize_t n = transfer(bytes.data() + done, pages - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  fcntl(fd, F_SETFL, flags);
  return done;
}

// At the file's end, which is at `offset`.
absl::Status Append(int fd, int64_t offset, absl::Span<const char> bytes,
                    const std::string& path) {
  bytes.remove_prefix(MoveDirectly(
      fd, offset, bytes,
      [&](const char* from, size_t size) { return write(fd, from, size); }));
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
  absl::Status status = absl::InternalError(text);
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    status.SetPayload(kOfProcess, absl::Cord());
  }
  return status;
}

bool IsOfProcess(const absl::Status& status) {
  return status.GetPayload(kOfProcess).has_value();
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::unique_ptr<FileDescriptor>> OpenToRead(
    const std::string& path) {
  auto file = std::make_unique<FileDescriptor>(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  // A socket cannot even be opened.
  if (!file->valid() && errno == ENXIO) return DataLoss(path, " is no file");
  struct stat info;
  if (!file->valid() || fstat(file->get(), &info) != 0) {
    return FileError("cannot read", path, errno);
  }
  if (!S_ISREG(info.st_mode)) return DataLoss(path, " is no file");
  return file;
}

absl::StatusOr<std::unique_ptr<NewFile>> NewFile::Write(
    const std::string& path,
    std::initializer_list<absl::Span<const char>> parts) {
  const std::string temporary = path + ".tmp";
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("cannot create", temporary, errno);
  std::unique_ptr<NewFile> file(new NewFile(path, fd));
  int64_t offset = 0;
  for (absl::Span<const char> part : parts) {
    HAWSER_RETURN_IF_ERROR(Append(fd, offset, part, temporary));
    offset += static_cast<int64_t>(part.size());
  }
  // This is for speed alone: Keep hears of every error.
  (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  return file;
}

NewFile::~NewFile() {
  if (!kept_) unlink(temporary_.c_str());
}

absl::Status NewFile::Keep() {
  if (fsync(file_.get()) != 0) {
    return FileError("cannot flush", temporary_, errno);
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return FileError("cannot rename to", path_, errno);
  }
  kept_ = true;
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path,
                       std::initializer_list<absl::Span<const char>> parts) {
  HAWSER_ASSIGN_OR_RETURN(const auto file, NewFile::Write(path, parts));
  return file->Keep();
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
  errno = 0;
  while (const dirent* entry = readdir(folder)) {
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int error = errno;
  closedir(folder);
  if (error != 0) return FileError("cannot list", path, error);
  return names;
}

absl::Status ReadExactly(int fd, int64_t offset, absl::Span<char> into,
                         const std::string& path) {
  // pread, but it knows where it is.
  const auto next = [&](char* to, size_t size) {
    const ssize_t n = pread(fd, to, size, offset);
    offset += std::max<ssize_t>(n, 0);
    return n;
  };
  into.remove_prefix(MoveDirectly(fd, offset, into, next));
  while (!into.empty()) {
    const ssize_t n = next(into.data(), into.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("cannot read", path, errno);
    if (n == 0) return DataLoss(path, " ends at byte ", offset);
    into.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const auto file, OpenToRead(path));
  struct stat info;
  if (fstat(file->get(), &info) != 0) {
    return FileError("cannot read", path, errno);
  }
  if (info.st_size > kMaxFileBytes) {
    return DataLoss(path, " has ", info.st_size, " bytes");
  }
  std::string out(static_cast<size_t>(info.st_size), '\0');
  HAWSER_RETURN_IF_ERROR(
      ReadExactly(file->get(), 0, absl::MakeSpan(out), path));
  return out;
}

}  // namespace hawser::server
