// Reading files that are to be put. A file whose digests are remembered is
// opened only when the server lacks something of it.
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

// A file that becomes a part of a dataset.
struct FileToPut {
  std::string path;
  // The name of its array; without one the name in the file, or "".
  std::optional<std::string> name;
  // The name of an array that has none here and none in the file.
  std::string name_without = "";
};

struct FilesRead {
  DatasetSource source;
  int64_t hashed_bytes = 0;  // 0: all digests were remembered
};

// Reads the arrays of all files, which become one dataset. `progress`: see
// HashOptions. Errors: those of ReadArrays; kInvalidArgument naming a file of
// several arrays that is given one name.
absl::StatusOr<FilesRead> ReadFilesToPut(
    DigestCache* cache, absl::Span<const FileToPut> files,
    const ReadOptions& read,
    const std::function<void(int64_t, int64_t)>& progress);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_PUT_FILE_PUT_H_
