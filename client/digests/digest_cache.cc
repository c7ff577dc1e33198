#include "client/digests/digest_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/process/own_folder.h"

namespace hawser {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNameDigits = 2 * Digest::kSize;
// One entry may take this part of the bytes.
constexpr int64_t kLargestPart = 4;

// Ours, finished or not: whatever else lies there is left alone.
bool IsEntry(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.size() >= kNameDigits &&
         std::all_of(name.begin(), name.begin() + kNameDigits,
                     absl::ascii_isxdigit);
}

struct CachedFile {
  fs::file_time_type used;
  fs::path path;
  int64_t bytes;
};

std::vector<CachedFile> EntriesIn(const std::string& folder) {
  std::vector<CachedFile> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!IsEntry(at->path())) continue;
    std::error_code gone;
    const auto used = at->last_write_time(gone);
    const auto bytes = static_cast<int64_t>(at->file_size(gone));
    if (!gone) entries.push_back({used, at->path(), bytes});
  }
  return entries;
}

}  // namespace

std::string CacheFolder(
    const std::function<const char*(const char* name)>& variable) {
  const auto value = [&](const char* name) {
    const char* text = variable(name);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string own = value("HAWSER_CACHE"), xdg = value("XDG_CACHE_HOME"),
                    home = value("HOME");
  if (own == "off") return "";
  if (!own.empty()) return own;
  // A relative one is to be ignored, says its specification.
  if (!xdg.empty() && xdg[0] == '/') return absl::StrCat(xdg, "/hawser");
  return home.empty() ? "" : absl::StrCat(home, "/.cache/hawser");
}

bool DigestCache::IsOurs() {
  absl::Status ours = CheckOwnFolder(folder_);
  if (ours.ok()) ours = CheckOwnFolder(folder_ + "/digests");
  if (ours.ok() || absl::IsNotFound(ours)) return ours.ok();
  if (!said_.exchange(true)) {
    HAWSER_LOG(kWarning) << "digests are not remembered: " << ours.message();
  }
  return false;
}

std::string DigestCache::PathOf(const FileVersion& version,
                                absl::string_view reading) const {
  Hasher hasher;
  hasher.Integer(version.device).Integer(version.inode).Text(reading);
  return absl::StrCat(folder_, "/digests/", hasher.Finish().ToHex());
}

std::optional<std::vector<ArrayManifest>> DigestCache::Find(
    const FileVersion& version, absl::string_view reading) {
  if (!remembers() || !IsOurs()) return std::nullopt;
  const std::string path = PathOf(version, reading);
  const auto file = MapFile(path);
  if (!file.ok() || file->size > limits_.bytes) return std::nullopt;
  auto record =
      DecodeDigestRecord({file->data.get(), static_cast<size_t>(file->size)});
  if (!record.has_value() || !(record->version == version) ||
      record->reading != reading) {
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return std::move(record->arrays);
}

void DigestCache::Remember(const DigestRecord& record) {
  if (!remembers()) return;
  const std::string bytes = EncodeDigestRecord(record);
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > limits_.bytes / kLargestPart) return;
  (void)MakeOwnFolder(folder_ + "/digests");
  if (!IsOurs()) return;
  MutexLock lock(&mu_);
  if (!ReplaceFile(PathOf(record.version, record.reading), {bytes}).ok()) {
    return;
  }
  ++entries_;
  bytes_ += size;
  if (entries_ == 0 || entries_ > limits_.entries || bytes_ > limits_.bytes) {
    Prune();
  }
}

void DigestCache::Prune() {
  std::vector<CachedFile> entries = EntriesIn(folder_ + "/digests");
  std::sort(
      entries.begin(), entries.end(),
      [](const CachedFile& a, const CachedFile& b) { return a.used > b.used; });
  int64_t all = 0;
  for (const CachedFile& entry : entries) all += entry.bytes;
  // To seven eighths, so that not every entry more makes a pass.
  const bool over = static_cast<int64_t>(entries.size()) > limits_.entries ||
                    all > limits_.bytes;
  const int64_t most_entries = over ? limits_.entries * 7 / 8 : limits_.entries;
  const int64_t most_bytes = over ? limits_.bytes / 8 * 7 : limits_.bytes;
  entries_ = 0;
  bytes_ = 0;
  for (const CachedFile& entry : entries) {
    if (entries_ < most_entries && bytes_ + entry.bytes <= most_bytes) {
      ++entries_;
      bytes_ += entry.bytes;
      continue;
    }
    std::error_code gone;
    fs::remove(entry.path, gone);
  }
}

}  // namespace hawser
