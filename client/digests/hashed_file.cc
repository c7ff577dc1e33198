#include "client/digests/hashed_file.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser {
namespace {

// Hashed between two reports: a moment on one core, and some for each of many.
constexpr int64_t kPartBytes = 16 * kChunkBytes;

// The bytes [at, at + n) of a value, which stay where they are.
Literal PartOf(const Literal& value, int64_t at, int64_t n) {
  auto owner = std::make_shared<const Literal>(value);
  const char* const begin = owner->bytes().data() + at;
  return Literal::Adopt(Shape::Of(DType::kU8, {n}), {std::move(owner), begin});
}

// The manifests of all arrays, hashed part by part. A part ends where a chunk
// of its array does, so its chunks are that array's.
std::vector<ArrayManifest> HashArrays(const DatasetSource& source,
                                      int64_t bytes, const HashOptions& hash) {
  std::vector<ArrayManifest> manifests;
  DatasetSource part;
  std::vector<size_t> owners;  // in manifests, of the arrays in part
  int64_t done = 0, pending = 0;
  const auto hash_part = [&] {
    const DatasetManifest hashed = ManifestOf(part, hash.threads);
    for (size_t i = 0; i < owners.size(); ++i) {
      const std::vector<Digest>& more = hashed.arrays[i].chunks;
      std::vector<Digest>& chunks = manifests[owners[i]].chunks;
      chunks.insert(chunks.end(), more.begin(), more.end());
    }
    part.arrays.clear();
    owners.clear();
    done += std::exchange(pending, 0);
    if (hash.progress) hash.progress(done, bytes);
  };
  for (const DatasetSource::Array& array : source.arrays) {
    manifests.push_back({array.name, array.value.shape(), {}});
    const int64_t size = array.value.shape().byte_size();
    for (int64_t at = 0; at < size; at += kPartBytes) {
      const int64_t n = std::min(kPartBytes, size - at);
      part.arrays.push_back({"", PartOf(array.value, at, n)});
      owners.push_back(manifests.size() - 1);
      pending += n;
      if (pending >= kPartBytes) hash_part();
    }
  }
  if (pending > 0) hash_part();
  return manifests;
}

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
    known = HashArrays(source, file.new_bytes, hash);
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
