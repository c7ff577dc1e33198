// The checker itself: histories of which it is known whether they can be.
#include "tests/e2e/history/history.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hawser::testing {
namespace {

constexpr int64_t kNever = Call::kNever;

struct Row {
  const char* name;
  bool linearizable;
  std::vector<Call> calls;
};

const std::vector<Row>& Rows() {
  constexpr auto kRead = Call::kRead;
  constexpr auto kWrite = Call::kWrite;
  constexpr auto kSwap = Call::kSwap;
  static const auto& rows = *new std::vector<Row>{
      {"nothing", true, {}},
      {"the first value", true, {{kRead, "0", "", 1, 2}}},
      {"a value from nowhere", false, {{kRead, "1", "", 1, 2}}},
      {"read after write",
       true,
       {{kWrite, "1", "", 1, 2}, {kRead, "1", "", 3, 4}}},
      {"a lost write",
       false,
       {{kWrite, "1", "", 1, 2}, {kRead, "0", "", 3, 4}}},
      {"both during a write",
       true,
       {{kWrite, "1", "", 1, 9},
        {kRead, "0", "", 2, 3},
        {kRead, "1", "", 4, 5}}},
      {"seen and taken back",
       false,
       {{kWrite, "1", "", 1, 9},
        {kRead, "1", "", 2, 3},
        {kRead, "0", "", 4, 5}}},
      // G4: no answer, seen, and gone after the restart.
      {"unanswered, seen and taken back",
       false,
       {{kWrite, "1", "", 1, kNever},
        {kRead, "1", "", 2, 3},
        {kRead, "0", "", 4, 5}}},
      {"unanswered and never seen",
       true,
       {{kWrite, "1", "", 1, kNever}, {kRead, "0", "", 4, 5}}},
      {"unanswered and seen late",
       true,
       {{kWrite, "1", "", 1, kNever},
        {kRead, "0", "", 2, 3},
        {kRead, "1", "", 8, 9}}},
      {"seen before it was asked for",
       false,
       {{kRead, "1", "", 1, 2}, {kWrite, "1", "", 3, kNever}}},
      {"two swaps of one value",
       false,
       {{kSwap, "1", "0", 1, 9}, {kSwap, "2", "0", 2, 8}}},
      {"a chain of swaps",
       true,
       {{kSwap, "2", "1", 1, 9}, {kSwap, "1", "0", 2, 8}}},
      {"a swap of what was overwritten",
       false,
       {{kWrite, "1", "", 1, 2}, {kSwap, "2", "0", 3, 4}}},
      {"refused by what is taken back",
       false,
       {{kSwap, "1", "0", 1, kNever},
        {kRead, "1", "", 2, 3},
        {kSwap, "2", "0", 4, 5}}},
  };
  return rows;
}

TEST(History, SaysWhatCanBeOneAfterTheOther) {
  for (const Row& row : Rows()) {
    EXPECT_EQ(IsLinearizable(row.calls, "0"), row.linearizable) << row.name;
  }
}

}  // namespace
}  // namespace hawser::testing
