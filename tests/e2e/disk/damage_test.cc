// Files of a server's data_dir are harmed: what they held is never served as
// anything else, all other datasets are, and a put of the same heals it.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process_counts.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kPatience = absl::Minutes(2);

// ---- what is done to files: `place` is drawn, `other` is another of the
// folder

void FlipBit(const fs::path& path, uint64_t place, const fs::path&) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const uint64_t bit = place % (8 * fs::file_size(path));
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const char byte = static_cast<char>(file.peek() ^ (1 << bit % 8));
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(byte);
}
void Truncate(const fs::path& path, uint64_t place, const fs::path&) {
  fs::resize_file(path, place % fs::file_size(path));
}
void Empty(const fs::path& path, uint64_t, const fs::path&) {
  fs::resize_file(path, 0);
}
void RemoveFile(const fs::path& path, uint64_t, const fs::path&) {
  fs::remove(path);
}
void Swap(const fs::path& path, uint64_t, const fs::path& other) {
  fs::rename(path, path.string() + "-swap");
  fs::rename(other, path);
  fs::rename(path.string() + "-swap", other);
}

// Chunks, records of datasets, and what a tenant says: tags and pins.
enum class Folder { kChunks, kDatasets, kNames };
constexpr const char* kFolders[] = {"chunks", "datasets", "names"};

struct Damage {
  const char* name;
  void (*harm)(const fs::path& path, uint64_t place, const fs::path& other);
  Folder folder;
  int files = 1;      // it hits
  bool gone = false;  // nothing says that there was a file
};
constexpr Damage kDamages[] = {
    {"a bit flipped", FlipBit, Folder::kChunks},
    {"a bit flipped", FlipBit, Folder::kDatasets},
    {"a bit flipped", FlipBit, Folder::kNames},
    {"cut", Truncate, Folder::kChunks},
    {"cut", Truncate, Folder::kDatasets},
    {"cut", Truncate, Folder::kNames},
    {"empty", Empty, Folder::kChunks},
    {"empty", Empty, Folder::kDatasets},
    {"empty", Empty, Folder::kNames},
    {"removed", RemoveFile, Folder::kChunks},
    {"removed", RemoveFile, Folder::kDatasets, 1, true},
    {"removed", RemoveFile, Folder::kNames, 1, true},
    {"two swapped", Swap, Folder::kChunks, 2},
    {"two swapped", Swap, Folder::kDatasets, 2},
};

// Who finds it.
enum class Finder { kGet, kScrubber, kRestart };
constexpr const char* kFinders[] = {"a get", "the scrubber", "a restart"};

struct Round {
  uint64_t seed = 0;
  const Damage* damage = nullptr;
  Finder finder = Finder::kGet;
  uint64_t file = 0, place = 0;
};
std::ostream& operator<<(std::ostream& out, const Round& round) {
  return out << "HAWSER_SEED=" << round.seed << ": " << round.damage->name
             << " in " << kFolders[static_cast<int>(round.damage->folder)]
             << ", found by " << kFinders[static_cast<int>(round.finder)]
             << ", file " << round.file << ", place " << round.place;
}

// Each damage equally often, by each finder that may find it.
std::vector<Round> DrawRounds() {
  const uint64_t seed = FromEnvironment("HAWSER_SEED", 20261122);
  std::mt19937_64 random(seed);
  std::vector<Round> rounds(FromEnvironment("HAWSER_DAMAGE_ROUNDS", 14));
  for (size_t i = 0; i < rounds.size(); ++i) {
    Round& round = rounds[i];
    round = {seed, &kDamages[i % std::size(kDamages)],
             static_cast<Finder>(random() % 3), random(), random()};
    // A get reads chunks alone.
    if (round.finder == Finder::kGet &&
        round.damage->folder != Folder::kChunks) {
      round.finder = Finder::kScrubber;
    }
  }
  std::shuffle(rounds.begin(), rounds.end(), random);
  return rounds;
}

