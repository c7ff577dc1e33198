#include "tests/e2e/kill_rounds.h"

#include <stdlib.h>

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/hawser.h"
#include "core/base/status.h"
#include "gtest/gtest.h"

namespace hawser::testing {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  uint64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

}  // namespace

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

std::string NewDataFolder(absl::string_view name) {
  std::string folder = absl::StrCat(::testing::TempDir(), "/", name, ".XXXXXX");
  HAWSER_CHECK(mkdtemp(folder.data()) != nullptr);
  return folder;
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

}  // namespace hawser::testing
