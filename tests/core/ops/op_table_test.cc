// The op table of core/ops/README.md is the registry's. When this fails:
//   bazel run //core/ops:op_table
#include "core/ops/op_table.h"

#include <fstream>
#include <sstream>
#include <string>

#include "core/ops/registry.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(OpTable, ReadmeHoldsTheTableOfTheRegistry) {
  std::ifstream in("core/ops/README.md");
  std::stringstream text;
  text << in.rdbuf();
  ASSERT_TRUE(in) << "core/ops/README.md is not where the test runs";
  ASSERT_OK_AND_ASSIGN(const std::string want, WithOpTable(text.str()));
  EXPECT_TRUE(text.str() == want)
      << "the op table is stale; bazel run //core/ops:op_table";
}

TEST(OpTable, HasOneRowPerOpWithTwelveCells) {
  std::istringstream table(OpTable());
  std::string line;
  size_t rows = 0;
  while (std::getline(table, line)) {
    int bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    }
    EXPECT_EQ(bars, 13) << line;
    ++rows;
  }
  EXPECT_EQ(rows, AllOps().size() + 2);
}

TEST(OpTable, NeedsTheMarker) {
  EXPECT_THAT(WithOpTable("# core/ops\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, "op table"));
}

}  // namespace
}  // namespace hawser
