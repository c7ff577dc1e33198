#include "client/digests/file_version.h"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>

#include "absl/status/status.h"

namespace hawser {
namespace {

// FAT keeps times in steps of 2 s; others in steps of a tick, at most 10 ms.
constexpr absl::Duration kCoarsestStep = absl::Seconds(2);

}  // namespace

bool FileVersion::SettledAt(absl::Time now) const {
  const int64_t last = std::max(modified_ns, changed_ns);
  return now - absl::FromUnixNanos(last) >= kCoarsestStep;
}

absl::StatusOr<FileVersion> VersionOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  return FileVersion{info.st_dev, info.st_ino, info.st_size,
                     absl::ToUnixNanos(absl::TimeFromTimespec(info.st_mtim)),
                     absl::ToUnixNanos(absl::TimeFromTimespec(info.st_ctim))};
}

}  // namespace hawser
