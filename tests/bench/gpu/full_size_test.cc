// The workloads as a GPU gets them: their sizes, and their kernels through
// NVRTC where there is one. Nothing runs.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/compile/nvrtc.h"
#include "kernels/dialect/dialect.h"
#include "kernels/gpu/program/program.h"
#include "kernels/plan/plan.h"
#include "tests/bench/gpu/workloads.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

TEST(WorkloadsTest, HaveTheDesignsSizes) {
  struct Size {
    double gigabytes, teraflops;
  };
  const std::map<std::string, Size> design = {
      {"chain10_1in", {2.15, 0}},
      {"chain10_2in", {3.22, 0}},
      {"softmax_bf16", {0.27, 0}},
      {"layernorm_backward_bf16", {0.40, 0}},
      {"reduce_row_f32", {1.07, 0}},
      {"gemm_bf16_4096", {0.10, 0.137}},
      {"gemm_f32_8192", {0.81, 1.10}},
      {"gemm_bias_gelu_bf16", {0.47, 1.10}},
      // Two products forward, three backward: none wants x's gradient.
      {"mlp_sgd_bf16", {0.67, 5.50}},
  };
  size_t compared = 0;
  for (const Workload& w : Workloads(1)) {
    const auto size = design.find(w.name);
    if (size == design.end()) continue;
    SCOPED_TRACE(w.name);
    ++compared;
    ASSERT_OK_AND_ASSIGN(const Module module, ModuleOf(w));
    EXPECT_NEAR(IdealBytes(module) * 1e-9, size->second.gigabytes, 0.01);
    EXPECT_NEAR(ProductFlops(module) * 1e-12, size->second.teraflops, 0.01);
  }
  EXPECT_EQ(compared, design.size());
}

// Every module of a bench: workloads, their arguments, the look at results.
absl::StatusOr<std::vector<Module>> AllModules() {
  std::vector<Module> modules;
  const auto add = [&](absl::StatusOr<Module> module) -> absl::Status {
    HAWSER_RETURN_IF_ERROR(module);
    modules.push_back(*std::move(module));
    return absl::OkStatus();
  };
  std::set<std::string> shapes;
  for (const Workload& w : Workloads(1)) {
    HAWSER_RETURN_IF_ERROR(add(ModuleOf(w)));
    const std::vector<Shape> results = modules.back().signature().results;
    for (const Input& input : w.inputs) {
      if (!shapes.insert(input.shape.ToString()).second) continue;
      HAWSER_RETURN_IF_ERROR(add(RandomModule(input.shape)));
    }
    for (const Shape& shape : results) {
      HAWSER_RETURN_IF_ERROR(add(FiniteModule(shape)));
    }
  }
  return modules;
}

// A GPU's program, all of whose products the library takes.
absl::StatusOr<gpu::Program> ProgramOf(const Module& module) {
  HAWSER_ASSIGN_OR_RETURN(const plan::Plan plan,
                          plan::MakePlan(module, plan::GpuTarget()));
  return gpu::MakeProgram(
      plan, {.multiprocessors = 132, .plan_call = [](const gpu::LibraryCall&) {
               return absl::OkStatus();
             }});
}

TEST(FullSizeTest, KernelsCompileWithoutSpills) {
  auto nvrtc = cuda::Nvrtc::Open(cuda::LibraryPlaces::FromEnvironment());
  ASSERT_OK_AND_ASSIGN(const std::vector<Module> modules, AllModules());
  std::map<std::string, std::string> texts;  // by name
  for (const Module& module : modules) {
    SCOPED_TRACE(module.name());
    ASSERT_OK_AND_ASSIGN(const gpu::Program program, ProgramOf(module));
    // None of them needs the host while it runs.
    EXPECT_FALSE(program.blocks);
    for (const gpu::EmittedKernel& k : program.kernels) texts[k.name] = k.text;
  }
  EXPECT_GT(texts.size(), 20u);
  if (!nvrtc.ok()) GTEST_SKIP() << "no NVRTC here: " << nvrtc.status();
  std::string all;
  for (const auto& [name, text] : texts) all += text;
  ASSERT_OK_AND_ASSIGN(
      const gpu::KernelBinary binary,
      (*nvrtc)->Compile("all.cu", dialect::DeviceSource("all.cu", all), "sm_90",
                        {}));
  EXPECT_EQ(binary.kernels.size(), texts.size());
  for (const gpu::KernelResources& k : binary.kernels) {
    EXPECT_EQ(k.spill_bytes, 0) << texts[k.name];
  }
}

}  // namespace
}  // namespace hawser::bench
