#include "client/digests/hashed_file.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace hawser {
namespace {

bool AreOf(const std::vector<ArrayManifest>& known,
           const std::vector<DatasetSource::Array>& arrays) {
  return std::equal(known.begin(), known.end(), arrays.begin(), arrays.end(),
                    [](const ArrayManifest& a, const auto& b) {
                      return a.name == b.name && a.shape == b.value.shape();
                    });
}

}  // namespace

absl::StatusOr<HashedFile> ReadHashed(const std::string& path,
                                      const ReadOptions& read,
                                      const HashOptions& hash) {
  const std::string reading = ReadingOf(path, read);
  HAWSER_ASSIGN_OR_RETURN(const FileVersion version, VersionOf(path));
  const bool worth_it =
      hash.cache->remembers() && version.SettledAt(hash.now());
  auto known = hash.cache->Find(version, reading);
  HAWSER_ASSIGN_OR_RETURN(NamedArrays values, ReadArrays(path, read));
  DatasetSource source;
  HashedFile file;
  for (NamedArray& array : values) {
    file.new_bytes += array.value.shape().byte_size();
    source.arrays.push_back({std::move(array.name), std::move(array.value)});
  }
  const auto unchanged = [&] {
    const absl::StatusOr<FileVersion> now = VersionOf(path);
    return now.ok() && *now == version;
  };
  if (known.has_value() && AreOf(*known, source.arrays) && unchanged()) {
    file.new_bytes = 0;
  } else if (worth_it) {
    known = ManifestOf(source, hash.threads).arrays;
    if (unchanged()) hash.cache->Remember({version, reading, *known});
  } else {
    known.reset();
  }
  file.arrays = std::move(source.arrays);
  for (size_t i = 0; known.has_value() && i < file.arrays.size(); ++i) {
    file.arrays[i].chunks = std::move((*known)[i].chunks);
  }
  return file;
}

}  // namespace hawser
