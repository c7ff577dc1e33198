#include "server/idle_memory.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hawser::server {
namespace {

constexpr int64_t kMiB = 1 << 20;

// One second: how busy it was, in percent of a core, what is resident at its
// end, and whether memory is given back then.
struct Second {
  int busy = 0;
  int64_t resident = 0;
  bool trims = false;
};

struct IdleRow {
  const char* name;
  std::vector<Second> seconds;
};

const std::vector<IdleRow>& IdleRows() {
  static const auto& rows = *new std::vector<IdleRow>{
      {"AStart", {{90, 20}, {0, 20}, {0, 20}}},
      {"OnceAfterWork", {{0, 20}, {90, 300}, {0, 300, true}, {0, 90}, {0, 90}}},
      {"AgainAfterMoreWork",
       {{0, 20}, {90, 300}, {0, 300, true}, {90, 300}, {0, 300, true}}},
      // G9: a quiet second during the work set a mark that nothing lowered.
      {"AQuietSecondInBetween",
       {{0, 20},
        {99, 400},
        {1, 400, true},
        {99, 400},
        {99, 380},
        {0, 311, true},
        {0, 93},
        {0, 93}}},
      {"LittleMemoryIsGivenBackToo", {{0, 20}, {50, 21}, {0, 21, true}}},
      {"LittleWorkThatAddsUp",
       {{0, 20}, {3, 25}, {3, 30}, {3, 37, true}, {3, 38}, {3, 40}}},
      {"TheMarkFollowsDown",
       {{0, 200}, {3, 100}, {3, 115}, {3, 117, true}, {0, 117}}},
      {"AlwaysBusy", {{0, 20}, {90, 400}, {60, 500}, {10, 500}, {99, 600}}},
      {"NothingIsDone", {{0, 20}, {0, 20}, {0, 20}, {0, 20}, {0, 20}}},
      {"TwoIdlePeriods",
       {{0, 20},
        {90, 50},
        {0, 50, true},
        {0, 30},
        {90, 60},
        {0, 60, true},
        {0, 30},
        {0, 30}}},
  };
  return rows;
}

TEST(IdleMemory, IsGivenBackOncePerIdlePeriod) {
  size_t seconds = 0;
  for (const IdleRow& row : IdleRows()) {
    absl::Time now = absl::UnixEpoch();
    absl::Duration used = absl::Seconds(5);
    int64_t resident = 0;
    int trims = 0, let_go = 0;
    IdleMemory memory([&] { ++let_go; },
                      {[&] { return now; }, [&] { return used; },
                       [&] { return resident; }, [&] { ++trims; }});
    for (size_t i = 0; i < row.seconds.size(); ++i) {
      const Second& second = row.seconds[i];
      now += absl::Seconds(1);
      used += second.busy * absl::Milliseconds(10);
      resident = second.resident * kMiB;
      const int before = trims;
      memory.Look();
      EXPECT_EQ(trims - before, second.trims ? 1 : 0) << row.name << " " << i;
      EXPECT_EQ(let_go, trims) << row.name;
    }
    seconds += row.seconds.size();
  }
  std::cout << IdleRows().size() << " courses of " << seconds << " seconds\n";
}

}  // namespace
}  // namespace hawser::server
