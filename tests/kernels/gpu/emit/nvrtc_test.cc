// The kernels of known and of random graphs through NVRTC, where there is one:
// they compile, what they keep stays in registers, and what the planner calls a
// vector is one instruction.
#include "kernels/cuda/compile/nvrtc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "kernels/dialect/dialect.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/emit/block_graphs.h"
#include "tests/kernels/gpu/emit/random_graphs.h"
#include "tests/kernels/gpu/emit/sample_graphs.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using plan::RegionKind;
using Texts = std::map<std::string, std::string>;  // of kernels, by name

// $HAWSER_NVRTC_TARGETS, with commas between them.
std::vector<std::string> Targets() {
  const char* targets = std::getenv("HAWSER_NVRTC_TARGETS");
  return absl::StrSplit(targets != nullptr ? targets : "sm_90", ',');
}

// Of every region of the entry that launches something.
void AddTexts(const plan::Plan& plan, const EmitOptions& options,
              Texts* texts) {
  for (const plan::Region& region : plan.entry().regions) {
    if (region.kind == RegionKind::kNone || region.kind == RegionKind::kView ||
        region.kind == RegionKind::kConstant || !CanEmit(plan.module, region)) {
      continue;
    }
    const auto kernels = EmitRegion(plan.module, region, options);
    EXPECT_OK(kernels) << region.ToString();
    if (!kernels.ok()) continue;
    for (const EmittedKernel& k : *kernels) (*texts)[k.name] = k.text;
  }
}

Texts KnownTexts(bool strict) {
  Texts texts;
  for (const plan::NamedGraph& graph : plan::KnownGraphs()) {
    const auto plan = plan::MakePlan(graph.module, plan::GpuTarget());
    EXPECT_OK(plan);
    if (plan.ok()) AddTexts(*plan, {.strict = strict}, &texts);
  }
  return texts;
}

Texts RandomTexts(bool strict) {
  Texts texts;
  for (int seed = 0; seed < NumGraphs(20); ++seed) {
    const auto graph = DrawGraph(seed, AllRegionOps());
    EXPECT_OK(graph);
    if (graph.ok()) AddTexts(graph->plan, {.strict = strict}, &texts);
  }
  return texts;
}

// Scans and sorts of every kind of kernel, at sizes where vectors are taken and
// where they are not, and scatters.
Texts BlockTexts(bool strict) {
  std::vector<Module> modules;
  for (const Dims& dims :
       {Dims{4, 65536}, Dims{70000, 33}, Dims{4095, 1000}, Dims{511, 16}}) {
    const int64_t axis = dims[0] > 4096 ? 0 : 1;
    modules.push_back(
        ScanModule(ScanBody::kSum, {DType::kF32}, dims, axis, false));
    modules.push_back(
        ScanModule(ScanBody::kLargest, {DType::kBF16}, dims, axis, true));
    modules.push_back(ScanModule(ScanBody::kRecurrence,
                                 {DType::kF64, DType::kF64}, dims, axis, true));
    modules.push_back(SortModule(SortBody::kDescending,
                                 {DType::kF32, DType::kS32}, dims, axis));
    modules.push_back(SortModule(SortBody::kLexicographic,
                                 {DType::kU8, DType::kF16}, dims, axis));
  }
  // Sorts by digits of each width, of one, of few and of many tiles.
  for (const DType key : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const Dims& dims : {Dims{4096}, Dims{10000, 7}, Dims{16 << 20}}) {
      for (const std::vector<DType>& others :
           {std::vector<DType>{}, {DType::kS32}, {DType::kF64}}) {
        std::vector<DType> dtypes = others;
        dtypes.insert(dtypes.begin(), key);
        modules.push_back(SortModule(SortBody::kDescending, dtypes, dims, 0));
      }
    }
  }
  // Selections, of parts of a row and of rows, by keys of each width.
  for (const DType key : {DType::kU8, DType::kF16, DType::kF32, DType::kF64}) {
    for (const Dims& dims : {Dims{2, 131072}, Dims{500, 5000}}) {
      modules.push_back(FirstOfSortModule(SortBody::kDescending,
                                          {key, DType::kS32}, dims, 50));
    }
  }
  // Scatters whose threads meet.
  for (const DType dtype :
       {DType::kS32, DType::kU32, DType::kS64, DType::kU64, DType::kF32}) {
    for (const OpDef* fold : {&kAdd, &kMaximum, &kMinimum}) {
      modules.push_back(ScatteredRows(dtype, *fold));
    }
  }
  Texts texts;
  for (const Module& module : modules) {
    const auto plan = plan::MakePlan(module, plan::GpuTarget());
    EXPECT_OK(plan);
    if (plan.ok()) AddTexts(*plan, {.strict = strict}, &texts);
  }
  return texts;
}

