// Memory: what leaves it for whom, and who waits or is refused.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "gtest/gtest.h"
#include "server/datasets/dataset_store.h"
#include "server/datasets/storage/chunk_memory.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;

TEST(ChunkMemory, CountsWhileAnybodyHolds) {
  auto memory = std::make_unique<ChunkMemory>();
  for (const int64_t bytes :
       {int64_t{0}, int64_t{1}, int64_t{4095}, (int64_t{2} << 20) - 1,
        int64_t{2} << 20, kChunkBytes, kChunkBytes + 1}) {
    ASSERT_OK_AND_ASSIGN(std::shared_ptr<char> data, memory->Allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data.get()) % 64, 0u) << bytes;
    EXPECT_EQ(memory->resident(), bytes);
    if (bytes > 0) data.get()[0] = data.get()[bytes - 1] = 1;
    const std::shared_ptr<char> other = data;
    data = nullptr;
    EXPECT_EQ(memory->resident(), bytes) << "somebody holds it";
  }
  EXPECT_EQ(memory->resident(), 0);
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<char> last, memory->Allocate(10));
  memory = nullptr;
  last.get()[9] = 1;  // it may outlive the counter
}

TEST(ChunkMemory, GivesWhatWasPreparedFirstAndKeepsIt) {
  ChunkMemory memory;
  ASSERT_OK(memory.Prepare(2 * kChunkBytes));
  EXPECT_EQ(memory.resident(), 0) << "nobody holds it";
  std::vector<char*> first;
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK_AND_ASSIGN(auto a, memory.Allocate(kChunkBytes));
    ASSERT_OK_AND_ASSIGN(auto b, memory.Allocate(kChunkBytes - 4097));
    ASSERT_OK_AND_ASSIGN(auto c, memory.Allocate(kChunkBytes));  // beyond it
    EXPECT_EQ(memory.resident(), 3 * kChunkBytes - 4097);
    c.get()[kChunkBytes - 1] = b.get()[kChunkBytes - 4098] = 1;
    // Pages that are mapped anew hold zeros, at the same place or not.
    EXPECT_EQ(a.get()[0] + b.get()[0], round == 0 ? 0 : 2 * 7);
    a.get()[0] = b.get()[0] = 7;
    std::vector<char*> here = {a.get(), b.get()};
    a = b = nullptr;
    c = nullptr;  // more than is kept
    std::sort(here.begin(), here.end());
    if (round == 0) first = here;
    EXPECT_EQ(here, first) << "the same memory again";
  }
  EXPECT_EQ(memory.resident(), 0);
}

TEST(ChunkMemory, SaysSoWhenThereIsNone) {
  ChunkMemory memory;
  EXPECT_THAT(memory.Allocate(int64_t{1} << 61),
              StatusIs(StatusCode::kResourceExhausted,
                       "no memory for 2305843009213693952 bytes"));
  EXPECT_EQ(memory.resident(), 0);
}

class SmallStore : public StoreTest {
 protected:
  // Of whole chunks, all different.
  DatasetSource Chunks(int n, int seed = 0) {
    return Alone(SomeBytes(n * kChunkBytes, seed));
  }
  std::unique_ptr<Asked> Ask(int seed) {
    return AskForRoom(store(), "a", 1, Sha256(SomeBytes(1, seed).bytes()),
                      kChunkBytes);
  }
};

TEST_F(SmallStore, MemoryAloneRefusesWhatDoesNotFit) {
  OpenInMemory({.memory_bytes = 2 * kChunkBytes});
  ASSERT_OK(Put(store(), "a", Chunks(2)));
  EXPECT_THAT(Ask(1)->Await(),
              StatusIs(StatusCode::kResourceExhausted,
                       "the datasets' memory limit of 8388608 bytes: 2 chunks "
                       "and the arrays in use hold 8388608 bytes, and there "
                       "is no disk to move them to"));
}

TEST_F(SmallStore, RoomThatWasAskedForCounts) {
  OpenInMemory({.memory_bytes = 2 * kChunkBytes});
  const auto one = Ask(1);
  auto two = Ask(2);
  EXPECT_THAT(one->Await(), IsOk());
  EXPECT_THAT(two->Await(), IsOk());
  EXPECT_THAT(Ask(3)->Await(), StatusIs(StatusCode::kResourceExhausted, ""));
  two = nullptr;
  EXPECT_THAT(Ask(3)->Await(), IsOk());
}

