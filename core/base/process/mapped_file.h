// MappedFile: the bytes of a file in memory, as they were when it was opened.
#ifndef HAWSER_CORE_BASE_PROCESS_MAPPED_FILE_H_
#define HAWSER_CORE_BASE_PROCESS_MAPPED_FILE_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hawser {

// Small files are read, large ones mapped, so that only the pages in use are
// read. Another program's changes of a mapped file show in the mapping: bytes
// that are overwritten change, and pages that are cut off read as zeros (a
// SIGBUS there is caught, any other goes to the handler of before). Hence
// CheckUnchanged, once the bytes were used. Replacing a file by rename changes
// nothing. Thread-safe.
class MappedFile {
 public:
  // Errors: those of open and read (kNotFound, kPermissionDenied);
  // kInvalidArgument for a folder, pipe or device; kAborted for a file that is
  // being written. All name the path.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(
      const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::Span<const char> bytes() const { return bytes_; }
  // Errors: kAborted, naming the file: it was overwritten or cut short since it
  // was opened.
  absl::Status CheckUnchanged() const;

 private:
  explicit MappedFile(std::string path) : path_(std::move(path)) {}
  absl::Status Read(int fd);
  absl::Status Map(int fd);

  const std::string path_;
  struct stat opened_ = {};
  std::string read_;  // of a small file
  absl::Span<const char> bytes_;
  int guard_ = -1;  // among the guarded mappings; -1: read
};

// True if these are bytes of a mapped file, which may change at any moment.
bool IsMapped(absl::Span<const char> bytes);
// Checks that bytes that are used as a value's are still those of the file that
// they were mapped from. OK for bytes of no file. Errors: as
// MappedFile::CheckUnchanged.
absl::Status CheckUnchanged(absl::Span<const char> bytes);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_PROCESS_MAPPED_FILE_H_
