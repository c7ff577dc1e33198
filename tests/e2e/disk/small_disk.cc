#include "tests/e2e/disk/small_disk.h"

#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status.h"

namespace hawser::testing {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr int64_t kPage = 4096;
constexpr char kMount[] =
    "mount -t tmpfs -o size=$0 tmpfs \"$1\" && echo mounted && exec sleep inf";

}  // namespace

absl::StatusOr<std::unique_ptr<SmallDisk>> SmallDisk::Make(int64_t bytes) {
  auto folder = std::make_unique<TemporaryFolder>();
  HAWSER_ASSIGN_OR_RETURN(
      Process holder,
      Process::Start({"/usr/bin/unshare", "--mount", "/bin/sh", "-c", kMount,
                      absl::StrCat(bytes), folder->path()}));
  HAWSER_RETURN_IF_ERROR(holder.ReadLineWith("mounted", kPatience).status());
  return std::unique_ptr<SmallDisk>(
      new SmallDisk(std::move(folder), std::move(holder)));
}

std::string SmallDisk::outside() const {
  return absl::StrCat("/proc/", holder_.pid(), "/root", inside());
}

std::vector<std::string> SmallDisk::Launcher() const {
  return {"/usr/bin/nsenter", "--mount",
          absl::StrCat("--target=", holder_.pid())};
}

int64_t SmallDisk::FreePages() const {
  struct statvfs info = {};
  HAWSER_CHECK(statvfs(outside().c_str(), &info) == 0);
  return static_cast<int64_t>(info.f_bavail * info.f_frsize) / kPage;
}

void SmallDisk::LeavePages(int64_t pages) {
  GiveBack();
  std::ofstream out(outside() + "/filler", std::ios::binary);
  const std::string page(kPage, 'x');
  for (int64_t more = FreePages() - pages; more > 0; --more) out << page;
}

void SmallDisk::GiveBack() { fs::remove(outside() + "/filler"); }

}  // namespace hawser::testing
