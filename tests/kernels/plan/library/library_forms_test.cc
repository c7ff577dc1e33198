// Which ops become calls of a library, and what stands around them then.
#include "kernels/plan/library/library_forms.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/registry.h"
#include "kernels/plan/library/library_ops.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(module "m"
computation @0 "main" (%0: c64[3,5], %1: f32[4,4], %2: f32[4,2]) {
  %3: f32[3,8] = fft(%0) fft_length=[8] fft_type="IRFFT"
  %4: f32[4,4] = cholesky(%1) lower=true
  %5: f32[4,2] = triangular_solve(%4, %2) left_side=true lower=true transpose_a="NO_TRANSPOSE" unit_diagonal=false
  return %3, %5
}
)";

// A target whose library takes these ops.
Target Taking(std::vector<const OpDef*> ops) {
  Target target = GpuTarget();
  target.takes_call = [ops = std::move(ops)](const OpDef& op,
                                             absl::Span<const Shape>,
                                             const Attributes&) {
    return std::find(ops.begin(), ops.end(), &op) != ops.end();
  };
  return target;
}

// The steps of the text on `target`, in words.
std::string Steps(const Target& target) {
  const auto module = ParseModule(kText, FindOp);
  EXPECT_OK(module);
  const auto plan = MakePlan(*module, target);
  EXPECT_OK(plan);
  return Explain(*plan, target);
}

TEST(LibraryForms, NothingIsACallWithoutALibrary) {
  const std::string steps = Steps(GpuTarget());
  EXPECT_THAT(steps, Not(HasSubstr("library_")));
  EXPECT_THAT(steps, HasSubstr("host; 1 launch"));
}

TEST(LibraryForms, WhatTheLibraryRefusesStaysAsItWas) {
  const auto module = ParseModule(kText, FindOp);
  ASSERT_OK(module);
  EXPECT_TRUE(HasLibraryOps(*module));
  const auto same = WithLibraryCalls(*module, Taking({}));
  ASSERT_OK(same);
  EXPECT_EQ(Print(*same), Print(*module));
}

TEST(LibraryForms, EachIsTakenForItself) {
  const std::string one = Steps(Taking({&kLibraryFft}));
  EXPECT_THAT(one, HasSubstr("library_fft"));
  EXPECT_THAT(one, Not(HasSubstr("library_cholesky")));
  const std::string all = Steps(
      Taking({&kLibraryFft, &kLibraryCholesky, &kLibraryTriangularSolve}));
  for (const char* op :
       {"library_fft", "library_cholesky", "library_triangular_solve"}) {
    EXPECT_THAT(all, HasSubstr(op));
  }
}

// The host solves what has no finite answer: without it, all.
TEST(LibraryForms, SolvesNeedAHost) {
  Target target = Taking({&kLibraryTriangularSolve});
  EXPECT_THAT(Steps(target), HasSubstr("library_triangular_solve"));
  target.has_host = false;
  EXPECT_THAT(Steps(target), Not(HasSubstr("library_triangular_solve")));
}

// An inverse overwrites its operand, so that is never the program's own value.
TEST(LibraryForms, AnInverseHasAnOperandOfItsOwn) {
  const auto module = ParseModule(kText, FindOp);
  ASSERT_OK(module);
  const auto with = WithLibraryCalls(*module, Taking({&kLibraryFft}));
  ASSERT_OK(with);
  const Computation& entry = with->entry();
  for (const Instruction& i : entry.instructions()) {
    if (i.op != &kLibraryFft) continue;
    EXPECT_GE(i.operands[0], entry.num_parameters());
    return;
  }
  ADD_FAILURE() << Print(*with);
}

}  // namespace
}  // namespace hawser::plan
