// Files by whole reads and crash-safe writes; errno becomes a Status.
#ifndef HAWSER_SERVER_DATASETS_STORAGE_FILE_IO_H_
#define HAWSER_SERVER_DATASETS_STORAGE_FILE_IO_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser::server {

// "<what> <path>: No space left on device". A full disk, quota or file size
// limit is kResourceExhausted, a missing file kNotFound, the rest kInternal.
absl::Status FileError(absl::string_view what, absl::string_view path,
                       int error);
// True if the process is in trouble and not the file: no descriptors or no
// memory left. Takes statuses by FileError that are passed on as they are.
bool IsOfProcess(const absl::Status& status);

// A closing file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  const int fd_;
};

// Opens a file for reading. Errors: FileError's; kDataLoss for what is no file:
// a folder, or a pipe, which would have the reader wait.
absl::StatusOr<std::unique_ptr<FileDescriptor>> OpenToRead(
    const std::string& path);

// A file that is not there before all of it is on the disk.
class NewFile {
 public:
  // Writes the parts to "<path>.tmp"; the disk begins at once.
  static absl::StatusOr<std::unique_ptr<NewFile>> Write(
      const std::string& path,
      std::initializer_list<absl::Span<const char>> parts);
  // Removes the file if it was not kept.
  ~NewFile();
  // Called once: waits for the disk, then gives the file its name.
  absl::Status Keep();

 private:
  NewFile(const std::string& path, int fd)
      : path_(path), temporary_(path + ".tmp"), file_(fd) {}

  const std::string path_;
  const std::string temporary_;
  const FileDescriptor file_;
  bool kept_ = false;
};
// Writes and keeps a file in one go.
absl::Status WriteFile(const std::string& path,
                       std::initializer_list<absl::Span<const char>> parts);
absl::Status SyncFolder(const std::string& path);
absl::Status MakeFolder(const std::string& path);
// Errors: FileError's, also for a part of the folder that cannot be read.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);

// Fills `into` from `offset` on. Errors: kDataLoss when the file ends before.
absl::Status ReadExactly(int fd, int64_t offset, absl::Span<char> into,
                         const std::string& path);
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORAGE_FILE_IO_H_