// Products with a tail, of each dtype that matrix instructions have, in tiles
// of each size, along the sum and across it.
Texts ProductTexts(bool strict) {
  Texts texts;
  for (const DType dtype :
       {DType::kBF16, DType::kF16, DType::kF32, DType::kF64}) {
    for (const int64_t n : {33, 801, 1601, 1602}) {
      const Module straight = Build({{{n, n}, {n, n}, {n}}, Product}, dtype);
      const Module turned =
          Build({{{n, n}, {n, n}, {n}},
                 [](const Values& p) {
                   return Product({Transposed(p[0], {1, 0}),
                                   Transposed(p[1], {1, 0}), p[2]});
                 }},
                dtype);
      for (const Module* module : {&straight, &turned}) {
        const auto plan = plan::MakePlan(*module, plan::GpuTarget());
        EXPECT_OK(plan);
        if (plan.ok()) {
          AddTexts(*plan, {.strict = strict, .tf32 = !strict}, &texts);
        }
      }
    }
  }
  return texts;
}

int CountMatches(const std::string& text, const std::regex& pattern) {
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), pattern),
                    std::sregex_iterator()));
}

// The parameter: strict.
class NvrtcTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto nvrtc = cuda::Nvrtc::Open(cuda::LibraryPlaces::FromEnvironment());
    if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status();
    nvrtc_ = *std::move(nvrtc);
  }

  absl::StatusOr<KernelBinary> Compile(const std::string& text,
                                       const std::string& target) const {
    return nvrtc_->Compile("test.cu", dialect::DeviceSource("test.cu", text),
                           target, {.strict = GetParam()});
  }

  // In programs of some kernels each. Calls `check` for every kernel.
  void CompileAll(
      const Texts& texts, const std::string& target,
      absl::FunctionRef<void(const KernelResources& kernel)> check) const {
    constexpr size_t kAtOnce = 64;
    std::string text;
    size_t taken = 0, left = texts.size();
    for (const auto& [name, kernel] : texts) {
      text += kernel;
      --left;
      if (++taken < kAtOnce && left > 0) continue;
      ASSERT_OK_AND_ASSIGN(const KernelBinary binary, Compile(text, target));
      EXPECT_EQ(binary.kernels.size(), taken);
      for (const KernelResources& k : binary.kernels) check(k);
      text.clear();
      taken = 0;
    }
  }

  std::unique_ptr<cuda::Nvrtc> nvrtc_;
};

TEST_P(NvrtcTest, KnownGraphsCompileWithoutSpills) {
  const Texts texts = KnownTexts(GetParam());
  EXPECT_GT(texts.size(), 10u);
  for (const std::string& target : Targets()) {
    CompileAll(texts, target, [&](const KernelResources& k) {
      EXPECT_EQ(k.spill_bytes, 0) << target << "\n" << texts.at(k.name);
      EXPECT_EQ(k.stack_bytes, 0) << target << "\n" << texts.at(k.name);
    });
  }
}

TEST_P(NvrtcTest, ScansSortsAndScattersCompileWithoutSpills) {
  const Texts texts = BlockTexts(GetParam());
  EXPECT_GT(texts.size(), 50u);
  for (const std::string& target : Targets()) {
    int compiled = 0;
    CompileAll(texts, target, [&](const KernelResources& k) {
      ++compiled;
      EXPECT_EQ(k.spill_bytes, 0) << target << "\n" << texts.at(k.name);
      EXPECT_EQ(k.stack_bytes, 0) << target << "\n" << texts.at(k.name);
    });
    EXPECT_EQ(compiled, static_cast<int>(texts.size()));
  }
}

