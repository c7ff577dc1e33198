// Every case file of tests/vectors on every target, through the SDK where a
// case names a function of it. A failure names target, file and case.
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/cases/case_runner.h"
#include "gtest/gtest.h"
#include "tests/conformance/target.h"

namespace hawser {
namespace {

std::vector<std::string> Files() {
  auto files = cli::FindCaseFiles("tests/vectors");
  return files.ok() ? *files : std::vector<std::string>();
}

using Param = std::tuple<TargetRow, std::string>;
class VectorsTest : public ::testing::TestWithParam<Param> {};

TEST_P(VectorsTest, Hold) {
  const auto& [row, file] = GetParam();
  cli::CaseReport report;
  cli::RunCaseFile(file, SharedTarget(row).sdk(), &report);
  for (const cli::CaseFailure& failure : report.failures) {
    ADD_FAILURE() << row.name << ": " << failure.file << ": \"" << failure.name
                  << "\": " << failure.what;
  }
  EXPECT_GT(report.passed, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, VectorsTest,
    ::testing::Combine(
        ::testing::ValuesIn(TargetsThat(&TargetRow::compiles_quickly)),
        ::testing::ValuesIn(Files())),
    [](const ::testing::TestParamInfo<Param>& info) {
      return absl::StrCat(
          std::get<0>(info.param).name, "_",
          std::filesystem::path(std::get<1>(info.param)).stem().string());
    });

}  // namespace
}  // namespace hawser
