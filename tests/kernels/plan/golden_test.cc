// Kernels and bytes of graphs whose best plan is known, kernel by kernel. When
// this fails and the new plan is better, or the change is meant:
//   bazel run //tests/kernels/plan:golden_test
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string Report(const NamedGraph& graph, const Plan& plan,
                   const Target& target) {
  const PlanCost cost = CostOf(plan.entry(), target);
  return absl::StrCat(
      graph.name, ": ", cost.launches, " launches (ideal ",
      graph.ideal_launches, "), ", cost.bytes, " bytes (ideal ",
      graph.ideal_bytes, ", ratio ",
      absl::StrFormat("%.3f", static_cast<double>(cost.bytes) /
                                  static_cast<double>(graph.ideal_bytes)),
      ")\n", Explain(plan, target));
}

TEST(GoldenPlans, AreWhatTheyWere) {
  // Set by `bazel run`: write instead of compare.
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  for (const NamedGraph& graph : KnownGraphs()) {
    SCOPED_TRACE(graph.name);
    const Target target = GpuTarget();
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(graph.module, target));
    const std::string got = Report(graph, plan, target);
    const std::string path =
        absl::StrCat("tests/kernels/plan/golden/", graph.name, ".txt");
    if (workspace != nullptr) {
      std::ofstream(absl::StrCat(workspace, "/", path)) << got;
      continue;
    }
    EXPECT_EQ(ReadFile(path), got);
  }
}

}  // namespace
}  // namespace hawser::plan
