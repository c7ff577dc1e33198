// Datasets over links and servers that fail: what a token names is what was put
// or frozen, whichever was cut off meanwhile; what is deleted is not found;
// lists agree with both; and a chunk counts only once verified.
#include <optional>

#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/schedules/dataset_schedule.h"
#include "tests/schedules/programs.h"
#include "tests/schedules/schedules.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

absl::Status RunDatasets(uint64_t seed) {
  // Every eighth server keeps its datasets on disk.
  std::optional<TemporaryFolder> folder;
  if (seed % 8 == 0) folder.emplace();
  return DatasetSchedule(seed, folder ? folder->path() : "").Run();
}

class DatasetSchedules : public testing::TestWithParam<int> {
 protected:
  // Its threads stay.
  static void SetUpTestSuite() { Reference::Shared(); }
};

TEST_P(DatasetSchedules, TokensNameWhatWasPut) {
  constexpr int kBlock = 100;
  RunSchedules(20000 + static_cast<uint64_t>(GetParam()) * kBlock, kBlock,
               RunDatasets);
}

INSTANTIATE_TEST_SUITE_P(Blocks, DatasetSchedules, testing::Range(0, 10));

}  // namespace
}  // namespace hawser
