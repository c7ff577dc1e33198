#include "client/digests/digest_cache.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

ArrayManifest Array(const std::string& name, const Shape& shape, char seed) {
  ArrayManifest array{name, shape, {}};
  for (int64_t i = 0; i < array.num_chunks(); ++i) {
    array.chunks.push_back(Sha256(std::string(i + 1, seed)));
  }
  return array;
}

DigestRecord Record(uint64_t inode = 7) {
  return {{1, inode, 300, -5, 1'700'000'000'123'456'789},
          "any",
          {Array("x", Shape::Of(DType::kF32, {3, 1 << 20}), 'x'),
           Array("", Shape::Scalar(DType::kBF16), 'y'),
           Array("none", Shape::Of(DType::kC128, {0, 4}), 'z')}};
}

void ExpectSame(const std::vector<ArrayManifest>& got,
                const std::vector<ArrayManifest>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, want[i].name);
    EXPECT_EQ(got[i].shape, want[i].shape);
    EXPECT_EQ(got[i].chunks, want[i].chunks);
  }
}

// ---- one record -----------------------------------------------------------

TEST(DigestRecord, ComesBackAsItWas) {
  const DigestRecord record = Record();
  const auto got = DecodeDigestRecord(EncodeDigestRecord(record));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->version, record.version);
  EXPECT_EQ(got->reading, "any");
  ExpectSame(got->arrays, record.arrays);
}

TEST(DigestRecord, EveryOtherFileIsNone) {
  const std::string bytes = EncodeDigestRecord(Record());
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(DecodeDigestRecord(bytes.substr(0, n)).has_value()) << n;
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 1);
    EXPECT_FALSE(DecodeDigestRecord(changed).has_value()) << n;
  }
  EXPECT_FALSE(DecodeDigestRecord(bytes + "x").has_value());
}

// Sealed by a right digest: what a later form, or malice, might write.
TEST(DigestRecord, SealedNonsenseIsNone) {
  const std::string good = EncodeDigestRecord(Record());
  const std::string front = good.substr(0, good.size() - Digest::kSize);
  for (size_t n = 0; n < front.size(); ++n) {
    for (const char c : {'\0', '\x7f', '\xff'}) {
      std::string changed = front;
      changed[n] = c;
      absl::StrAppend(&changed, Sha256(changed).bytes());
      const auto got = DecodeDigestRecord(changed);
      if (!got.has_value()) continue;
      EXPECT_EQ(EncodeDigestRecord(*got), changed) << n;
    }
    std::string cut = front.substr(0, n);
    absl::StrAppend(&cut, Sha256(cut).bytes());
    const auto got = DecodeDigestRecord(cut);
    EXPECT_TRUE(!got.has_value() || got->arrays.size() < 3) << n;
  }
}

// ---- the folder -----------------------------------------------------------

TEST(DigestCache, FindsWhatItWasToldOfTheSameVersionAndReading) {
  const TemporaryFolder folder;
  const DigestRecord record = Record();
  DigestCache(folder.Path("a/b")).Remember(record);
  DigestCache cache(folder.Path("a/b"));  // another process
  const auto got = cache.Find(record.version, "any");
  ASSERT_TRUE(got.has_value());
  ExpectSame(*got, record.arrays);
  EXPECT_FALSE(cache.Find(record.version, "raw u8[300]").has_value());
  FileVersion other = record.version;
  for (auto* field : {&other.modified_ns, &other.changed_ns, &other.size}) {
    ++*field;
    EXPECT_FALSE(cache.Find(other, "any").has_value());
    other = record.version;
  }
  for (auto* field : {&other.device, &other.inode}) {
    ++*field;
    EXPECT_FALSE(cache.Find(other, "any").has_value());
    other = record.version;
  }
  EXPECT_TRUE(cache.Find(record.version, "any").has_value());
}

