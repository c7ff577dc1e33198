// What survives a restart, a crash and a sick disk.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/datasets/dataset_store.h"
#include "server/datasets/storage/record.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DurableStore : public StoreTest {
 protected:
  void SetUp() override { Open(); }
  // Paths of chunk i of the source, and of the only dataset.
  std::string ChunkPath(const DatasetSource& source, int64_t i = 0) {
    return absl::StrCat(folder_.path(), "/chunks/",
                        ManifestOf(source, 1).arrays[0].chunks[i].ToHex());
  }
  std::string DatasetPath() { return folder_.Find("datasets", "hw1-").at(0); }
};

// F14a: a pipe called like a chunk had the start wait for ever, a folder ended
// it.
TEST_F(DurableStore, WhatIsNoFileIsSetAside) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  store_ = nullptr;
  const std::string pipe = ChunkPath(source, 0), folder = ChunkPath(source, 1);
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::remove(folder);
  fs::create_directories(folder + "/x");
  fs::create_directories(folder + ".bad/y");  // of an earlier time
  for (const char* records : {"datasets", "names"}) {
    const auto path = absl::StrCat(folder_.path(), "/", records, "/");
    ASSERT_EQ(mkfifo((path + "pipe").c_str(), 0600), 0);
    fs::create_directories(path + "folder");
  }
  Open();
  EXPECT_EQ(store().statistics().bad_files, 6);
  EXPECT_THAT(LoadArray(store(), "a", info.token),
              StatusIs(StatusCode::kDataLoss, "put the dataset again"));
  ASSERT_OK(Put(store(), "a", source));
  Open();
  EXPECT_EQ(store().statistics().bad_files, 0);
  EXPECT_OK(LoadArray(store(), "a", info.token));
}

// F14b: the verified bytes that had just come were thrown away for those of a
// file that had not been read yet.
TEST_F(DurableStore, ChunksThatComeTakeThePlaceOfUnverifiedFiles) {
  const DatasetSource source = Alone(SomeBytes(1000));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  store_ = nullptr;
  std::string bytes = ReadWhole(ChunkPath(source));
  bytes.back() ^= 1;
  WriteWhole(ChunkPath(source), bytes);
  Open();
  ASSERT_OK(Put(store(), "b", source));  // it has to send them
  const int64_t on_disk = store().statistics().disk_bytes;
  EXPECT_EQ(on_disk, 1000);
  for (const char* tenant : {"a", "b"}) {
    EXPECT_OK(LoadArray(store(), tenant, info.token));
  }
  Open();
  EXPECT_OK(LoadArray(store(), "a", info.token));
  EXPECT_EQ(store().statistics().bad_files, 0);
}

// ---- restart

TEST_F(DurableStore, ARestartFindsEverything) {
  const DatasetSource one = Alone(SomeBytes(2 * kChunkBytes + 1));
  const DatasetSource two{{{"x", SomeBytes(10, 1)},
                           {"y", Literal::Zeros(Shape::Of(DType::kF64, {0}))}}};
  ASSERT_OK_AND_ASSIGN(const DatasetInfo a, Put(store(), "a", one));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo b, Put(store(), "b", two));
  EXPECT_TRUE(a.durable);
  Open();
  EXPECT_EQ(store().statistics().resident_bytes, 0) << "by headers alone";
  ASSERT_OK_AND_ASSIGN(const DatasetInfo stat, store().Stat("a", a.token));
  EXPECT_TRUE(stat.durable);
  EXPECT_EQ(stat.bytes, 2 * kChunkBytes + 1);
  ASSERT_OK_AND_ASSIGN(Literal value, LoadArray(store(), "a", a.token));
  EXPECT_TRUE(value.BitEquals(one.arrays[0].value));
  ASSERT_OK_AND_ASSIGN(value, LoadArray(store(), "b", b.token, "x"));
  EXPECT_TRUE(value.BitEquals(two.arrays[0].value));
  ASSERT_OK_AND_ASSIGN(value, LoadArray(store(), "b", b.token, "y"));
  EXPECT_THAT(Missing(store(), "a", one), IsEmpty());
  EXPECT_THAT(Missing(store(), "b", one), SizeIs(3)) << "the wall stands";
  EXPECT_THAT(store().Stat("b", a.token), StatusIs(StatusCode::kNotFound, ""));
  EXPECT_EQ(store().statistics().bad_files, 0);
}

