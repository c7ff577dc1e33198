#include "tests/e2e/kills/kill_rounds.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"

namespace hawser::testing {
std::ostream& operator<<(std::ostream& out, const KillRound& round) {
  return out << "round " << round.number << ": " << round.work->name
             << " cut off at " << round.moment
             << (round.fallback ? ", with a fallback" : "")
             << (round.restart_at_once ? ", server back at once" : "")
             << ", values of seed " << round.seed;
}

std::vector<KillRound> DrawRounds(uint64_t salt) {
  const uint64_t seed = FromEnvironment("HAWSER_SEED", 20261121) + salt;
  std::mt19937_64 random(seed);
  const auto& works = AllKillWorks();
  std::vector<KillRound> rounds(FromEnvironment("HAWSER_KILL_ROUNDS", 20) / 2);
  for (size_t i = 0; i < rounds.size(); ++i) {
    rounds[i].work = &works[i % works.size()];
  }
  std::shuffle(rounds.begin(), rounds.end(), random);
  for (size_t i = 0; i < rounds.size(); ++i) {
    rounds[i].number = static_cast<int>(i);
    rounds[i].seed = 1000 * (salt + 1) + i;
    rounds[i].moment = std::uniform_real_distribution<double>(0, 1.1)(random);
    rounds[i].fallback = random() % 2 == 0;
    rounds[i].restart_at_once = random() % 2 == 0;
  }
  return rounds;
}

void ExpectAllThere(const std::string& address,
                    const std::vector<DurablePut>& puts) {
  const auto client = Connect({.servers = {address}, .fallback = Client()});
  ASSERT_TRUE(client.ok()) << client.status();
  for (const DurablePut& put : puts) {
    const absl::Status there = CheckPut(*client, put.token, put.seed);
    EXPECT_TRUE(there.ok()) << put.token << ": " << there;
  }
}

void ExpectListedAreWhole(const std::string& address,
                          std::set<std::string>* seen) {
  const auto client = Connect({.servers = {address}, .fallback = Client()});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto listed = client->List();
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const DatasetInfo& info : *listed) {
    if (!seen->insert(info.token).second) continue;
    const absl::Status whole = FetchWhole(*client, info);
    EXPECT_TRUE(whole.ok()) << whole;
  }
}

int64_t PutOnceMore(const std::string& address, const std::string& data_dir,
                    uint64_t seed) {
  const auto client = Connect({.servers = {address}, .fallback = Client()});
  EXPECT_TRUE(client.ok()) << client.status();
  if (!client.ok()) return 0;
  const auto arrays = ArraysToPut(seed);
  int64_t missing = 0;
  for (const ArrayManifest& array : ManifestOf({arrays}, 1).arrays) {
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      if (!std::filesystem::exists(
              absl::StrCat(data_dir, "/chunks/", array.chunks[i].ToHex()))) {
        missing += array.chunk_size(i);
      }
    }
  }
  const auto put = client->Put(arrays);
  EXPECT_TRUE(put.ok()) << put.status();
  if (!put.ok()) return 0;
  EXPECT_LE(put->info().sent_bytes, missing);
  return missing - put->info().sent_bytes;
}

}  // namespace hawser::testing
