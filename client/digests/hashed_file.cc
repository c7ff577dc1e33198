#include "client/digests/hashed_file.h"

#include <algorithm>
#include <iterator>
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
// So many bytes of packed arrays are kept until they are sent.
constexpr int64_t kMostKept = int64_t{256} << 20;
// Arrays of so many bytes are read before they are hashed, all threads on them.
constexpr int64_t kBatchBytes = kMostKept / 2;

// The bytes [at, at + n) of a value, which stay where they are.
Literal PartOf(const Literal& value, int64_t at, int64_t n) {
  auto owner = std::make_shared<const Literal>(value);
  const char* const begin = owner->bytes().data() + at;
  return Literal::Adopt(Shape::Of(DType::kU8, {n}), {std::move(owner), begin});
}

// Counts the bytes that are hashed, and reports them.
struct Progress {
  const HashOptions& hash;
  int64_t bytes = 0;
  int64_t done = 0;
  void Add(int64_t more) {
    done += more;
    if (hash.progress) hash.progress(done, bytes);
  }
};

// The manifests of all arrays, hashed part by part. A part ends where a chunk
// of its array does, so its chunks are that array's.
std::vector<ArrayManifest> HashArrays(
    absl::Span<const DatasetSource::Array> arrays, Progress* progress) {
  std::vector<ArrayManifest> manifests;
  DatasetSource part;
  std::vector<size_t> owners;  // in manifests, of the arrays in part
  int64_t pending = 0;
  const auto hash_part = [&] {
    const DatasetManifest hashed = ManifestOf(part, progress->hash.threads);
    for (size_t i = 0; i < owners.size(); ++i) {
      const std::vector<Digest>& more = hashed.arrays[i].chunks;
      std::vector<Digest>& chunks = manifests[owners[i]].chunks;
      chunks.insert(chunks.end(), more.begin(), more.end());
    }
    part.arrays.clear();
    owners.clear();
    progress->Add(std::exchange(pending, 0));
  };
  for (const DatasetSource::Array& array : arrays) {
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

// A file whose arrays are remembered, opened when the first is wanted.
class RememberedFile {
 public:
  RememberedFile(std::string path, ReadOptions read, const FileVersion& version)
      : path_(std::move(path)), read_(std::move(read)), version_(version) {}

  absl::StatusOr<Literal> Value(size_t index) {
    HAWSER_ASSIGN_OR_RETURN(const ArrayReader reader, Reader(index));
    HAWSER_ASSIGN_OR_RETURN(NamedArray array, reader.read());
    return std::move(array.value);
  }

 private:
  absl::StatusOr<ArrayReader> Reader(size_t index) {
    MutexLock lock(&mu_);
    if (!readers_.has_value()) {
      HAWSER_ASSIGN_OR_RETURN(readers_, Open());
    }
    if (index < readers_->size()) return (*readers_)[index];
    return Aborted(path_, ": holds ", readers_->size(),
                   " arrays, is remembered to hold more");
  }
  absl::StatusOr<std::vector<ArrayReader>> Open() const {
    HAWSER_ASSIGN_OR_RETURN(auto readers, OpenArrays(path_, read_));
    HAWSER_ASSIGN_OR_RETURN(const FileVersion now, VersionOf(path_));
    if (now == version_) return readers;
    return Aborted(path_, ": changed while it was put");
  }

  const std::string path_;
  const ReadOptions read_;
  const FileVersion version_;
  Mutex mu_;
  std::optional<std::vector<ArrayReader>> readers_ ABSL_GUARDED_BY(mu_);
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

// Reads and hashes the arrays of a file, as many at a time as kBatchBytes hold.
// Packed ones beyond kMostKept are not kept: they are read again when they are
// sent. Used once.
class FileHashing {
 public:
  FileHashing(const std::vector<ArrayReader>& readers, bool hash_all,
              const HashOptions& hash)
      : readers_(readers), hash_all_(hash_all), progress_{hash} {
    for (const ArrayReader& reader : readers) progress_.bytes += reader.bytes;
  }

  absl::Status Run() {
    Batch batch;
    for (const ArrayReader& reader : readers_) {
      HAWSER_ASSIGN_OR_RETURN(NamedArray array, reader.read());
      const int64_t bytes = array.value.shape().byte_size();
      progress_.bytes += bytes - reader.bytes;
      batch.bytes += bytes;
      if (reader.packed) kept_bytes_ += bytes;
      batch.unkept.push_back(
          reader.packed && kept_bytes_ > kMostKept ? &reader : nullptr);
      batch.hashes |= batch.unkept.back() != nullptr;
      batch.arrays.push_back({std::move(array.name), std::move(array.value)});
      if (batch.bytes < kBatchBytes) continue;
      HAWSER_RETURN_IF_ERROR(Take(std::exchange(batch, {})));
    }
    return Take(std::move(batch));
  }
  // Returns the manifests of all arrays, if all were to be hashed.
  std::vector<ArrayManifest>& manifests() { return manifests_; }
  HashedFile& file() { return file_; }

 private:
  struct Batch {
    std::vector<DatasetSource::Array> arrays;
    std::vector<const ArrayReader*> unkept;  // as many; null: it is kept
    int64_t bytes = 0;
    bool hashes = false;  // since an array that is not kept needs its digests
  };

  absl::Status Take(Batch batch) {
    file_.new_bytes += batch.bytes;
    std::vector<ArrayManifest> hashed;
    if (hash_all_ || batch.hashes) {
      hashed = HashArrays(batch.arrays, &progress_);
    } else {
      progress_.bytes -= batch.bytes;
    }
    for (size_t i = 0; i < batch.arrays.size(); ++i) {
      DatasetSource::Array& array = batch.arrays[i];
      if (!hashed.empty()) {
        HAWSER_RETURN_IF_ERROR(CheckUnchanged(array.value.bytes()));
        array.chunks = hashed[i].chunks;
      }
      if (batch.unkept[i] != nullptr) {
        const auto again =
            [read = batch.unkept[i]->read]() -> absl::StatusOr<Literal> {
          HAWSER_ASSIGN_OR_RETURN(NamedArray array, read());
          return std::move(array.value);
        };
        array.lazy = LazyValue{array.value.shape(), again};
        array.value = Literal();
      }
      file_.arrays.push_back(std::move(array));
    }
    std::move(hashed.begin(), hashed.end(), std::back_inserter(manifests_));
    return absl::OkStatus();
  }

  const std::vector<ArrayReader>& readers_;
  const bool hash_all_;
  Progress progress_;
  int64_t kept_bytes_ = 0;  // of packed arrays
  std::vector<ArrayManifest> manifests_;
  HashedFile file_;
};

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
  auto known = hash.cache->Find(version, reading);
  if (known.has_value() && unchanged()) {
    return HashedFile{.arrays = ArraysOf(
                          std::make_shared<RememberedFile>(path, read, version),
                          *std::move(known))};
  }
  HAWSER_ASSIGN_OR_RETURN(const auto readers, OpenArrays(path, read));
  FileHashing hashing(readers, worth_it, hash);
  HAWSER_RETURN_IF_ERROR(hashing.Run());
  if (worth_it && unchanged()) {
    hash.cache->Remember({version, reading, std::move(hashing.manifests())});
  }
  return std::move(hashing.file());
}

bool IsRemembered(const std::string& path, const ReadOptions& read,
                  DigestCache* cache) {
  const absl::StatusOr<FileVersion> version = VersionOf(path);
  return version.ok() &&
         cache->Find(*version, ReadingOf(path, read)).has_value();
}

}  // namespace hawser
