#include "server/access/exposure.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hawser::server {
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool IsOurs(const struct stat& info) {
  return info.st_uid == 0 || info.st_uid == geteuid();
}

void LookAt(const NamedPath& named, std::vector<std::string>* found) {
  struct stat info;
  if (named.path.empty() || stat(named.path.c_str(), &info) != 0) return;
  const std::string what = absl::StrFormat("%s %s has mode %04o", named.flag,
                                           named.path, info.st_mode & 07777);
  const char* const wanted = S_ISDIR(info.st_mode) ? "0700" : "0600";
  const auto chmod = absl::StrCat("; chmod ", wanted, " ", named.path);
  if (!IsOurs(info)) {
    found->push_back(absl::StrCat(named.flag, " ", named.path,
                                  " belongs to user ", info.st_uid,
                                  ", who may change it; chown it to the user "
                                  "that hawserd runs as"));
  }
  if ((info.st_mode & kOthersWrite) != 0) {
    found->push_back(absl::StrCat(what, ": others may change it", chmod));
  } else if (named.secret && (info.st_mode & kOthersRead) != 0) {
    found->push_back(absl::StrCat(what, ": others may read it", chmod));
  }
  const std::string folder = FolderOf(named.path);
  struct stat around;
  if (stat(folder.c_str(), &around) != 0) return;
  const bool theirs =
      !IsOurs(around) ||
      ((around.st_mode & kOthersWrite) != 0 && (around.st_mode & S_ISVTX) == 0);
  if (!theirs) return;
  found->push_back(absl::StrFormat(
      "%s %s lies in %s of mode %04o: others may put another in its place; "
      "chmod go-w %s, as its owner",
      named.flag, named.path, folder, around.st_mode & 07777, folder));
}

}  // namespace

std::vector<std::string> Exposures(const std::vector<NamedPath>& paths) {
  std::vector<std::string> found;
  for (const NamedPath& path : paths) LookAt(path, &found);
  return found;
}

std::string PrivilegeOf(unsigned user, absl::string_view status) {
  uint64_t capabilities = 0;
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    if (!absl::ConsumePrefix(&line, "CapEff:")) continue;
    const absl::string_view number = absl::StripAsciiWhitespace(line);
    if (!absl::SimpleHexAtoi(number, &capabilities)) capabilities = 0;
  }
  if (user != 0 && capabilities == 0) return "";
  return absl::StrFormat(
      "hawserd runs as user %u with capabilities %x, none of which it needs; "
      "start it as a user of its own (systemd: DynamicUser=yes, "
      "StateDirectory=hawser, CapabilityBoundingSet=)",
      user, capabilities);
}

std::string OwnPrivilege() {
  std::ifstream file("/proc/self/status");
  const std::string status(std::istreambuf_iterator<char>(file), {});
  return PrivilegeOf(geteuid(), status);
}

void RenouncePrivileges() { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

}  // namespace hawser::server
