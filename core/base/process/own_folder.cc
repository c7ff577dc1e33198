#include "core/base/process/own_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "core/base/status.h"

namespace hawser {

absl::Status CheckOwnFolder(const std::string& folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    return FailedPrecondition(folder, ": is no folder");
  }
  if (info.st_uid != ::geteuid()) {
    return FailedPrecondition(folder, ": belongs to user ", info.st_uid,
                              ", not to this one (", ::geteuid(),
                              "), and is not used as a cache");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return FailedPrecondition(
        folder, ": others may write to it (mode ",
        absl::StrFormat("%03o", info.st_mode & 0777),
        "), and it is not used as a cache; chmod go-w it");
  }
  return absl::OkStatus();
}

absl::Status MakeOwnFolder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    if (std::filesystem::create_directories(folder, error)) {
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all,
                                   error);
    }
    if (error) return absl::ErrnoToStatus(error.value(), folder);
  }
  return CheckOwnFolder(folder);
}

}  // namespace hawser
