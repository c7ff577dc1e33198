// The kernels of known graphs through NVRTC, where there is one: they compile
// for sm_90, and all that they keep stays in registers.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/cuda/nvrtc.h"
#include "kernels/dialect/dialect.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using plan::RegionKind;

// Of every region of `module` that launches something, by name.
std::map<std::string, std::string> TextsOf(const Module& module, bool strict) {
  std::map<std::string, std::string> texts;
  const auto plan = plan::MakePlan(module, plan::GpuTarget());
  EXPECT_OK(plan);
  for (const plan::Region& region : plan->entry().regions) {
    if (region.kind == RegionKind::kNone || region.kind == RegionKind::kView ||
        region.kind == RegionKind::kConstant) {
      continue;
    }
    const auto kernels = EmitRegion(plan->module, region, {.strict = strict});
    EXPECT_OK(kernels) << region.ToString();
    if (!kernels.ok()) continue;
    for (const EmittedKernel& k : *kernels) texts[k.name] = k.text;
  }
  return texts;
}

class KnownGraphs : public testing::TestWithParam<bool> {};

TEST_P(KnownGraphs, CompileWithoutSpills) {
  auto nvrtc = cuda::Nvrtc::Open(cuda::LibraryPlaces::FromEnvironment());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status();
  std::map<std::string, std::string> texts;
  for (const plan::NamedGraph& graph : plan::KnownGraphs()) {
    texts.merge(TextsOf(graph.module, GetParam()));
  }
  std::string all;
  for (const auto& [name, text] : texts) all += text;
  ASSERT_OK_AND_ASSIGN(
      const KernelBinary binary,
      (*nvrtc)->Compile("known.cu", dialect::DeviceSource("known.cu", all),
                        "sm_90", {.strict = GetParam()}));
  EXPECT_EQ(binary.log, "");
  EXPECT_EQ(binary.kernels.size(), texts.size());
  for (const KernelResources& kernel : binary.kernels) {
    EXPECT_EQ(kernel.spill_bytes, 0) << texts[kernel.name];
    EXPECT_EQ(kernel.stack_bytes, 0) << texts[kernel.name];
  }
}

INSTANTIATE_TEST_SUITE_P(Numerics, KnownGraphs, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Strict" : "Fast";
                         });

}  // namespace
}  // namespace hawser::gpu
