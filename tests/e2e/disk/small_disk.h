// SmallDisk: a file system that is soon full.
#ifndef HAWSER_TESTS_E2E_DISK_SMALL_DISK_H_
#define HAWSER_TESTS_E2E_DISK_SMALL_DISK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {

// A tmpfs in a mount namespace of its own: no other processes see it, but
// through /proc, and it is gone when this is. Pages of 4 KiB.
class SmallDisk {
 public:
  // Errors: what the commands say, as where mounting is not allowed.
  static absl::StatusOr<std::unique_ptr<SmallDisk>> Make(int64_t bytes);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Its folder, for processes that Launcher starts; and for this one.
  const std::string& inside() const { return folder_->path(); }
  std::string outside() const;
  // A command that runs what is appended to it where this is mounted.
  std::vector<std::string> Launcher() const;

  // Has a file of its own take all but so many pages; gives them back.
  void LeavePages(int64_t pages);
  void GiveBack();

 private:
  SmallDisk(std::unique_ptr<TemporaryFolder> folder, Process holder)
      : folder_(std::move(folder)), holder_(std::move(holder)) {}
  int64_t FreePages() const;

  const std::unique_ptr<TemporaryFolder> folder_;
  Process holder_;  // keeps the namespace
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_E2E_DISK_SMALL_DISK_H_