TEST(DigestCache, ANewVersionTakesThePlaceOfTheLast) {
  const TemporaryFolder folder;
  DigestCache cache(folder.Path("c"));
  DigestRecord record = Record();
  cache.Remember(record);
  const FileVersion before = record.version;
  ++record.version.changed_ns;
  cache.Remember(record);
  EXPECT_EQ(folder.Find("c/digests").size(), 1u);
  EXPECT_FALSE(cache.Find(before, "any").has_value());
  EXPECT_TRUE(cache.Find(record.version, "any").has_value());
}

TEST(DigestCache, TheLeastRecentlyUsedGo) {
  const TemporaryFolder folder;
  const auto entry = [&](uint64_t inode) {
    // The entries' times, told apart whatever the clock's step.
    DigestCache one(folder.Path("c"));
    one.Remember(Record(inode));
    for (const auto& file :
         std::filesystem::directory_iterator(folder.Path("c/digests"))) {
      std::filesystem::last_write_time(
          file, file.last_write_time() - std::chrono::hours(1));
    }
  };
  for (uint64_t inode = 0; inode < 8; ++inode) entry(inode);
  folder.Write("c/digests/notes.txt", "not an entry");
  DigestCache cache(folder.Path("c"), {.entries = 8, .bytes = 1 << 20});
  ASSERT_TRUE(cache.Find(Record(0).version, "any").has_value());  // used now
  cache.Remember(Record(8));
  EXPECT_EQ(folder.Find("c/digests").size(), 7u + 1u);
  for (const uint64_t inode : {1, 2}) {
    EXPECT_FALSE(cache.Find(Record(inode).version, "any").has_value()) << inode;
  }
  for (const uint64_t inode : {0, 3, 4, 5, 6, 7, 8}) {
    EXPECT_TRUE(cache.Find(Record(inode).version, "any").has_value()) << inode;
  }
}

TEST(DigestCache, StaysBelowItsBytes) {
  const TemporaryFolder folder;
  const int64_t size = EncodeDigestRecord(Record()).size();
  DigestCache cache(folder.Path("c"), {.entries = 100, .bytes = 8 * size});
  for (uint64_t inode = 0; inode < 50; ++inode) cache.Remember(Record(inode));
  EXPECT_LE(folder.Find("c/digests").size(), 8u);
  EXPECT_GE(folder.Find("c/digests").size(), 4u);
  DigestCache small(folder.Path("s"), {.entries = 100, .bytes = 3 * size});
  small.Remember(Record());
  EXPECT_EQ(folder.Find("s/digests").size(), 0u) << "one entry may not fill it";
}

TEST(DigestCache, ADamagedFolderIsNoError) {
  const TemporaryFolder folder;
  const DigestRecord record = Record();
  DigestCache cache(folder.Path("c"));
  cache.Remember(record);
  for (const auto& file :
       std::filesystem::directory_iterator(folder.Path("c/digests"))) {
    std::ofstream(file.path(), std::ios::trunc) << "damaged";
  }
  EXPECT_FALSE(cache.Find(record.version, "any").has_value());
  cache.Remember(record);
  EXPECT_TRUE(cache.Find(record.version, "any").has_value());
  // A file where the folder should be, and no folder at all.
  DigestCache nowhere(folder.Write("file", "x"));
  nowhere.Remember(record);
  EXPECT_FALSE(nowhere.Find(record.version, "any").has_value());
  DigestCache off("");
  off.Remember(record);
  EXPECT_FALSE(off.Find(record.version, "any").has_value());
}

TEST(CacheFolder, FollowsTheEnvironment) {
  const struct {
    std::map<std::string, const char*> variables;
    const char* want;
  } kCases[] = {
      {{}, ""},
      {{{"HOME", "/home/me"}}, "/home/me/.cache/hawser"},
      {{{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "/c"}}, "/c/hawser"},
      {{{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "c"}},
       "/home/me/.cache/hawser"},
      {{{"HOME", "/home/me"}, {"HAWSER_CACHE", "/mine"}}, "/mine"},
      {{{"HOME", "/home/me"}, {"HAWSER_CACHE", "off"}}, ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(CacheFolder([&](const char* name) {
                const auto found = c.variables.find(name);
                return found == c.variables.end() ? nullptr : found->second;
              }),
              c.want);
  }
}

}  // namespace
}  // namespace hawser
