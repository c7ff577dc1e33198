// Reading files that are to be put: those that are remembered are opened only
// where the server lacks something of them.
#ifndef HAWSER_CLIENT_CLI_PUT_FILE_PUT_H_
#define HAWSER_CLIENT_CLI_PUT_FILE_PUT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/digests/digest_cache.h"
#include "client/formats/array_file.h"
#include "core/runtime/dataset.h"

namespace hawser::cli {

// A file of a dataset to be.
struct FileToPut {
  std::string path;
  // Of its array; nothing: as the file says, "" where it does not.
  std::optional<std::string> name;
  // Of an array that neither has a name in the file.
  std::string name_without = "";
};

struct FilesRead {
  DatasetSource source;
  int64_t hashed_bytes = 0;  // 0: all digests were remembered
};

// The arrays of all files, to become one dataset. `progress`: see HashOptions.
// Errors: those of ReadArrays; kInvalidArgument naming a file of several arrays
// that is given one name.
absl::StatusOr<FilesRead> ReadFilesToPut(
    DigestCache* cache, absl::Span<const FileToPut> files,
    const ReadOptions& read,
    const std::function<void(int64_t, int64_t)>& progress);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_PUT_FILE_PUT_H_
