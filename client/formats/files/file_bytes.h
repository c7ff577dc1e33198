// A file as bytes in memory, and how a small one is written.
#ifndef HAWSER_CLIENT_FORMATS_FILES_FILE_BYTES_H_
#define HAWSER_CLIENT_FORMATS_FILES_FILE_BYTES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser {

// All bytes of one file. Copying shares them; they stay as long as a copy of
// `data`, or a pointer made by At, does.
struct FileBytes {
  std::shared_ptr<const char> data;
  int64_t size = 0;

  absl::Span<const char> span() const {
    return {data.get(), static_cast<size_t>(size)};
  }
  bool StartsWith(absl::string_view magic) const;
  // Byte `offset` (at most `size`), keeping the file.
  std::shared_ptr<const char> At(int64_t offset) const {
    return std::shared_ptr<const char>(data, data.get() + offset);
  }
  // `count` bytes from `offset` on, all of them there, keeping the file.
  FileBytes Part(int64_t offset, int64_t count) const {
    return {At(offset), count};
  }
  static FileBytes Of(std::string bytes);
};

// Maps a regular file read-only, so that only what is looked at is read.
// Cutting the file short while it is mapped ends the process with SIGBUS:
// replace files by rename, as ReplaceFile does.
// Errors: what open says (kNotFound, kPermissionDenied), kInvalidArgument for
// a folder, pipe or device; all name the path.
absl::StatusOr<FileBytes> MapFile(const std::string& path);

// Where what is to be `path` is written first: another name each time.
std::string UnfinishedPath(const std::string& path);

// Writes the parts one after the other beside `path` and renames the result
// to it: readers see the old file or the whole new one.
// Errors: what the file system says, naming the path.
absl::Status ReplaceFile(const std::string& path,
                         absl::Span<const absl::Span<const char>> parts);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_FILE_BYTES_H_