TEST_F(DurableStore, ARestartFindsUnfinishedUploadsForWhoMadeThem) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  ASSERT_OK(PutChunks(store(), "a", source));
  Open();
  EXPECT_THAT(Missing(store(), "a", source), IsEmpty());
  EXPECT_THAT(Missing(store(), "b", source), ElementsAre(0, 1));
  EXPECT_THAT(Commit(store(), "a", ManifestOf(source, 1)), IsOk());
  EXPECT_EQ(store().statistics().received_bytes, 0);
}

TEST_F(DurableStore, UnfinishedUploadsExpireAfterARestartToo) {
  const DatasetSource source = Alone(SomeBytes(100));
  ASSERT_OK(PutChunks(store(), "a", source));
  Open();
  now_ += absl::Minutes(10);
  store().Sweep();
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0));
  store().Stop(absl::InfiniteFuture());
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(DurableStore, ADatasetIsNotForgottenForTheUploadsTime) {
  const DatasetSource source = Alone(SomeBytes(100));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  Open();
  now_ += absl::Hours(24);
  store().Sweep();
  EXPECT_THAT(LoadArray(store(), "a", info.token), IsOk());
}

TEST_F(DurableStore, WithoutWaitingItIsDurableSoonAfter) {
  const DatasetSource source = Alone(SomeBytes(100));
  ASSERT_OK(PutChunks(store(), "a", source));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      Commit(store(), "a", ManifestOf(source, 1), /*wait_durable=*/false));
  Open();  // a clean stop writes what is queued
  EXPECT_THAT(LoadArray(store(), "a", info.token), IsOk());
}

TEST_F(DurableStore, WritesByTemporaryFileAndRename) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  ASSERT_OK(Put(store(), "a", source));
  EXPECT_THAT(Files(), SizeIs(3));
  for (const std::string& file : Files()) {
    EXPECT_FALSE(absl::StrContains(file, ".tmp")) << file;
  }
  const std::string chunk = ReadWhole(ChunkPath(source, 1));
  EXPECT_EQ(chunk.size(), static_cast<size_t>(kChunkHeaderBytes) + 1);
  EXPECT_EQ(chunk.back(), BytesOf(source.arrays[0].value).back());
}

TEST_F(DurableStore, HalfWrittenFilesOfACrashGo) {
  ASSERT_OK(Put(store(), "a", Alone(SomeBytes(100))));
  const auto before = Files();
  WriteWhole(folder_.path() + "/chunks/0123.tmp", "half a chunk");
  WriteWhole(folder_.path() + "/datasets/hw1-x.tmp", "");
  Open();
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(store().statistics().bad_files, 0);
}

// ---- damage

struct DamageRow {
  const char* name;
  void (*damage)(const std::string& path);
};

void Flip(const std::string& path, size_t at) {
  std::string bytes = ReadWhole(path);
  bytes.at(at) ^= 0x10;
  WriteWhole(path, bytes);
}
void Resize(const std::string& path, int64_t by) {
  fs::resize_file(path, fs::file_size(path) + by);
}

constexpr DamageRow kChunkDamage[] = {
    {"first byte of the data",
     [](const std::string& p) { Flip(p, kChunkHeaderBytes); }},
    {"last byte of the data",
     [](const std::string& p) { Flip(p, ReadWhole(p).size() - 1); }},
    {"magic", [](const std::string& p) { Flip(p, 0); }},
    {"version", [](const std::string& p) { Flip(p, 8); }},
    {"digest in the header", [](const std::string& p) { Flip(p, 30); }},
    {"padding", [](const std::string& p) { Flip(p, kChunkHeaderBytes - 1); }},
    {"cut by a byte", [](const std::string& p) { Resize(p, -1); }},
    {"a byte too long", [](const std::string& p) { Resize(p, 1); }},
    {"cut to the header",
     [](const std::string& p) { fs::resize_file(p, kChunkHeaderBytes); }},
    {"cut inside the header",
     [](const std::string& p) { fs::resize_file(p, 50); }},
    {"empty", [](const std::string& p) { fs::resize_file(p, 0); }},
    {"gone", [](const std::string& p) { fs::remove(p); }},
    {"zeros", [](const std::string& p) {
       WriteWhole(p, std::string(ReadWhole(p).size(), '\0'));
     }},
};

