#include "client/cli/put/file_put.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/digests/hashed_file.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"

namespace hawser::cli {
namespace {

absl::Status NameArrays(const FileToPut& file,
                        std::vector<DatasetSource::Array>* arrays) {
  if (file.name.has_value() && arrays->size() != 1) {
    return InvalidArgument(file.path, ": holds ", arrays->size(),
                           " arrays with names of their own, so it cannot be "
                           "called \"",
                           *file.name, "\"");
  }
  for (DatasetSource::Array& array : *arrays) {
    if (file.name.has_value()) {
      array.name = *file.name;
    } else if (array.name.empty()) {
      array.name = file.name_without;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FilesRead> ReadFilesToPut(
    DigestCache* cache, absl::Span<const FileToPut> files,
    const ReadOptions& read,
    const std::function<void(int64_t, int64_t)>& progress) {
  const HashOptions hash{
      .cache = cache, .threads = CpuThreads(), .progress = progress};
  FilesRead all;
  for (const FileToPut& file : files) {
    HAWSER_ASSIGN_OR_RETURN(HashedFile hashed,
                            ReadHashed(file.path, read, hash));
    HAWSER_RETURN_IF_ERROR(NameArrays(file, &hashed.arrays));
    all.hashed_bytes += hashed.new_bytes;
    std::move(hashed.arrays.begin(), hashed.arrays.end(),
              std::back_inserter(all.source.arrays));
  }
  return all;
}

}  // namespace hawser::cli
