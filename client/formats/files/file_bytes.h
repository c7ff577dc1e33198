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

// All bytes of one file. Copies share them. The bytes live as long as a copy of
// `data` or a pointer that At has returned.
struct FileBytes {
  std::shared_ptr<const char> data;
  int64_t size = 0;

  absl::Span<const char> span() const {
    return {data.get(), static_cast<size_t>(size)};
  }
  bool StartsWith(absl::string_view magic) const;
  // A pointer to byte `offset` (at most `size`) that keeps the file mapped.
  std::shared_ptr<const char> At(int64_t offset) const {
    return std::shared_ptr<const char>(data, data.get() + offset);
  }
  // `count` bytes from `offset` on, all within the file, which they keep
  // mapped.
  FileBytes Part(int64_t offset, int64_t count) const {
    return {At(offset), count};
  }
  static FileBytes Of(std::string bytes);
};

// Maps a regular file read-only, so that only the pages in use are read.
// Cutting the file short while it is mapped ends the process with SIGBUS:
// replace files by rename, as ReplaceFile does.
// Errors: those of open (kNotFound, kPermissionDenied); kInvalidArgument for a
// folder, pipe or device. All name the path.
absl::StatusOr<FileBytes> MapFile(const std::string& path);

// A name beside `path`, another one each time, for a file that will be renamed
// to `path`.
std::string UnfinishedPath(const std::string& path);

// Writes the parts one after the other to a file beside `path` and renames it:
// readers see the old file or the whole new one. Errors: those of the file
// system, naming the path.
absl::Status ReplaceFile(const std::string& path,
                         absl::Span<const absl::Span<const char>> parts);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_FILE_BYTES_H_