class DamageTest : public ::testing::Test {
 protected:
  // One of three chunks, one of two arrays, two small ones, of which one is
  // called @small.
  DamageTest() {
    sources_ = {{{"", SeededBytes((8 << 20) + 77, 1)}},
                {{"x", SeededBytes(5000, 2)}, {"y", SeededBytes(70000, 3)}},
                {{"", SeededBytes(1, 4)}},
                {{"", SeededBytes(300, 5)}}};
  }
  absl::Status Start(bool scrub) {
    return server_.Start({scrub ? "--scrub_rate=1GiB" : "--scrub_rate=0"});
  }
  // Puts everything, and names one of them.
  void PutAll() {
    infos_.clear();
    for (const auto& source : sources_) {
      ASSERT_OK_AND_ASSIGN(const Dataset put, server_.client().Put(source));
      EXPECT_TRUE(put.info().durable) << put.token();
      infos_.push_back(put.info());
    }
    ASSERT_OK(
        server_.client().Tag({.name = "@small", .token = infos_[2].token}));
  }
  void ExpectAllThere() {
    for (const DatasetInfo& info : infos_) {
      EXPECT_OK(FetchWhole(server_.client(), info));
    }
    ASSERT_OK_AND_ASSIGN(const Dataset small,
                         server_.client().Dataset("@small"));
    EXPECT_EQ(small.token(), infos_[2].token);
  }
  // Files of a folder, in order, but for those set aside.
  std::vector<fs::path> Files(Folder folder) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(
             fs::path(folder_.path()) / kFolders[static_cast<int>(folder)])) {
      if (entry.path().extension() != ".bad") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  // What has been looked at.
  void RemoveSetAside() const {
    for (const char* folder : kFolders) {
      for (const auto& entry :
           fs::directory_iterator(fs::path(folder_.path()) / folder)) {
        if (entry.path().extension() == ".bad") fs::remove(entry.path());
      }
    }
  }
  void Harm(const Round& round) {
    const auto files = Files(round.damage->folder);
    const size_t first = round.file % files.size();
    const size_t second = (first + 1) % files.size();
    round.damage->harm(files[first], round.place, files[second]);
  }
  // How many of the datasets cannot be had; the others are what they were.
  int CountLost(const Round& round) {
    int lost = 0;
    for (const DatasetInfo& info : infos_) {
      const absl::Status there = FetchWhole(server_.client(), info);
      if (there.ok()) continue;
      ++lost;
      EXPECT_EQ(there.code(), round.damage->folder == Folder::kChunks
                                  ? absl::StatusCode::kDataLoss
                                  : absl::StatusCode::kNotFound)
          << there;
      EXPECT_TRUE(absl::StrContains(there.message(), info.token)) << there;
    }
    return lost;
  }
  void RunRound(const Round& round);

  const TemporaryFolder folder_;
  DataServer server_{folder_.path()};
  std::vector<std::vector<DatasetSource::Array>> sources_;
  std::vector<DatasetInfo> infos_;
};

void DamageTest::RunRound(const Round& round) {
  SCOPED_TRACE(::testing::PrintToString(round));
  const Damage& damage = *round.damage;
  const bool at_rest = round.finder == Finder::kRestart;
  // Nothing is in memory: it knows headers and records.
  ASSERT_OK(server_.Stop());
  if (at_rest) Harm(round);
  ASSERT_OK(Start(round.finder == Finder::kScrubber));
  if (!at_rest) Harm(round);
  if (round.finder == Finder::kScrubber) {
    EXPECT_TRUE(Await(kPatience, [&] {
      return server_.BadFiles() == damage.files;
    })) << server_.output();
  }
  int lost = CountLost(round);
  // A get does not read what stands in front of the bytes: a restart does.
  if (round.finder == Finder::kGet && lost == 0) {
    EXPECT_EQ(server_.BadFiles(), 0);
    ASSERT_OK(server_.Stop());
    ASSERT_OK(Start(/*scrub=*/false));
    lost = CountLost(round);
  }
  EXPECT_EQ(server_.BadFiles(), at_rest && damage.gone ? 0 : damage.files);
  // The scrubber writes again what the server knows, as all of a chunk's file
  // but its bytes. A swap may hit two chunks of one dataset.
  if (damage.folder == Folder::kChunks) {
    EXPECT_GE(lost, round.finder == Finder::kScrubber ? 0 : 1);
    EXPECT_LE(lost, damage.files);
  } else {
    EXPECT_EQ(lost,
              at_rest && damage.folder == Folder::kDatasets ? damage.files : 0);
  }
  PutAll();
  ExpectAllThere();
  RemoveSetAside();
  ASSERT_OK(server_.Stop());
  ASSERT_OK(Start(/*scrub=*/false));
  ExpectAllThere();
  EXPECT_EQ(server_.BadFiles(), 0);
  EXPECT_EQ(TemporaryFiles(folder_.path()), std::vector<std::string>());
}

TEST_F(DamageTest, IsFoundCountedNeverServedAndHealedByPuttingAgain) {
  ASSERT_OK(Start(/*scrub=*/false));
  PutAll();
  for (const Round& round : DrawRounds()) {
    RunRound(round);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hawser::testing
