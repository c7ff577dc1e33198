// The state of a file that was looked at.
#ifndef HAWSER_CLIENT_DIGESTS_FILE_VERSION_H_
#define HAWSER_CLIENT_DIGESTS_FILE_VERSION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hawser {

// Two equal ones are the same file with the same bytes, if the first was
// settled.
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;  // mtime; a program may set it back
  int64_t changed_ns = 0;   // ctime; only the kernel sets it

  friend bool operator==(const FileVersion&, const FileVersion&) = default;

  // True if a change after `now` surely shows: the last one was 2 s before,
  // more than the clock of any file system takes for a step.
  bool SettledAt(absl::Time now) const;
};

// Errors: what stat says, naming the path.
absl::StatusOr<FileVersion> VersionOf(const std::string& path);

}  // namespace hawser
#endif  // HAWSER_CLIENT_DIGESTS_FILE_VERSION_H_
