// DigestCache: what is remembered of files, in a folder.
#ifndef HAWSER_CLIENT_DIGESTS_DIGEST_CACHE_H_
#define HAWSER_CLIENT_DIGESTS_DIGEST_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/digests/digest_record.h"
#include "client/digests/file_version.h"
#include "core/base/mutex.h"
#include "core/runtime/dataset.h"

namespace hawser {

// Returns the folder to remember in, by HAWSER_CACHE, XDG_CACHE_HOME and HOME;
// "" for nowhere. `variable` is getenv.
std::string CacheFolder(
    const std::function<const char*(const char* name)>& variable);

// One entry per file and way of reading it; an entry for another version of the
// file takes the place of the last. Nothing here fails: what cannot be read or
// written is not remembered. Thread-safe, and processes may share a folder.
class DigestCache {
 public:
  struct Limits {
    int64_t entries = 4096;
    int64_t bytes = int64_t{64} << 20;
  };

  // The file is made when it is first written to. "": remembers nothing.
  explicit DigestCache(std::string folder) : DigestCache(folder, Limits()) {}
  DigestCache(std::string folder, const Limits& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  bool remembers() const { return !folder_.empty(); }
  // The arrays of the file as it is in `version`, read that way.
  std::optional<std::vector<ArrayManifest>> Find(const FileVersion& version,
                                                 absl::string_view reading);
  // Beyond the limits the least recently used go.
  void Remember(const DigestRecord& record);

 private:
  // Returns whether no other user can have written what is remembered, and says
  // once where one can.
  bool IsOurs();
  std::string PathOf(const FileVersion& version,
                     absl::string_view reading) const;
  // Counts what is there, and makes room.
  void Prune() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string folder_;
  const Limits limits_;
  std::atomic<bool> said_{false};
  Mutex mu_;
  // Upper bounds of what this process knows of; -1: not counted yet.
  int64_t entries_ ABSL_GUARDED_BY(mu_) = -1;
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_DIGESTS_DIGEST_CACHE_H_