TEST_F(DurableStore, ADamagedChunkIsNeverServed) {
  const DatasetSource source = Alone(SomeBytes(1000));
  const DatasetManifest manifest = ManifestOf(source, 1);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  for (const DamageRow& row : kChunkDamage) {
    Open();
    store().Stop(absl::InfiniteFuture());
    row.damage(ChunkPath(source));
    Open();
    EXPECT_THAT(LoadArray(store(), "a", info.token),
                StatusIs(StatusCode::kDataLoss,
                         manifest.arrays[0].chunks[0].ToHex()))
        << row.name;
    EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0)) << row.name;
    ASSERT_OK_AND_ASSIGN(const DatasetInfo stat,
                         store().Stat("a", info.token));
    EXPECT_FALSE(stat.durable) << row.name;
    // It heals by being put again.
    ASSERT_OK_AND_ASSIGN(const DatasetInfo again, Put(store(), "a", source));
    EXPECT_TRUE(again.durable) << row.name;
    ASSERT_OK_AND_ASSIGN(const Literal value,
                         LoadArray(store(), "a", info.token));
    EXPECT_TRUE(value.BitEquals(source.arrays[0].value)) << row.name;
  }
}

TEST_F(DurableStore, ADamagedChunkIsSetAsideAndCounted) {
  const DatasetSource source = Alone(SomeBytes(1000));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  Flip(ChunkPath(source), kChunkHeaderBytes + 500);
  Open();
  EXPECT_EQ(store().statistics().bad_files, 0) << "not read yet";
  EXPECT_THAT(LoadArray(store(), "a", info.token),
              StatusIs(StatusCode::kDataLoss,
                       "is damaged on disk: its bytes do not match"));
  EXPECT_EQ(store().statistics().bad_files, 1);
  EXPECT_THAT(folder_.Find("chunks", ".bad"), SizeIs(1));
  EXPECT_FALSE(fs::exists(ChunkPath(source)));
  Open();
  EXPECT_EQ(store().statistics().bad_files, 0) << "set aside once";
}

TEST_F(DurableStore, AChunkUnderAnothersNameIsSetAside) {
  const DatasetSource one = Alone(SomeBytes(100, 1)),
                      two = Alone(SomeBytes(100, 2));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", one));
  ASSERT_OK(Put(store(), "a", two));
  fs::copy_file(ChunkPath(two), ChunkPath(one),
                fs::copy_options::overwrite_existing);
  Open();
  EXPECT_EQ(store().statistics().bad_files, 1);
  EXPECT_THAT(LoadArray(store(), "a", info.token),
              StatusIs(StatusCode::kDataLoss, ""));
}

TEST_F(DurableStore, OneDamagedChunkLeavesTheOthers) {
  const DatasetSource source = Alone(SomeBytes(2 * kChunkBytes + 1));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  Flip(ChunkPath(source, 1), kChunkHeaderBytes);
  Open();
  ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", info.token, ""));
  EXPECT_THAT(store().LoadChunk(*array, 0), IsOk());
  EXPECT_THAT(store().LoadChunk(*array, 1),
              StatusIs(StatusCode::kDataLoss, "damaged"));
  EXPECT_THAT(store().LoadChunk(*array, 2), IsOk());
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(1));
}

