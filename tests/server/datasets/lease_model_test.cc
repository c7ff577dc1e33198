// Leases of chunks against a model: several uploads over few chunks, of two
// tenants, by seeded schedules of questions, puts, commits, deletions and
// time. A chunk that somebody was told of or has brought stays until his commit
// or until his time is over, and nothing stays longer.
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
#include "tests/testing/random_literal.h"

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
  // One client's put. It is told of some chunks, puts the others, commits.
  struct Upload {
    ChunkSet wanted = 0;
    ChunkSet missing = 0;  // to be put
    absl::Time expires;    // of what it was told of or has put first
  };
  std::vector<std::optional<Upload>> uploads{kUploads};
  std::set<ChunkSet> datasets;
  // Of each chunk, when it was spoken of last; and whether somebody spoke of it
  // who will never commit.
  std::map<int, absl::Time> last;
  ChunkSet abandoned = 0;

  ChunkSet Named() const {
    ChunkSet named = 0;
    for (const ChunkSet dataset : datasets) named |= dataset;
    return named;
  }
  // Those there are.
  ChunkSet There(absl::Time now) const {
    ChunkSet there = Named();
    for (const auto& upload : uploads) {
      if (upload.has_value()) there |= upload->wanted & ~upload->missing;
    }
    for (const auto& [chunk, time] : last) {
      if (Has(abandoned, chunk) && time + kTtl > now) there |= Only(chunk);
    }
    return there;
  }
  void SpeakOf(ChunkSet chunks, absl::Time now) {
    for (int c = 0; c < kChunks; ++c) {
      if (Has(chunks, c)) last[c] = now;
    }
  }
  void Abandon(std::optional<Upload>& upload) {
    abandoned |= upload->wanted & ~upload->missing;
    upload.reset();
  }
  // Whose time is over cannot count on anything.
  void Expire(absl::Time now) {
    for (auto& upload : uploads) {
      if (upload.has_value() && upload->expires <= now) Abandon(upload);
    }
    for (const auto& [chunk, time] : last) {
      if (time + kTtl <= now) abandoned &= ~Only(chunk);
    }
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

  void Begin(const std::string& tenant, Model& model,
             std::optional<Model::Upload>& upload) {
    const auto wanted =
        static_cast<ChunkSet>(random_.Between(1, (1 << kChunks) - 1));
    std::vector<Digest> digests;
    std::vector<int> chunks;
    for (int c = 0; c < kChunks; ++c) {
      if (!Has(wanted, c)) continue;
      digests.push_back(Sha256(ChunkValue(c).bytes()));
      chunks.push_back(c);
    }
    ChunkSet missing = 0;
    for (const uint32_t index : store().FindMissing(tenant, digests)) {
      missing |= Only(chunks.at(index));
    }
    EXPECT_EQ(missing, wanted & ~model.There(now_));
    model.SpeakOf(wanted & ~missing, now_);
    upload = Model::Upload{wanted, missing, now_ + kTtl};
  }

  void PutOne(const std::string& tenant, Model& model, Model::Upload& upload) {
    const int chunk = std::countr_zero(upload.missing);
    const absl::string_view bytes = BytesOf(ChunkValue(chunk));
    EXPECT_OK(PutChunk(store(), tenant, Sha256(bytes), bytes.size(), bytes));
    upload.missing &= ~Only(chunk);
    model.SpeakOf(Only(chunk), now_);
  }

  void Step(const std::string& tenant, Model& model) {
    std::optional<Model::Upload>& upload =
        model.uploads[random_.Below(kUploads)];
    if (!upload.has_value()) return Begin(tenant, model, upload);
    if (random_.OneIn(12)) return model.Abandon(upload);
    if (upload->missing != 0) return PutOne(tenant, model, *upload);
    EXPECT_OK(Commit(store(), tenant, ManifestOfSet(upload->wanted)));
    model.datasets.insert(upload->wanted);
    upload.reset();
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
      const ChunkSet there = model.There(now_);
      EXPECT_EQ(usage.bytes, there) << tenant;
      EXPECT_EQ(usage.upload_bytes, there & ~model.Named()) << tenant;
      EXPECT_EQ(usage.datasets, model.datasets.size()) << tenant;
    }
  }

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
    EXPECT_EQ(model.There(now_), 0u);
  }
  EXPECT_EQ(store().statistics().chunks, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LeaseModel, ::testing::Range(1, 65));

}  // namespace
}  // namespace hawser::server
