// Every case file of tests/vectors on this machine's CPU: one test per file.

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "client/cli/cases/case_codec.h"
#include "client/cli/cases/case_runner.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"

namespace hawser::cli {
namespace {

std::vector<std::string> Files() {
  auto files = FindCaseFiles("tests/vectors");
  return files.ok() ? *files : std::vector<std::string>();
}

// One client for all files, as in a long-lived process.
const Client& Cpu() {
  static const auto& client = *new Client(cpu::MakeCpuClient());
  return client;
}

class VectorsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(VectorsTest, HoldOnTheCpu) {
  CaseReport report;
  RunCaseFile(GetParam(), Cpu(), &report);
  for (const CaseFailure& failure : report.failures) {
    ADD_FAILURE() << failure.file << ": \"" << failure.name
                  << "\": " << failure.what;
  }
  EXPECT_GT(report.passed, 0);
  RecordProperty("cases", report.passed);
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, VectorsTest, ::testing::ValuesIn(Files()), [](const auto& info) {
      return std::filesystem::path(info.param).stem().string();
    });

}  // namespace
}  // namespace hawser::cli
