// The workloads at a size that the emulator runs: each comes, and computes what
// the CPU computes.
#include "tests/bench/gpu/gpu_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/all_of.h"
#include "core/base/values/literal.h"
#include "kernels/cpu/client/cpu_client.h"
#include "kernels/emu/emu_device.h"
#include "kernels/gpu/gpu_client.h"
#include "tests/bench/gpu/workloads.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr int64_t kShrink = 256;  // 4096 becomes 16

// Two strict runs, the second over what the first carried on.
absl::StatusOr<std::vector<Literal>> RunTwice(const Workload& workload,
                                              runtime::Client* client) {
  HAWSER_ASSIGN_OR_RETURN(Module module, ModuleOf(workload));
  HAWSER_ASSIGN_OR_RETURN(WorkloadRun run, WorkloadRun::Make(workload, client));
  HAWSER_RETURN_IF_ERROR(
      run.Compile(std::make_shared<const Module>(std::move(module)),
                  runtime::Numerics::kStrict));
  HAWSER_RETURN_IF_ERROR(run.Time(2));
  HAWSER_RETURN_IF_ERROR(run.CheckFinite());
  std::vector<Future<Literal>> values;
  for (const auto& result : run.results()) values.push_back(result->Fetch({}));
  return AllOf(std::move(values)).Await();
}

class WorkloadTest : public ::testing::TestWithParam<Workload> {
 protected:
  static void SetUpTestSuite() {
    auto made = gpu::GpuClient::Make(emu::MakeEmuDevice({.seed = 1}), {});
    ASSERT_OK(made);
    gpu_ = *std::move(made);
  }
  static void TearDownTestSuite() { gpu_.reset(); }

  static std::shared_ptr<gpu::GpuClient> gpu_;
};
std::shared_ptr<gpu::GpuClient> WorkloadTest::gpu_;

// Both round after every step; sums differ by their order alone.
TEST_P(WorkloadTest, ComputesWhatTheCpuComputes) {
  const Workload& workload = GetParam();
  const auto cpu = cpu::MakeCpuClient();
  ASSERT_OK_AND_ASSIGN(const auto got, RunTwice(workload, gpu_.get()));
  ASSERT_OK_AND_ASSIGN(const auto want, RunTwice(workload, cpu.get()));
  ASSERT_EQ(got.size(), want.size());
  for (size_t r = 0; r < got.size(); ++r) {
    const bool is_half = want[r].shape().dtype() == DType::kBF16;
    // Running sums pass 0 again and again.
    const bool passes_zero = workload.name == "cumsum_f32";
    const Tolerance tolerance = is_half ? Tolerance{.atol = 1e-6, .ulp = 2}
                                : passes_zero
                                    ? Tolerance{.atol = 1e-5}
                                    : Tolerance{.atol = 1e-6, .rtol = 1e-6};
    EXPECT_THAT(got[r], LiteralNear(want[r], tolerance)) << "result " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadTest,
                         ::testing::ValuesIn(Workloads(kShrink)),
                         [](const auto& info) { return info.param.name; });

TEST(WorkloadsTest, AreThePeersToo) {
  std::ifstream file("tests/bench/gpu/peers.py");
  const std::string peers{std::istreambuf_iterator<char>(file), {}};
  for (const Workload& w : Workloads(1)) {
    EXPECT_THAT(peers,
                HasSubstr(absl::StrCat("(", w.row, ", \"", w.name, "\", ",
                                       w.is_latency ? "True" : "False", ")")));
  }
}

// Everything runs, and says how it went.
TEST(GpuBenchTest, HasALineForEveryWorkload) {
  GpuBenchOptions options;
  options.shrink = kShrink;
  options.measure = {
      .group = absl::ZeroDuration(), .groups = 1, .single_runs = 1};
  std::set<int> rows;
  std::vector<GpuBenchLine> lines;
  ASSERT_OK(RunGpuBench(emu::MakeEmuDevice({.seed = 2}), options,
                        [&](const GpuBenchLine& line) {
                          rows.insert(line.row);
                          lines.push_back(line);
                        }));
  EXPECT_THAT(rows, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14,
                                         15, 16));
  for (const GpuBenchLine& line : lines) {
    SCOPED_TRACE(ToJson(line));
    EXPECT_GT(line.bytes, 0);
    EXPECT_OK(line.status);
    EXPECT_GT(line.measured.run, absl::ZeroDuration());
    if (line.who != "hawser") continue;
    EXPECT_GT(line.counts.launches + line.counts.products, 0);
    if (line.name != "small_graph_f32") continue;
    EXPECT_EQ(line.counts.launches, 1);
  }
}

TEST(GpuBenchTest, RunsWhatItIsAskedForWhileThereIsTime) {
  GpuBenchOptions options;
  options.shrink = kShrink;
  options.only = "softmax";
  options.limit = absl::ZeroDuration();
  std::vector<std::string> texts;
  ASSERT_OK(RunGpuBench(
      emu::MakeEmuDevice({.seed = 3}), options,
      [&](const GpuBenchLine& line) { texts.push_back(ToJson(line)); }));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], R"({"row":2,"name":"softmax_bf16","who":"hawser",)"
                      R"("bytes":0,"flops":0,"skipped":"no time left"})");
}

}  // namespace
}  // namespace hawser::bench