TEST_F(SmallStore, ADiskTakesMoreThanMemory) {
  Open({.memory_bytes = 3 * kChunkBytes});
  const DatasetSource source = Chunks(8);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  EXPECT_LE(store().statistics().resident_bytes, 3 * kChunkBytes);
  ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", info.token, ""));
  for (int i = 0; i < 8; ++i) {
    ASSERT_OK_AND_ASSIGN(const ChunkBytes chunk, store().LoadChunk(*array, i));
    EXPECT_EQ(
        absl::string_view(chunk.data.get(), chunk.size),
        BytesOf(source.arrays[0].value).substr(i * kChunkBytes, kChunkBytes));
  }
  EXPECT_LE(store().statistics().resident_bytes, 3 * kChunkBytes);
}

TEST_F(SmallStore, AnArrayLargerThanMemoryIsRefusedInOnePiece) {
  Open({.memory_bytes = 3 * kChunkBytes});
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", Chunks(4)));
  EXPECT_THAT(LoadArray(store(), "a", info.token),
              StatusIs(StatusCode::kResourceExhausted,
                       "an array of 16777216 bytes does not fit"));
}

TEST_F(SmallStore, AnArrayAsLargeAsMemoryFits) {
  for (const bool on_disk : {false, true}) {
    const DatasetStoreOptions options{.memory_bytes = 3 * kChunkBytes};
    on_disk ? Open(options) : OpenInMemory(options);
    const DatasetSource source = Chunks(3);
    ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
    ASSERT_OK_AND_ASSIGN(const Literal value,
                         LoadArray(store(), "a", info.token));
    EXPECT_TRUE(value.BitEquals(source.arrays[0].value));
  }
}

TEST_F(SmallStore, ArraysInUseStay) {
  Open({.memory_bytes = 3 * kChunkBytes});
  ASSERT_OK_AND_ASSIGN(const DatasetInfo one, Put(store(), "a", Chunks(2, 1)));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo two, Put(store(), "a", Chunks(2, 2)));
  ASSERT_OK_AND_ASSIGN(Literal used, LoadArray(store(), "a", one.token));
  EXPECT_THAT(LoadArray(store(), "a", two.token),
              StatusIs(StatusCode::kResourceExhausted,
                       "does not fit beside 8388608 bytes in use"));
  used = Literal();
  EXPECT_THAT(LoadArray(store(), "a", two.token), IsOk());
}

// ---- waiting for the disk

// A disk that hangs: the chunk's temporary file is a pipe that is never read.
class HangingDisk {
 public:
  HangingDisk(const TemporaryFolder& folder, const Digest& chunk)
      : path_(absl::StrCat(folder.path(), "/chunks/", chunk.ToHex(), ".tmp")) {
    HAWSER_CHECK(mkfifo(path_.c_str(), 0600) == 0);
    fd_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    HAWSER_CHECK(fd_ >= 0);
  }
  ~HangingDisk() { Fail(); }
  // Returns once the writer is at it.
  void AwaitWriter() {
    pollfd ready{fd_, POLLIN, 0};
    HAWSER_CHECK(poll(&ready, 1, -1) == 1);
  }
  // Lets the writer go on: it finds that a pipe cannot be flushed and fails.
  void Fail() {
    if (fd_ < 0) return;
    fcntl(fd_, F_SETFL, 0);
    char buffer[65536];
    while (read(fd_, buffer, sizeof(buffer)) > 0) {
    }
    close(fd_);
    fd_ = -1;
  }

 private:
  const std::string path_;
  int fd_ = -1;
};

class HangingStore : public SmallStore {
 protected:
  void SetUp() override {
    Open({.memory_bytes = 2 * kChunkBytes});
    source_ = Chunks(1);
    disk_ = std::make_unique<HangingDisk>(
        folder_, ManifestOf(source_, 1).arrays[0].chunks[0]);
    ASSERT_OK(PutChunks(store(), "a", source_));
    disk_->AwaitWriter();
  }

  DatasetSource source_;
  std::unique_ptr<HangingDisk> disk_;
};

