#include "tests/server/datasets/store_fixture.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/base/status.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

constexpr size_t kFrame = 300 << 10;

}  // namespace

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteWhole(const std::string& path, absl::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Literal SomeBytes(int64_t n, int seed) {
  Literal value = Literal::Uninitialized(Shape::Of(DType::kU8, {n}));
  uint64_t state = static_cast<uint64_t>(seed) * 2654435761u + 1;
  for (char& c : value.mutable_bytes()) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return value;
}

DatasetSource Alone(Literal value) {
  return DatasetSource{{{"", std::move(value)}}};
}

absl::string_view BytesOf(const Literal& value) {
  return {value.bytes().data(), value.bytes().size()};
}

uint64_t UploadOf(const Digest& digest) {
  uint64_t number;
  std::memcpy(&number, digest.bytes().data(), sizeof(number));
  return number;
}

uint64_t UploadOf(const DatasetManifest& manifest) {
  return UploadOf(DatasetId(manifest));
}

std::vector<uint32_t> MissingOf(DatasetStore& store, absl::string_view tenant,
                                uint64_t upload,
                                absl::Span<const Digest> digests) {
  const auto missing = store.FindMissing(tenant, upload, digests);
  EXPECT_OK(missing);
  return missing.value_or(std::vector<uint32_t>());
}

std::unique_ptr<Asked> AskForRoom(DatasetStore& store, absl::string_view tenant,
                                  uint64_t upload, const Digest& digest,
                                  uint64_t bytes) {
  auto asked = std::make_unique<Asked>();
  store.BeginChunk(tenant, upload, digest, bytes,
                   [asked = asked.get()](auto receiver) {
                     if (receiver.ok()) {
                       asked->receiver = *std::move(receiver);
                       asked->promise.Set(true);
                     } else {
                       asked->promise.Set(receiver.status());
                     }
                   });
  return asked;
}

absl::Status PutChunk(DatasetStore& store, absl::string_view tenant,
                      uint64_t upload, const Digest& digest, uint64_t claimed,
                      absl::string_view bytes) {
  const auto asked = AskForRoom(store, tenant, upload, digest, claimed);
  HAWSER_RETURN_IF_ERROR(asked->Await());
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kFrame);
    std::memcpy(asked->receiver->at(), bytes.data(), n);
    asked->receiver->Advance(static_cast<int64_t>(n));
    bytes.remove_prefix(n);
  }
  return asked->receiver->Finish();
}

absl::Status PutChunks(DatasetStore& store, absl::string_view tenant,
                       const DatasetSource& source) {
  const DatasetManifest manifest = ManifestOf(source, 1);
  const uint64_t upload = UploadOf(manifest);
  for (size_t a = 0; a < manifest.arrays.size(); ++a) {
    const ArrayManifest& array = manifest.arrays[a];
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      HAWSER_ASSIGN_OR_RETURN(
          const std::vector<uint32_t> missing,
          store.FindMissing(tenant, upload, {array.chunks[i]}));
      if (missing.empty()) continue;
      HAWSER_RETURN_IF_ERROR(PutChunk(
          store, tenant, upload, array.chunks[i], array.chunk_size(i),
          BytesOf(source.arrays[a].value)
              .substr(i * kChunkBytes, array.chunk_size(i))));
    }
  }
  return absl::OkStatus();
}

namespace {

Future<DatasetInfo> StartCommit(DatasetStore& store, absl::string_view tenant,
                                const DatasetManifest& manifest,
                                bool wait_durable) {
  auto promise = std::make_shared<Promise<DatasetInfo>>();
  Future<DatasetInfo> future = promise->future();
  store.Commit(tenant, UploadOf(manifest), manifest, wait_durable,
               [promise](auto info) { promise->Set(std::move(info)); });
  return future;
}

}  // namespace

Future<DatasetInfo> CommitLater(DatasetStore& store, absl::string_view tenant,
                                const DatasetManifest& manifest) {
  return StartCommit(store, tenant, manifest, true);
}

absl::StatusOr<DatasetInfo> Commit(DatasetStore& store,
                                   absl::string_view tenant,
                                   const DatasetManifest& manifest,
                                   bool wait_durable) {
  return StartCommit(store, tenant, manifest, wait_durable).Await();
}

absl::StatusOr<DatasetInfo> Put(DatasetStore& store, absl::string_view tenant,
                                const DatasetSource& source) {
  HAWSER_RETURN_IF_ERROR(PutChunks(store, tenant, source));
  return Commit(store, tenant, ManifestOf(source, 1));
}

absl::StatusOr<Literal> LoadArray(DatasetStore& store, absl::string_view tenant,
                                  absl::string_view token,
                                  absl::string_view array) {
  HAWSER_ASSIGN_OR_RETURN(const auto stored, store.Find(tenant, token, array));
  return store.Load(*stored);
}

std::vector<uint32_t> Missing(DatasetStore& store, absl::string_view tenant,
                              const DatasetSource& source) {
  const DatasetManifest manifest = ManifestOf(source, 1);
  std::vector<Digest> digests;
  for (const ArrayManifest& array : manifest.arrays) {
    digests.insert(digests.end(), array.chunks.begin(), array.chunks.end());
  }
  return MissingOf(store, tenant, UploadOf(manifest), digests);
}

std::vector<std::string> StoreTest::Files() const {
  std::vector<std::string> files = folder_.Files();
  files.erase(std::remove(files.begin(), files.end(), "lock"), files.end());
  return files;
}

void StoreTest::Open(DatasetStoreOptions options) {
  options.data_dir = folder_.path();
  OpenInMemory(std::move(options));
}

void StoreTest::OpenInMemory(DatasetStoreOptions options) {
  if (store_ != nullptr) store_->Stop(absl::InfiniteFuture());
  store_ = nullptr;  // lets go of the folder
  options.now = [this] { return now_; };
  ASSERT_OK_AND_ASSIGN(store_, DatasetStore::Open(std::move(options)));
}

}  // namespace hawser::server
