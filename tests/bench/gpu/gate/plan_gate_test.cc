// The gate: programs that JAX lowered, planned for a GPU at full
// size, without one. A line each: launches and bytes of a run in which each
// loop turns once, and what will be slow. A change of these files is to be
// read.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/stablehlo/lower/lower.h"
#include "client/stablehlo/text/reader.h"
#include "core/passes/optimize.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/gpu/program/library_target.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/verdict.h"
#include "tests/client/stablehlo/oracle_files.h"
#include "tests/testing/golden.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

constexpr char kPrograms[] = "tests/bench/gpu/gate/planned_programs.txt";

// Every argument read once, every result written once.
int64_t OwnBytes(const Module& module) {
  int64_t bytes = 0;
  for (const Shape& s : module.signature().parameters) bytes += s.byte_size();
  for (const Shape& s : module.signature().results) bytes += s.byte_size();
  return bytes;
}

// What a client and then a GPU make of it.
std::string Planned(absl::string_view name, const Module& module) {
  const auto optimized = Optimize(module, {.evaluate = cpu::EvaluateConstants});
  EXPECT_OK(optimized);
  if (!optimized.ok()) return "";
  const plan::Target target = gpu::TargetWithLibraries();
  const auto plan = plan::MakePlan(*optimized, target);
  EXPECT_OK(plan);
  if (!plan.ok()) return "";
  int64_t launches = 0, bytes = 0;
  std::string slow;
  for (const plan::ComputationPlan& c : plan->computations) {
    if (c.computation < 0) continue;
    const plan::PlanCost cost = CostOf(c, target);
    launches += cost.launches;
    bytes += cost.bytes;
    for (const plan::Region& r : c.regions) {
      const std::string verdict = VerdictOf(plan->module, r, target);
      if (verdict.empty()) continue;
      absl::StrAppend(&slow, "  ", RegionKindName(r.kind), ": ", verdict, "\n");
    }
  }
  return absl::StrFormat(
      "%s: %d launches, %.3f GB, %.2f of its own\n%s", name, launches,
      bytes * 1e-9,
      static_cast<double>(bytes) / std::max<int64_t>(1, OwnBytes(*optimized)),
      slow);
}

TEST(PlanGate, Programs) {
  const auto folder = stablehlo::OracleRoot(kPrograms) / "gpu_programs";
  const auto files = stablehlo::OraclePrograms(folder);
  if (files.empty()) {
    GTEST_SKIP() << folder << " has no files: name the folder above it by "
                 << "HAWSER_ORACLE";
  }
  std::string lines;
  for (const std::filesystem::path& file : files) {
    const std::string text = stablehlo::ContentsOf(file);
    const auto tree = stablehlo::ReadText(text);
    ASSERT_OK(tree) << file;
    const auto lowered = stablehlo::Lower(*tree, "main");
    ASSERT_OK(lowered) << file;
    lines += Planned(file.stem().string(), lowered->module);
  }
  ExpectGolden(kPrograms, lines);
}

}  // namespace
}  // namespace hawser::bench
