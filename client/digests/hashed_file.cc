#include "client/digests/hashed_file.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/process/mapped_file.h"
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

// A file whose arrays are remembered, read at most once.
class RememberedFile {
 public:
  RememberedFile(std::string path, ReadOptions read, const FileVersion& version)
      : path_(std::move(path)), read_(std::move(read)), version_(version) {}

  absl::StatusOr<Literal> Value(size_t index) {
    MutexLock lock(&mu_);
    if (!values_.has_value()) {
      HAWSER_ASSIGN_OR_RETURN(values_, Read());
    }
    if (index < values_->size()) return (*values_)[index].value;
    return Aborted(path_, ": holds ", values_->size(),
                   " arrays, is remembered to hold more");
  }

 private:
  absl::StatusOr<NamedArrays> Read() const {
    HAWSER_ASSIGN_OR_RETURN(NamedArrays values, ReadArrays(path_, read_));
    HAWSER_ASSIGN_OR_RETURN(const FileVersion now, VersionOf(path_));
    if (now == version_) return values;
    return Aborted(path_, ": changed while it was put");
  }

  const std::string path_;
  const ReadOptions read_;
  const FileVersion version_;
  Mutex mu_;
  std::optional<NamedArrays> values_ ABSL_GUARDED_BY(mu_);
};

std::vector<DatasetSource::Array> ArraysOf(
    const std::shared_ptr<RememberedFile>& file,
    std::vector<ArrayManifest> known) {
  std::vector<DatasetSource::Array> arrays;
  for (size_t i = 0; i < known.size(); ++i) {
    const auto value = [file, i] { return file->Value(i); };
    arrays.push_back({.name = std::move(known[i].name),
                      .chunks = std::move(known[i].chunks),
                      .lazy = LazyValue{std::move(known[i].shape), value}});
  }
  return arrays;
}

}  // namespace

absl::StatusOr<HashedFile> ReadHashed(const std::string& path,
                                      const ReadOptions& read,
                                      const HashOptions& hash) {
  const std::string reading = ReadingOf(path, read);
  HAWSER_ASSIGN_OR_RETURN(const FileVersion version, VersionOf(path));
  const auto unchanged = [&] {
    const absl::StatusOr<FileVersion> now = VersionOf(path);
    return now.ok() && *now == version;
  };
  const bool worth_it =
      hash.cache->remembers() && version.SettledAt(hash.now());
  HashedFile file;
  auto known = hash.cache->Find(version, reading);
  if (known.has_value() && unchanged()) {
    file.arrays =
        ArraysOf(std::make_shared<RememberedFile>(path, read, version),
                 *std::move(known));
    return file;
  }
  HAWSER_ASSIGN_OR_RETURN(NamedArrays values, ReadArrays(path, read));
  DatasetSource source;
  for (NamedArray& array : values) {
    file.new_bytes += array.value.shape().byte_size();
    source.arrays.push_back({std::move(array.name), std::move(array.value)});
  }
  if (worth_it) {
    known = HashArrays(source, file.new_bytes, hash);
    for (const DatasetSource::Array& array : source.arrays) {
      HAWSER_RETURN_IF_ERROR(CheckUnchanged(array.value.bytes()));
    }
    if (unchanged()) hash.cache->Remember({version, reading, *known});
    for (size_t i = 0; i < known->size(); ++i) {
      source.arrays[i].chunks = std::move((*known)[i].chunks);
    }
  }
  file.arrays = std::move(source.arrays);
  return file;
}

bool IsRemembered(const std::string& path, const ReadOptions& read,
                  DigestCache* cache) {
  const absl::StatusOr<FileVersion> version = VersionOf(path);
  return version.ok() &&
         cache->Find(*version, ReadingOf(path, read)).has_value();
}

}  // namespace hawser