TEST_F(DurableStore, ADamagedRecordIsSetAsideAndItsChunksMayBeCommitted) {
  const DatasetSource source = Alone(SomeBytes(1000));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  const std::string path = DatasetPath();
  Flip(path, 40);
  Open();
  EXPECT_EQ(store().statistics().bad_files, 1);
  EXPECT_THAT(store().Stat("a", info.token),
              StatusIs(StatusCode::kNotFound, info.token));
  EXPECT_TRUE(fs::exists(path + ".bad"));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo again,
                       Commit(store(), "a", ManifestOf(source, 1)));
  EXPECT_EQ(again.token, info.token);
  EXPECT_TRUE(fs::exists(path));
}

// ---- the folder

TEST_F(DurableStore, OneServerUsesAFolder) {
  EXPECT_THAT(DatasetStore::Open({.data_dir = folder_.path()}),
              StatusIs(StatusCode::kFailedPrecondition,
                       absl::StrCat("another server uses ", folder_.path())));
  store_ = nullptr;
  EXPECT_THAT(DatasetStore::Open({.data_dir = folder_.path()}), IsOk());
}

TEST_F(DurableStore, AFolderThatCannotBeUsedIsRefused) {
  WriteWhole(folder_.path() + "/file", "");
  for (const char* name : {"/file", "/file/below", "/no/such/folder"}) {
    EXPECT_THAT(DatasetStore::Open({.data_dir = folder_.path() + name}),
                StatusIs(StatusCode::kFailedPrecondition, name));
  }
}

// ---- a full disk

// Files larger than this cannot be written while it lives, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(DurableStore, AFullDiskIsSaidAndTheDatasetStaysInMemory) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  const std::string token = TokenOf(ManifestOf(source, 1));
  {
    FileSizeLimit full(1 << 20);
    EXPECT_THAT(Put(store(), "a", source),
                StatusIs(StatusCode::kResourceExhausted,
                         absl::StrCat("dataset ", token,
                                      " is here but not durable: cannot "
                                      "write")));
  }
  EXPECT_THAT(folder_.Find("chunks", ".tmp"), IsEmpty());
  ASSERT_OK_AND_ASSIGN(const Literal value, LoadArray(store(), "a", token));
  EXPECT_TRUE(value.BitEquals(source.arrays[0].value));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo stat, store().Stat("a", token));
  EXPECT_FALSE(stat.durable);
  EXPECT_THAT(Commit(store(), "a", ManifestOf(source, 1)), IsOk())
      << "there is room again";
  Open();
  EXPECT_THAT(LoadArray(store(), "a", token), IsOk());
}

// Its record would be found after a restart, and its chunk would not.
TEST_F(DurableStore, WhatTheDiskRefusedIsUnknownAfterARestart) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  const std::string token = TokenOf(ManifestOf(source, 1));
  {
    FileSizeLimit full(1 << 20);
    EXPECT_THAT(Put(store(), "a", source),
                StatusIs(StatusCode::kResourceExhausted, "not durable"));
    Open();
  }
  EXPECT_THAT(store().Stat("a", token), StatusIs(StatusCode::kNotFound, token));
  EXPECT_EQ(store().statistics().bad_files, 0);
  // The small second chunk was written: an upload that goes on.
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0));
}

TEST_F(DurableStore, WhatTheDiskRefusedIsTriedAgain) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes));
  const std::string token = TokenOf(ManifestOf(source, 1));
  {
    FileSizeLimit full(1 << 20);
    EXPECT_THAT(Put(store(), "a", source),
                StatusIs(StatusCode::kResourceExhausted, "not durable"));
  }
  // There was room for its record, which would have named what is not there.
  EXPECT_THAT(folder_.Find("datasets", token), IsEmpty());
  store().Sweep();
  EXPECT_THAT(folder_.Find("chunks", ""), IsEmpty()) << "not at once";
  now_ += absl::Seconds(30);
  store().Sweep();
  store().Stop(absl::InfiniteFuture());
  EXPECT_THAT(folder_.Find("chunks", ""), SizeIs(1));
  EXPECT_THAT(folder_.Find("datasets", token), SizeIs(1));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo stat, store().Stat("a", token));
  EXPECT_TRUE(stat.durable);
}

}  // namespace
}  // namespace hawser::server
