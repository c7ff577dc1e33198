#include "server/flags.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

TEST(ParseBytes, TakesBinaryUnitsInAnyCase) {
  const struct {
    const char* text;
    int64_t bytes;
  } rows[] = {
      {"0", 0},
      {"1000", 1000},
      {" 7 b ", 7},
      {"64KiB", 64 << 10},
      {"512M", 512 << 20},
      {"512 mb", 512 << 20},
      {"1.5GiB", int64_t{3} << 29},
      {"4194303T", int64_t{4194303} << 40},
  };
  for (const auto& row : rows) {
    ASSERT_OK_AND_ASSIGN(const int64_t bytes, ParseBytes(row.text));
    EXPECT_EQ(bytes, row.bytes) << row.text;
  }
}

TEST(ParseBytes, RefusesWhatIsNone) {
  for (const char* text : {"", "GiB", "5 ib", "5x", "5GiBx", "-1", "1.2.3",
                           "1e3", "4194304T"}) {
    EXPECT_THAT(ParseBytes(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "is no number of bytes (as 512MiB or 1.5GiB)"))
        << text;
  }
}

}  // namespace
}  // namespace hawser::server
