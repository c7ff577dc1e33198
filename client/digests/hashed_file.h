// The arrays of a file by digest, hashed once.
#ifndef HAWSER_CLIENT_DIGESTS_HASHED_FILE_H_
#define HAWSER_CLIENT_DIGESTS_HASHED_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "client/digests/digest_cache.h"
#include "client/formats/array_file.h"
#include "core/runtime/dataset.h"

namespace hawser {

// Says how files are hashed. `cache` outlives the calls.
struct HashOptions {
  DigestCache* cache = nullptr;
  int threads = 1;
  std::function<absl::Time()> now = absl::Now;
  // Called with (bytes hashed, bytes in all) of a file now and then.
  std::function<void(int64_t, int64_t)> progress = nullptr;
};

struct HashedFile {
  // In the order of the file: lazy where their digests were remembered, and
  // packed ones beyond 256 MiB; else values with digests or without.
  std::vector<DatasetSource::Array> arrays;
  // The bytes of arrays whose digests were not remembered.
  int64_t new_bytes = 0;
};

// The arrays of a file. If their digests are remembered, the file is not even
// opened before a value is wanted; kAborted, naming the path, when it has
// changed by then. Others are hashed here if that can be remembered: not where
// nothing is, nor for a file that just changed. Their hashing is left to the
// sender, which does both at once. A file that changes meanwhile is not
// remembered. Errors: those of ReadArrays.
absl::StatusOr<HashedFile> ReadHashed(const std::string& path,
                                      const ReadOptions& read,
                                      const HashOptions& hash);

// True if ReadHashed would find a file's digests without opening it.
bool IsRemembered(const std::string& path, const ReadOptions& read,
                  DigestCache* cache);

}  // namespace hawser
#endif  // HAWSER_CLIENT_DIGESTS_HASHED_FILE_H_
