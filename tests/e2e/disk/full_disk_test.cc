// A server whose disk is full says so and goes on; what it called durable is
// there after a restart, and nothing that is there is less than it was.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/e2e/disk/small_disk.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process_counts.h"

namespace hawser::testing {
namespace {

constexpr int64_t kDiskBytes = 16 << 20;
constexpr int64_t kPage = 4096;
constexpr int64_t kChunk = 4 << 20;

// What is put when so many pages are left. A chunk takes one page and its
// bytes, a record or names one.
struct Round {
  uint64_t seed = 0;
  int64_t bytes = 0;
  int64_t pages = 0;
  bool kill = false;  // by -9, before the restart
};
std::ostream& operator<<(std::ostream& out, const Round& round) {
  return out << "HAWSER_SEED=" << round.seed << ": " << round.bytes
             << " bytes into " << round.pages << " pages"
             << (round.kill ? ", killed" : "");
}

// From no page at all to a few more than it takes.
std::vector<Round> DrawRounds() {
  const uint64_t seed = FromEnvironment("HAWSER_SEED", 20261122);
  std::mt19937_64 random(seed);
  std::vector<Round> rounds(FromEnvironment("HAWSER_FULL_DISK_ROUNDS", 16));
  for (Round& round : rounds) {
    const int64_t sizes[] = {100, 3 * kPage + 1, kChunk, kChunk + 1,
                             2 * kChunk + 5};
    round.seed = seed;
    round.bytes = sizes[random() % std::size(sizes)];
    const int64_t chunks = (round.bytes + kChunk - 1) / kChunk;
    const int64_t most = round.bytes / kPage + chunks + 4;
    // As often near the end, where it is records that do not fit.
    round.pages = random() % 2 == 0
                      ? static_cast<int64_t>(random() % (most + 1))
                      : most - static_cast<int64_t>(random() % 6);
    round.kill = random() % 2 == 0;
  }
  return rounds;
}

class FullDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto disk = SmallDisk::Make(kDiskBytes);
    if (!disk.ok()) {
      GTEST_SKIP() << "no file system can be mounted here: " << disk.status();
    }
    disk_ = *std::move(disk);
  }
  // A new server over the disk, which is empty at the first time.
  void Start(std::vector<std::string> flags = {"--disk_reserve=0"}) {
    if (server_ == nullptr) {
      server_ =
          std::make_unique<DataServer>(disk_->inside(), disk_->Launcher());
    }
    ASSERT_OK(server_->Start(std::move(flags)));
  }
  const Client& client() { return server_->client(); }
  absl::StatusOr<DatasetInfo> Put(int64_t bytes, uint64_t seed) {
    const auto put = client().Put({{"", SeededBytes(bytes, seed)}});
    if (!put.ok()) return put.status();
    EXPECT_TRUE(put->info().durable);
    return put->info();
  }
  // The server may still be letting go of what it has just sent: a file in use
  // stays until the next sweep, a second later.
  absl::StatusOr<DatasetInfo> PutOnceThereIsRoom(int64_t bytes, uint64_t seed) {
    auto put = Put(bytes, seed);
    for (int i = 0; i < 100 && absl::IsResourceExhausted(put.status()); ++i) {
      absl::SleepFor(absl::Milliseconds(50));
      put = Put(bytes, seed);
    }
    return put;
  }
  // OK, or that there is no room.
  static void ExpectNoRoom(const absl::Status& status) {
    if (status.ok()) return;
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "No space left on device"))
        << status;
  }
  // A step on a dataset.
  void ExpectComputes(const DatasetInfo& info) {
    ASSERT_OK_AND_ASSIGN(const Dataset data, client().Dataset(info.token));
    auto sum = Jit([](Tensor x) {
                 return Sum(Convert(x, DType::kS64));
               }).With({.client = client()});
    ASSERT_OK_AND_ASSIGN(const Tensor result, sum(data()));
    ASSERT_OK_AND_ASSIGN(const Literal got, result.Fetch());
    ASSERT_OK_AND_ASSIGN(const Literal bytes, data().Fetch());
    int64_t want = 0;
    for (const uint8_t byte : bytes.data<uint8_t>()) want += byte;
    EXPECT_EQ(got.data<int64_t>()[0], want);
  }
  // Everything listed is what its name says; the tokens.
  std::vector<std::string> ExpectListedAreWhole() {
    std::vector<std::string> tokens;
    const auto listed = client().List();
    EXPECT_OK(listed);
    if (!listed.ok()) return tokens;
    for (const DatasetInfo& info : *listed) {
      EXPECT_OK(FetchWhole(client(), info));
      tokens.push_back(info.token);
    }
    EXPECT_EQ(TemporaryFiles(disk_->outside()), std::vector<std::string>());
    return tokens;
  }
  void RunRound(const Round& round);

  std::unique_ptr<SmallDisk> disk_;
  std::unique_ptr<DataServer> server_;
  int puts_ = 0, refused_puts_ = 0, refused_tags_ = 0;
};

