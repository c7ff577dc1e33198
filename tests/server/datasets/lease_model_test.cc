// Leases of chunks against a model: several uploads over few chunks, of two
// tenants, by seeded schedules of questions, puts, commits, deletions and
// time. A chunk that a client was told of or has brought stays until its commit
// or until nothing was heard of him for a time, and nothing stays longer.
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/datasets/dataset_store.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::server {
namespace {

constexpr int kChunks = 5;
constexpr int kUploads = 3;  // at once, of each tenant
constexpr int kSteps = 120;
constexpr absl::Duration kTtl = absl::Minutes(10);

// Chunk c has 2^c bytes: a tenant's bytes say which of them it has.
using ChunkSet = uint32_t;
bool Has(ChunkSet set, int chunk) { return (set >> chunk & 1) != 0; }
constexpr ChunkSet Only(int chunk) { return ChunkSet{1} << chunk; }

const Literal& ChunkValue(int chunk) {
  static const auto& values = *new std::vector<Literal>([] {
    std::vector<Literal> all;
    for (int c = 0; c < kChunks; ++c) all.push_back(SomeBytes(1 << c, c));
    return all;
  }());
  return values[chunk];
}

// One array per chunk.
DatasetManifest ManifestOfSet(ChunkSet set) {
  DatasetSource source;
  for (int c = 0; c < kChunks; ++c) {
    if (Has(set, c)) source.arrays.push_back({absl::StrCat(c), ChunkValue(c)});
  }
  return ManifestOf(source, 1);
}

// What the store should know of a tenant.
struct Model {
  // One client's put. It is told of some chunks, puts the others, commits. One
  // whose time is over holds nothing any more, and may go on all the same.
  struct Upload {
    uint64_t number = 0;
    ChunkSet wanted = 0;
    ChunkSet missing = 0;  // to be put, as far as it knows
    ChunkSet held = 0;
    absl::Time expires;
  };
  std::vector<std::optional<Upload>> uploads{kUploads};
  std::vector<Upload> abandoned;
  std::set<ChunkSet> datasets;

  ChunkSet Named() const {
    ChunkSet named = 0;
    for (const ChunkSet dataset : datasets) named |= dataset;
    return named;
  }
  // Those there are.
  ChunkSet There() const {
    ChunkSet there = Named();
    for (const auto& upload : uploads) {
      if (upload.has_value()) there |= upload->held;
    }
    for (const Upload& upload : abandoned) there |= upload.held;
    return there;
  }
  void Expire(absl::Time now) {
    for (auto& upload : uploads) {
      if (upload.has_value() && upload->expires <= now) upload->held = 0;
    }
    std::erase_if(abandoned,
                  [now](const Upload& u) { return u.expires <= now; });
  }
};

class LeaseModel : public StoreTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    DatasetStoreOptions options;
    options.upload_ttl = kTtl;
    // Every eighth store keeps its chunks on disk.
    GetParam() % 8 == 0 ? Open(options) : OpenInMemory(options);
  }

  // Asks for what it wants.
  void Ask(const std::string& tenant, Model& model, Model::Upload& upload) {
    std::vector<Digest> digests;
    std::vector<int> chunks;
    for (int c = 0; c < kChunks; ++c) {
      if (!Has(upload.wanted, c)) continue;
      digests.push_back(Sha256(ChunkValue(c).bytes()));
      chunks.push_back(c);
    }
    upload.missing = 0;
    for (const uint32_t index :
         MissingOf(store(), tenant, upload.number, digests)) {
      upload.missing |= Only(chunks.at(index));
    }
    EXPECT_EQ(upload.missing, upload.wanted & ~model.There());
    const ChunkSet found = upload.wanted & ~upload.missing;
    upload.held |= found;
    if (found != 0) upload.expires = now_ + kTtl;
  }

  void PutOne(const std::string& tenant, Model::Upload& upload) {
    const int chunk = std::countr_zero(upload.missing);
    const absl::string_view bytes = BytesOf(ChunkValue(chunk));
    EXPECT_OK(PutChunk(store(), tenant, upload.number, Sha256(bytes),
                       bytes.size(), bytes));
    upload.missing &= ~Only(chunk);
    upload.held |= Only(chunk);
    upload.expires = now_ + kTtl;
  }

  // Of a dataset, or of one that lacks what went when its time was over.
  void CommitAll(const std::string& tenant, Model& model,
                 std::optional<Model::Upload>& upload) {
    absl::Status status;
    store().Commit(tenant, upload->number, ManifestOfSet(upload->wanted),
                   /*wait_durable=*/false,
                   [&](const auto& info) { status = info.status(); });
    if ((upload->wanted & ~model.There()) != 0) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      return Ask(tenant, model, *upload);
    }
    EXPECT_OK(status);
    model.datasets.insert(upload->wanted);
    upload.reset();
  }

  void Step(const std::string& tenant, Model& model) {
    std::optional<Model::Upload>& upload =
        model.uploads[random_.Below(kUploads)];
    if (!upload.has_value()) {
      const auto wanted =
          static_cast<ChunkSet>(random_.Between(1, (1 << kChunks) - 1));
      upload = Model::Upload{.number = ++numbers_, .wanted = wanted};
      return Ask(tenant, model, *upload);
    }
    if (random_.OneIn(12)) {
      if (upload->held != 0) model.abandoned.push_back(*upload);
      return upload.reset();
    }
    if (upload->missing != 0) return PutOne(tenant, *upload);
    CommitAll(tenant, model, upload);
  }

  void DeleteOne(const std::string& tenant, Model& model) {
    if (model.datasets.empty()) return;
    const auto at =
        std::next(model.datasets.begin(),
                  random_.Below(static_cast<int64_t>(model.datasets.size())));
    Promise<bool> done;
    store().Delete(
        tenant, TokenOf(ManifestOfSet(*at)), [&](const absl::Status& status) {
          done.Set(status.ok() ? absl::StatusOr<bool>(true) : status);
        });
    EXPECT_OK(done.future().Await());
    model.datasets.erase(at);
  }

  void PassTime(absl::Duration time) {
    now_ += time;
    store().Sweep();
    for (auto& [tenant, model] : models_) model.Expire(now_);
  }

  void ExpectAsModelled() {
    for (const auto& [tenant, model] : models_) {
      const DatasetUsage usage = store().Usage(tenant);
      const ChunkSet there = model.There();
      EXPECT_EQ(usage.bytes, there) << tenant;
      EXPECT_EQ(usage.upload_bytes, there & ~model.Named()) << tenant;
      EXPECT_EQ(usage.datasets, model.datasets.size()) << tenant;
    }
  }

  uint64_t numbers_ = 0;  // of uploads so far
  Random random_{static_cast<uint64_t>(GetParam())};
  std::map<std::string, Model> models_{{"a", {}}, {"b", {}}};
};

TEST_P(LeaseModel, NothingGoesTooSoonOrStays) {
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    auto& [tenant, model] = *std::next(models_.begin(), random_.Below(2));
    if (random_.OneIn(8)) {
      DeleteOne(tenant, model);
    } else if (random_.OneIn(8)) {
      PassTime(random_.Between(1, 7) * absl::Minutes(1));
    } else {
      Step(tenant, model);
    }
    ExpectAsModelled();
  }
  for (auto& [tenant, model] : models_) {
    while (!model.datasets.empty()) DeleteOne(tenant, model);
  }
  ExpectAsModelled();
  store().Stop(absl::InfiniteFuture());  // a chunk being written is in use
  PassTime(kTtl);
  ExpectAsModelled();
  for (const auto& [tenant, model] : models_) {
    EXPECT_EQ(model.There(), 0u);
  }
  EXPECT_EQ(store().statistics().chunks, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LeaseModel, ::testing::Range(1, 65));

}  // namespace
}  // namespace hawser::server