TEST_P(NvrtcTest, MatrixProductsCompileWithoutSpills) {
  const Texts texts = ProductTexts(GetParam());
  EXPECT_GT(texts.size(), 20u);
  for (const std::string& target : Targets()) {
    int most = 0;
    CompileAll(texts, target, [&](const KernelResources& k) {
      if (!absl::StartsWith(k.name, "mma_")) return;
      EXPECT_EQ(k.spill_bytes, 0) << target << "\n" << texts.at(k.name);
      EXPECT_EQ(k.stack_bytes, 0) << target << "\n" << texts.at(k.name);
      most = std::max(most, k.registers);
    });
    std::cout << target << ": matrix products take up to " << most
              << " registers\n";
  }
}

TEST_P(NvrtcTest, AMatrixProductIsOneInstruction) {
  std::map<std::string, int> instructions;
  const std::regex mma("mma\\.sync\\.aligned\\.(m\\d+n8k\\d+)[.\\w]+");
  for (const auto& [name, text] : ProductTexts(GetParam())) {
    ASSERT_OK_AND_ASSIGN(const KernelBinary ptx, Compile(text, "compute_80"));
    for (std::sregex_iterator i(ptx.bytes.begin(), ptx.bytes.end(), mma), end;
         i != end; ++i) {
      ++instructions[i->str(1)];
    }
  }
  if (GetParam()) {
    EXPECT_TRUE(instructions.empty());
  } else {
    EXPECT_GT(instructions["m16n8k16"], 0);
    EXPECT_GT(instructions["m16n8k8"], 0);
    EXPECT_GT(instructions["m8n8k4"], 0);
  }
}

// What spills here does a lot at once: 20 values of f64, powers of powers.
TEST_P(NvrtcTest, RandomGraphsCompile) {
  const Texts texts = RandomTexts(GetParam());
  EXPECT_GT(texts.size(), 50u);
  for (const std::string& target : Targets()) {
    int compiled = 0, spilling = 0;
    CompileAll(texts, target, [&](const KernelResources& k) {
      ++compiled;
      spilling += k.spill_bytes > 0;
    });
    EXPECT_EQ(compiled, static_cast<int>(texts.size()));
    std::cout << target << ": " << compiled << " kernels, of which " << spilling
              << " spill\n";
  }
}

// Sixteen bytes: four words, two double words, more of what is smaller.
const char kVectorType[] =
    "Vector<((float|[us]32), 4|(double|[us]64), 2|(b?f16|[us]16), 8)> ";
const char kPtxVector[] = "\\.(v4\\.[bfsu]32|v2\\.[bfsu]64)";

TEST_P(NvrtcTest, AVectorIsOneInstruction) {
  const std::string type = kVectorType, wide = kPtxVector;
  const std::regex loads(type + "\\w+ = LoadVector"), stores(type + "\\w+;");
  const std::regex ptx_loads("ld\\.global(\\.nc)?" + wide);
  const std::regex ptx_stores("st\\.global" + wide);
  int vectors = 0;
  for (const auto& [name, text] : KnownTexts(GetParam())) {
    ASSERT_OK_AND_ASSIGN(const KernelBinary ptx, Compile(text, "compute_90"));
    const int reads = CountMatches(text, loads);
    const int writes = CountMatches(text, stores);
    EXPECT_GE(CountMatches(ptx.bytes, ptx_loads), reads) << text << ptx.bytes;
    EXPECT_GE(CountMatches(ptx.bytes, ptx_stores), writes) << text << ptx.bytes;
    vectors += reads + writes;
  }
  std::cout << vectors << " vectors of 16 bytes\n";
  EXPECT_GT(vectors, 20);
}

INSTANTIATE_TEST_SUITE_P(Numerics, NvrtcTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Strict" : "Fast";
                         });

}  // namespace
}  // namespace hawser::gpu
