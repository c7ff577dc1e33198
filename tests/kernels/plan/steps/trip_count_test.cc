#include "core/ops/contraction/trip_count.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/kernels/plan/steps/host_run.h"

namespace hawser::plan {
namespace {

struct TripCase {
  const char* start;
  const char* step;
  const char* direction;
  const char* limit;
  int64_t turns;  // -1: not known
};

TEST(TripCount, OfCountersWithConstants) {
  const TripCase cases[] = {
      {"0", "1", "LT", "10", 10},     {"0", "3", "LT", "10", 4},
      {"10", "1", "LT", "10", 0},     {"0", "1", "LE", "10", 11},
      {"10", "-1", "GT", "0", 10},    {"10", "-3", "GE", "1", 4},
      {"0", "2", "NE", "10", 5},      {"0", "3", "NE", "10", -1},
      {"0", "-1", "LT", "10", -1},    {"0", "1", "EQ", "10", -1},
      {"0", "1", "LE", "127", -1},    {"-128", "1", "LT", "127", 255},
      {"100", "50", "LT", "120", -1}, {"3", "0", "LT", "2", 0},
  };
  for (const TripCase& c : cases) {
    const Module module = Parse(
        absl::StrCat("module \"m\"\ncomputation @0 \"more\" (%0: s8[]) {\n"
                     "  %1: s8[] = constant() value=s8[] {",
                     c.limit,
                     "}\n"
                     "  %2: bool[] = compare(%0, %1) direction=\"",
                     c.direction,
                     "\"\n"
                     "  return %2\n}\ncomputation @1 \"next\" (%0: s8[]) {\n"
                     "  %1: s8[] = constant() value=s8[] {",
                     c.step,
                     "}\n"
                     "  %2: s8[] = add(%1, %0)\n  return %2\n}\n"
                     "computation @2 \"main\" () {\n"
                     "  %0: s8[] = constant() value=s8[] {",
                     c.start,
                     "}\n"
                     "  %1: s8[] = while(%0) @0 @1\n  return %1\n}\n"));
    EXPECT_EQ(TripCount(module, 2, 1).value_or(-1), c.turns)
        << c.start << " + " << c.step << " " << c.direction << " " << c.limit;
  }
}

// (i, limit) -> i counted up to limit
constexpr char kCountText[] = R"(module "count"
computation @0 "more" (%0: s32[], %1: s32[]) {
  %2: bool[] = compare(%0, %1) direction="LT"
  return %2
}
computation @1 "next" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {1}
  %3: s32[] = add(%0, %2)
  return %3
}
computation @2 "main" (%0: s32[], %1: s32[]) {
  %2: s32[] = while(%0, %1) num_invariant=1 @0 @1
  return %2
}
)";

TEST(TripCount, OfALimitThatIsAnInvariant) {
  const std::string text = absl::StrReplaceAll(
      kCountText,
      {{"main\" (%0: s32[], %1: s32[]) {\n  %2: s32[] = while(%0",
        "main\" (%0: s32[]) {\n  %1: s32[] = constant() value=s32[] {6}\n"
        "  %2: s32[] = while(%1"}});
  // (limit unknown) the counter starts at a constant, the limit is given.
  EXPECT_EQ(TripCount(Parse(absl::StrReplaceAll(
                          text, {{"while(%1, %1)", "while(%1, %0)"}})),
                      2, 2),
            std::nullopt);
  EXPECT_EQ(TripCount(Parse(text), 2, 2), 0);
}

}  // namespace
}  // namespace hawser::plan
