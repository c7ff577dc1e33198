// The scrubber and the files it reads back: records and names too.
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/datasets/dataset_store.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct ScrubRow {
  const char* name;
  void (*damage)(const std::string& path);
};
constexpr ScrubRow kDamages[] = {
    {"a bit",
     [](const std::string& p) {
       std::string bytes = ReadWhole(p);
       bytes[bytes.size() / 2] ^= 4;
       WriteWhole(p, bytes);
     }},
    {"cut",
     [](const std::string& p) { fs::resize_file(p, fs::file_size(p) - 1); }},
    {"empty", [](const std::string& p) { fs::resize_file(p, 0); }},
    {"gone", [](const std::string& p) { fs::remove(p); }},
    {"longer",
     [](const std::string& p) { fs::resize_file(p, fs::file_size(p) + 1); }},
};

class ScrubberTest : public StoreTest {
 protected:
  void SetUp() override { OpenScrubbed(); }
  // Once more over the same files: nothing of them is in memory.
  void OpenScrubbed() {
    DatasetStoreOptions options;
    options.scrub_bytes_per_second = int64_t{64} << 20;
    Open(options);
    store().Sweep();  // the time counts from here
  }
  // One pass over all files, and until what it found is written again.
  void Scrub() {
    now_ += absl::Seconds(10);
    store().Sweep();
    store().Stop(absl::InfiniteFuture());
  }
  absl::Status Tag(const std::string& name, const std::string& token) {
    Promise<bool> promise;
    store().Tag(
        "a", {.name = name, .token = token}, [&](const absl::Status& s) {
          s.ok() ? promise.Set(true) : promise.Set(absl::StatusOr<bool>(s));
        });
    return promise.future().Await().status();
  }
  std::string Only(const char* folder) {
    const auto found = folder_.Find(folder, "");
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? "" : found[0];
  }

  // Whatever happens to the file: it is counted once, and after a restart all
  // is as before.
  void ExpectMended(const std::string& path,
                    const std::function<void()>& expect_as_before) {
    for (const ScrubRow& row : kDamages) {
      SCOPED_TRACE(row.name);
      OpenScrubbed();
      row.damage(path);
      Scrub();
      EXPECT_EQ(store().statistics().bad_files, 1);
      EXPECT_EQ(store().Usage("a").bad_files, 1);
      EXPECT_EQ(store().Usage("a").lost_bytes, 0);
      fs::remove(path + ".bad");
      OpenScrubbed();
      EXPECT_EQ(store().statistics().bad_files, 0);
      expect_as_before();
    }
  }

  const DatasetSource source_ = Alone(SomeBytes(1000));
};

TEST_F(ScrubberTest, SoundFilesAreLeftAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source_));
  ASSERT_OK(Tag("@x", info.token));
  const auto before = Files();
  OpenScrubbed();
  Scrub();
  EXPECT_GT(store().statistics().verified_bytes, 1000);
  EXPECT_EQ(store().statistics().bad_files, 0);
  EXPECT_EQ(Files(), before);
}

TEST_F(ScrubberTest, ADamagedRecordIsWrittenAgain) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source_));
  ExpectMended(Only("datasets"), [&] {
    EXPECT_THAT(LoadArray(store(), "a", info.token), IsOk());
  });
}

// A restart would refuse the file although its bytes are sound.
TEST_F(ScrubberTest, AChunkWithADamagedHeaderIsWrittenAgain) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source_));
  const std::string path = Only("chunks");
  for (const size_t place : {size_t{0}, size_t{40}, size_t{4095}}) {
    OpenScrubbed();
    std::string bytes = ReadWhole(path);
    bytes[place] ^= 1;
    WriteWhole(path, bytes);
    now_ += absl::Seconds(10);
    store().Sweep();
    while (store().Stat("a", info.token)->durable) std::this_thread::yield();
    EXPECT_EQ(store().statistics().bad_files, 1) << place;
    now_ += absl::Minutes(1);
    store().Sweep();
    store().Stop(absl::InfiniteFuture());
    OpenScrubbed();
    EXPECT_EQ(store().statistics().bad_files, 0) << place;
    EXPECT_THAT(LoadArray(store(), "a", info.token), IsOk()) << place;
  }
}

TEST_F(ScrubberTest, ARecordUnderAnothersNameIsWrittenAgain) {
  const DatasetSource other = Alone(SomeBytes(2000, 1));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo a, Put(store(), "a", source_));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo b, Put(store(), "a", other));
  OpenScrubbed();
  const std::string path = folder_.Find("datasets", a.token).at(0);
  fs::copy_file(folder_.Find("datasets", b.token).at(0), path,
                fs::copy_options::overwrite_existing);
  Scrub();
  EXPECT_EQ(store().statistics().bad_files, 1);
  OpenScrubbed();
  for (const DatasetInfo& info : {a, b}) {
    EXPECT_THAT(LoadArray(store(), "a", info.token), IsOk());
  }
}

TEST_F(ScrubberTest, DamagedNamesAreWrittenAgain) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source_));
  ASSERT_OK(Tag("@x", info.token));
  ExpectMended(Only("names"), [&] {
    ASSERT_OK_AND_ASSIGN(const DatasetInfo found, store().Stat("a", "@x"));
    EXPECT_EQ(found.token, info.token);
  });
}

TEST_F(ScrubberTest, WhatWasDeletedMeanwhileIsNotWrittenAgain) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source_));
  OpenScrubbed();
  fs::resize_file(Only("datasets"), 3);
  now_ += absl::Seconds(10);
  store().Sweep();
  store().Delete("a", info.token, [](const absl::Status&) {});
  store().Stop(absl::InfiniteFuture());
  EXPECT_THAT(folder_.Find("datasets", info.token + "-"),
              ::testing::Each(::testing::EndsWith(".bad")));
  OpenScrubbed();
  EXPECT_THAT(store().Stat("a", info.token),
              StatusIs(StatusCode::kNotFound, info.token));
}

// However it is found, a file that is not there counts as a bad one.
TEST_F(ScrubberTest, AMissingChunkIsCountedUntilItIsPutAgain) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source_));
  const std::string path = Only("chunks");
  const std::function<void()> finds[] = {
      [&] { Scrub(); },
      [&] { EXPECT_FALSE(LoadArray(store(), "a", info.token).ok()); },
      [&] { OpenScrubbed(); },
  };
  for (const auto& find : finds) {
    OpenScrubbed();
    fs::remove(path);
    find();
    EXPECT_EQ(store().statistics().bad_files, 1);
    OpenScrubbed();
    EXPECT_EQ(store().statistics().bad_files, 1) << "still missing";
    EXPECT_EQ(store().Usage("a").bad_files, 1);
    EXPECT_EQ(store().Usage("a").lost_bytes, 1000);
    EXPECT_EQ(store().Usage("b").lost_bytes, 0) << "nothing of theirs";
    EXPECT_THAT(LoadArray(store(), "a", info.token),
                StatusIs(StatusCode::kDataLoss, "put the dataset again"));
    EXPECT_THAT(Missing(store(), "a", source_), ElementsAre(0));
    ASSERT_OK(Put(store(), "a", source_));
    EXPECT_EQ(store().Usage("a").lost_bytes, 0);
    OpenScrubbed();
    EXPECT_EQ(store().statistics().bad_files, 0);
    EXPECT_THAT(LoadArray(store(), "a", info.token), IsOk());
  }
}

}  // namespace
}  // namespace hawser::server
