// Every case file of tests/vectors on a CPU that runs planned modules: as an op
// or a graph, and as whatever the SDK functions of a case record.
#include <memory>
#include <string>
#include <utility>

#include "client/cli/cases/case_runner.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "kernels/plan/plan.h"

namespace hawser::plan {
namespace {

// Compiles the plan of a module, printed and parsed, in its place.
class PlanningClient : public cpu::CpuClient {
 public:
  explicit PlanningClient(Target target)
      : CpuClient(cpu::CpuClientOptions()), target_(std::move(target)) {}

  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    HAWSER_ASSIGN_OR_RETURN(const Plan plan, MakePlan(*module, target_));
    HAWSER_ASSIGN_OR_RETURN(Module parsed,
                            ParseModule(Print(plan.module), FindOp));
    return CpuClient::Compile(std::make_shared<const Module>(std::move(parsed)),
                              options, call);
  }

 private:
  const Target target_;
};

void ExpectAllHold(const Target& target) {
  const Client client(std::make_shared<PlanningClient>(target));
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

TEST(PlannedVectors, HoldForTheGpuTarget) { ExpectAllHold(GpuTarget()); }
TEST(PlannedVectors, HoldForTheCpuTarget) { ExpectAllHold(CpuTarget()); }

}  // namespace
}  // namespace hawser::plan
