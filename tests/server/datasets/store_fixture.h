// A DatasetStore in memory or in a folder of its own, and a client of it.
#ifndef HAWSER_TESTS_SERVER_DATASETS_STORE_FIXTURE_H_
#define HAWSER_TESTS_SERVER_DATASETS_STORE_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"
#include "gtest/gtest.h"
#include "server/datasets/dataset_store.h"
#include "server/datasets/uploads.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::server {

std::string ReadWhole(const std::string& path);
void WriteWhole(const std::string& path, absl::string_view bytes);

// `n` bytes that differ by `seed`, no two chunks of them equal.
Literal SomeBytes(int64_t n, int seed = 0);
// A dataset of one unnamed array.
DatasetSource Alone(Literal value);
absl::string_view BytesOf(const Literal& value);

// ---- a client's part, one call each

// Asks for room; the answer, once it comes.
struct Asked {
  std::unique_ptr<ChunkReceiver> receiver;
  Promise<bool> promise;
  absl::Status Await() const { return promise.future().Await().status(); }
  bool answered() const { return promise.future().ready(); }
};
// Of a put by itself, of one chunk or one dataset.
uint64_t UploadOf(const Digest& digest);
uint64_t UploadOf(const DatasetManifest& manifest);
// What of these is missing, asked for under `upload`.
std::vector<uint32_t> MissingOf(DatasetStore& store, absl::string_view tenant,
                                uint64_t upload,
                                absl::Span<const Digest> digests);
std::unique_ptr<Asked> AskForRoom(DatasetStore& store, absl::string_view tenant,
                                  uint64_t upload, const Digest& digest,
                                  uint64_t bytes);
// Uploads one chunk under the digest and size it claims.
absl::Status PutChunk(DatasetStore& store, absl::string_view tenant,
                      uint64_t upload, const Digest& digest, uint64_t claimed,
                      absl::string_view bytes);
// Uploads what is missing, without Commit. These and what follows are one
// upload for each dataset.
absl::Status PutChunks(DatasetStore& store, absl::string_view tenant,
                       const DatasetSource& source);
Future<DatasetInfo> CommitLater(DatasetStore& store, absl::string_view tenant,
                                const DatasetManifest& manifest);
absl::StatusOr<DatasetInfo> Commit(DatasetStore& store,
                                   absl::string_view tenant,
                                   const DatasetManifest& manifest,
                                   bool wait_durable = true);
// All of it.
absl::StatusOr<DatasetInfo> Put(DatasetStore& store, absl::string_view tenant,
                                const DatasetSource& source);
absl::StatusOr<Literal> LoadArray(DatasetStore& store, absl::string_view tenant,
                                  absl::string_view token,
                                  absl::string_view array = "");
// Indices of the source's chunks that the tenant would have to upload.
std::vector<uint32_t> Missing(DatasetStore& store, absl::string_view tenant,
                              const DatasetSource& source);

class StoreTest : public ::testing::Test {
 protected:
  // A store in folder_, or a new one there after a clean stop.
  void Open(DatasetStoreOptions options = {});
  void OpenInMemory(DatasetStoreOptions options = {});
  DatasetStore& store() { return *store_; }
  // Of the store, relative, sorted: without its lock.
  std::vector<std::string> Files() const;

  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);
  TemporaryFolder folder_;
  std::unique_ptr<DatasetStore> store_;
};

}  // namespace hawser::server
#endif  // HAWSER_TESTS_SERVER_DATASETS_STORE_FIXTURE_H_
