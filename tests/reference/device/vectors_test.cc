// Every case file of tests/vectors on the reference: as an op or a graph, and
// as whatever the SDK functions of a case record.
#include <memory>
#include <string>

#include "client/cli/cases/case_runner.h"
#include "gtest/gtest.h"
#include "tests/reference/device/reference_client.h"

namespace hawser::reference {
namespace {

TEST(ReferenceVectors, Hold) {
  const Client client(std::make_shared<ReferenceClient>());
  const auto files = cli::FindCaseFiles("tests/vectors");
  ASSERT_TRUE(files.ok()) << files.status();
  cli::CaseReport report;
  for (const std::string& file : *files) {
    cli::RunCaseFile(file, client, &report);
  }
  for (const cli::CaseFailure& failure : report.failures) {
    ADD_FAILURE() << failure.file << ": \"" << failure.name
                  << "\": " << failure.what;
  }
  EXPECT_GT(report.passed, 1000);
}

}  // namespace
}  // namespace hawser::reference
