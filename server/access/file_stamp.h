// FileStamp: tells whether a file is still the one that was read.
#ifndef HAWSER_SERVER_ACCESS_FILE_STAMP_H_
#define HAWSER_SERVER_ACCESS_FILE_STAMP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace hawser::server {

// Two stamps of a path are equal when nothing was written in between. The
// default is the stamp of a file that is not there.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = -1;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
  static FileStamp Of(const std::string& path);
};

// All bytes of a small file, and the stamp they had. Errors name the path:
// kNotFound when it cannot be read, kInvalidArgument above 16 MiB.
absl::StatusOr<std::pair<std::string, FileStamp>> ReadStamped(
    const std::string& path);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_FILE_STAMP_H_
