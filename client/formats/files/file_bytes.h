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
  // Checks that they are still those of the file, which a reader asks once it
  // has used them. Errors: kAborted, naming the file.
  absl::Status CheckUnchanged() const;
};

// The bytes of a regular file, by core/base/process/mapped_file.h. Errors:
// those of MappedFile::Open.
absl::StatusOr<FileBytes> MapFile(const std::string& path);

// The file that a write to a path goes to.
struct Destination {
  std::string path;      // links are followed
  bool replaces = true;  // a new file takes that name; else it is written to
  // A regular file, or nothing, is replaced by rename; a pipe, a device or a
  // socket is written to and stays. Errors: kInvalidArgument for a folder;
  // those of stat.
  static absl::StatusOr<Destination> Of(const std::string& path);
};
// Writes the parts to what is at `path` already. Errors: those of open and
// write, naming the path.
absl::Status WriteTo(const std::string& path,
                     absl::Span<const absl::Span<const char>> parts);

// A name next to `path`, another one each time, for a file that will be renamed
// to `path`.
std::string UnfinishedPath(const std::string& path);

// Writes the parts one after the other to a file next to `path` and renames it:
// readers see the old file or the whole new one. A path that is no regular file
// is written to instead (see Destination). Errors: those of the file system,
// naming the path.
absl::Status ReplaceFile(const std::string& path,
                         absl::Span<const absl::Span<const char>> parts);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_FILE_BYTES_H_