void FullDiskTest::RunRound(const Round& round) {
  SCOPED_TRACE(::testing::PrintToString(round));
  Start();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo old, Put(100000, 1));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo goes, Put(200000, 2));
  ASSERT_OK(client().Tag({.name = "@old", .token = old.token}));
  disk_->LeavePages(round.pages);
  // What comes now fits or does not; each time it says so.
  const auto put = Put(round.bytes, 3);
  ExpectNoRoom(put.status());
  put.ok() ? ++puts_ : ++refused_puts_;
  const absl::Status tagged =
      client().Tag({.name = "@goes", .token = goes.token});
  ExpectNoRoom(tagged);
  if (!tagged.ok()) ++refused_tags_;
  ExpectNoRoom(client().Pin(old.token).status());
  ExpectComputes(old);
  ExpectListedAreWhole();
  // What is deleted makes room, for something smaller.
  ASSERT_OK(client().Delete(goes.token));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo small, PutOnceThereIsRoom(1000, 4));
  ASSERT_OK(client().Tag({.name = "@small", .token = small.token}));
  if (round.kill) {
    server_->Kill();
  } else {
    ASSERT_OK(server_->Stop());
  }
  Start();
  EXPECT_EQ(server_->BadFiles(), 0);
  const std::vector<std::string> listed = ExpectListedAreWhole();
  for (const DatasetInfo& info : {old, small}) {
    EXPECT_EQ(std::count(listed.begin(), listed.end(), info.token), 1);
  }
  if (put.ok()) {
    EXPECT_EQ(std::count(listed.begin(), listed.end(), put->token), 1);
  }
  for (const char* tag : {"@old", "@small"}) EXPECT_OK(client().Dataset(tag));
  // There is room again.
  disk_->GiveBack();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo again, Put(round.bytes, 3));
  EXPECT_OK(FetchWhole(client(), again));
  for (const DatasetInfo& info : {old, small, again}) {
    EXPECT_OK(client().Delete(info.token));
  }
  ASSERT_OK(server_->Stop());
}

TEST_F(FullDiskTest, SaysSoGoesOnAndKeepsWhatItPromised) {
  for (const Round& round : DrawRounds()) {
    RunRound(round);
    if (HasFatalFailure()) return;
  }
  // The rounds were worth it.
  EXPECT_GT(puts_, 0);
  EXPECT_GT(refused_puts_, 0);
  EXPECT_GT(refused_tags_, 0);
}

// The reserve is asked for before a byte is taken.
TEST_F(FullDiskTest, TheReserveIsKept) {
  Start({"--disk_reserve=12MiB"});
  ASSERT_OK(Put(1000, 1));
  const auto put = Put(3 * kChunk, 2);
  EXPECT_THAT(put, StatusIs(absl::StatusCode::kResourceExhausted,
                            "reserve of 12582912 bytes"));
  ExpectListedAreWhole();
  EXPECT_OK(Put(2000, 3));
}

}  // namespace
}  // namespace hawser::testing
