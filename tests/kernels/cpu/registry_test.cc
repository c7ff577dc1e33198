#include "core/ops/registry.h"

#include <set>

#include "core/ir/leaves.h"
#include "core/ops/elementwise/convert.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

TEST(CpuRegistryTest, EveryOpHasARow) {
  std::vector<std::string> missing;
  for (const OpDef* op : AllOps()) {
    if (FindCpuKernel(*op) == nullptr) missing.emplace_back(op->name);
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(CpuRegistryTest, EveryRowRunsButParameter) {
  for (const OpDef* op : AllOps()) {
    const CpuKernel* kernel = FindCpuKernel(*op);
    ASSERT_NE(kernel, nullptr) << op->name;
    EXPECT_EQ(kernel->op, op);
    EXPECT_EQ(kernel->run == nullptr, op == &kParameter) << op->name;
    // Reductions run bodies through element loops.
    const bool has_elements = op->Is(kElementwise) || op == &kBitcastConvert;
    EXPECT_EQ(kernel->element != nullptr, has_elements) << op->name;
  }
}

// A look at the token follows after so many steps.
TEST(CpuRegistryTest, NoElementTakesNothing) {
  for (const OpDef* op : AllOps()) {
    for (const DType dtype : AllDTypes()) {
      EXPECT_GE(FindCpuKernel(*op)->steps.Of(dtype), 1)
          << op->name << " of " << DTypeName(dtype);
    }
  }
}

TEST(CpuRegistryTest, StepsAreThoseOfTheDType) {
  const ElementSteps steps{
      .integer = 1, .half = 2, .f32 = 3, .f64 = 4, .complex = 5};
  for (const DType dtype : AllDTypes()) {
    const int want = IsComplex(dtype)       ? 5
                     : !IsFloat(dtype)      ? 1
                     : dtype == DType::kF64 ? 4
                     : dtype == DType::kF32 ? 3
                                            : 2;
    EXPECT_EQ(steps.Of(dtype), want) << DTypeName(dtype);
  }
}

TEST(CpuRegistryTest, NoOpHasTwoRows) {
  std::set<const OpDef*> seen;
  for (auto family :
       {ArgExtremeKernels(), CompareKernels(), ControlKernels(),
        ConvertKernels(), ConvolutionKernels(), DotKernels(),
        ElementwiseKernels(), GatherKernels(), ReduceKernels(), ScanKernels(),
        ScatterKernels(), ShapeKernels(), SliceKernels(), SortKernels(),
        LinalgKernels(), FftKernels(), JoinedKernels()}) {
    for (const CpuKernel& kernel : family) {
      EXPECT_TRUE(seen.insert(kernel.op).second) << kernel.op->name;
    }
  }
  EXPECT_EQ(seen.size(), AllOps().size());
}

TEST(CpuRegistryTest, AForeignOpHasNone) {
  const OpDef foreign{.name = "add"};  // the name does not matter
  EXPECT_EQ(FindCpuKernel(foreign), nullptr);
}

}  // namespace
}  // namespace hawser::cpu