TEST_F(HangingStore, WhoWaitsInVainIsToldWhenTheDiskHasFailed) {
  const auto held = Ask(1);
  ASSERT_OK(held->Await());
  const auto waits = Ask(2), behind = Ask(3);
  EXPECT_FALSE(waits->answered()) << "the writer may make room";
  disk_->Fail();
  for (const auto* asked : {&waits, &behind}) {
    EXPECT_THAT((*asked)->Await(),
                StatusIs(StatusCode::kResourceExhausted,
                         "and the last write failed: cannot flush"));
  }
}

TEST_F(HangingStore, WhoWaitsGetsTheRoomThatHasBecomeFree) {
  auto held = Ask(1);
  ASSERT_OK(held->Await());
  const auto waits = Ask(2);
  EXPECT_FALSE(waits->answered());
  held = nullptr;
  disk_->Fail();
  EXPECT_THAT(waits->Await(), IsOk());
  EXPECT_NE(waits->receiver, nullptr);
}

TEST_F(HangingStore, AStopTellsEverybody) {
  const auto held = Ask(1);
  const auto waits = Ask(2);
  const auto commit = CommitLater(store(), "a", ManifestOf(source_, 1));
  store().Stop(absl::InfinitePast());
  EXPECT_THAT(waits->Await(),
              StatusIs(StatusCode::kUnavailable, "the server is stopping"));
  EXPECT_THAT(commit.Await(),
              StatusIs(StatusCode::kUnavailable, "the server is stopping"));
  EXPECT_THAT(Commit(store(), "a", ManifestOf(source_, 1)),
              StatusIs(StatusCode::kUnavailable, "the server is stopping"));
  disk_->Fail();  // or the writer would hang for ever
}

// Chunks of X and Y hang one after the other, each in a batch of its own.
TEST_F(SmallStore, ATenantAtItsQuotaHoldsUpNobodyElse) {
  Open({.memory_bytes = 3 * kChunkBytes, .tenant_bytes = kChunkBytes});
  const DatasetSource x = Chunks(1, 1), y = Chunks(1, 2);
  HangingDisk first(folder_, ManifestOf(x, 1).arrays[0].chunks[0]);
  HangingDisk second(folder_, ManifestOf(y, 1).arrays[0].chunks[0]);
  ASSERT_OK(PutChunks(store(), "a", x));
  first.AwaitWriter();
  ASSERT_OK(PutChunks(store(), "b", y));
  const auto ask = [&](absl::string_view tenant) {
    return AskForRoom(store(), tenant, 1, Sha256(tenant), kChunkBytes);
  };
  auto held = ask("d");
  ASSERT_OK(held->Await());
  const auto at_quota = ask("a"), behind = ask("c");
  EXPECT_FALSE(behind->answered()) << "the writer may make room";
  held = nullptr;
  first.Fail();
  EXPECT_THAT(behind->Await(), IsOk());
  EXPECT_FALSE(at_quota->answered());
  second.AwaitWriter();
  second.Fail();
  EXPECT_THAT(at_quota->Await(),
              StatusIs(StatusCode::kResourceExhausted, "'s quota"));
}

// What leaves with a dataset makes room at once, unless it is wanted again.
TEST_F(SmallStore, WhatIsWantedAgainMakesNoRoom) {
  Open({.memory_bytes = 4 * kChunkBytes, .tenant_bytes = kChunkBytes});
  const DatasetSource source = Chunks(1, 1), hangs = Chunks(1, 2);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  HangingDisk disk(folder_, ManifestOf(hangs, 1).arrays[0].chunks[0]);
  ASSERT_OK(PutChunks(store(), "b", hangs));
  disk.AwaitWriter();
  Promise<bool> deleted;
  store().Delete("a", info.token, [&](const absl::Status& status) {
    EXPECT_OK(status);
    deleted.Set(true);
  });
  EXPECT_THAT(Ask(3)->Await(), IsOk());
  constexpr uint64_t kAgain = 7;
  EXPECT_TRUE(
      MissingOf(store(), "a", kAgain, ManifestOf(source, 1).arrays[0].chunks)
          .empty());
  const auto refused = Ask(3);
  EXPECT_FALSE(refused->answered()) << "the writer may make room";
  disk.Fail();
  EXPECT_THAT(refused->Await(),
              StatusIs(StatusCode::kResourceExhausted, "'s quota"));
  ASSERT_OK(deleted.future().Await());
}

}  // namespace
}  // namespace hawser::server
