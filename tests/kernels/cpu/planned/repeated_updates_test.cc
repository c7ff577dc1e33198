// Scatters of one number read it once, and give what they give of an array.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/planned/planned_program.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

struct RepeatedRow {
  const char* what;
  const char* body;  // of the scatter: of %0 and %1, gives %2
  const char* main;  // %0: f32[10], %1: s32[200000,1], %2: f32[]
  bool is_one;       // whether scatters read one update
};

constexpr char kAdd[] = "%2: f32[] = add(%0, %1)";
constexpr char kTake[] = "%2: f32[] = maximum(%1, %1)";
#define HAWSER_REPEATED                                             \
  "%3: f32[200000] = broadcast_in_dim(%2) broadcast_dimensions=[] " \
  "dims=[200000]\n"
#define HAWSER_ELEMENTS                                     \
  ") index_vector_dim=1 inserted_window_dims=[0] "          \
  "scatter_dims_to_operand_dims=[0] update_window_dims=[] " \
  "@0\n"

constexpr RepeatedRow kRows[] = {
    {"a sum, in order", kAdd,
     HAWSER_REPEATED "%4: f32[10] = scatter(%0, %1, %3" HAWSER_ELEMENTS
                     "return %4",
     true},
    {"an extreme", "%2: f32[] = maximum(%0, %1)",
     HAWSER_REPEATED "%4: f32[10] = scatter(%0, %1, %3" HAWSER_ELEMENTS
                     "return %4",
     true},
    {"the update itself", kTake,
     HAWSER_REPEATED "%4: f32[10] = scatter(%0, %1, %3" HAWSER_ELEMENTS
                     "return %4",
     true},
    {"a constant of whole numbers, by each thread for itself",
     "%2: s32[] = add(%0, %1)",
     "%3: s32[] = constant() value=s32[] {3}\n"
     "%4: s32[200000] = broadcast_in_dim(%3) broadcast_dimensions=[] "
     "dims=[200000]\n"
     "%5: s32[10] = convert(%0) dtype=s32\n"
     "%6: s32[10] = scatter(%5, %1, %4" HAWSER_ELEMENTS "return %6",
     true},
    {"windows of one element", kAdd,
     "%3: f32[200000,1] = broadcast_in_dim(%2) broadcast_dimensions=[] "
     "dims=[200000,1]\n"
     "%4: f32[10] = scatter(%0, %1, %3) index_vector_dim=1 "
     "inserted_window_dims=[] scatter_dims_to_operand_dims=[0] "
     "update_window_dims=[1] @0\n"
     "return %4",
     true},
    {"two scatters", kAdd,
     HAWSER_REPEATED "%4: f32[10] = scatter(%0, %1, %3" HAWSER_ELEMENTS
                     "%5: f32[10] = scatter(%4, %1, %3" HAWSER_ELEMENTS
                     "return %5",
     true},
    {"windows of two", kAdd,
     "%3: f32[200000,2] = broadcast_in_dim(%2) broadcast_dimensions=[] "
     "dims=[200000,2]\n"
     "%4: f32[10] = scatter(%0, %1, %3) index_vector_dim=1 "
     "inserted_window_dims=[] scatter_dims_to_operand_dims=[0] "
     "update_window_dims=[1] @0\n"
     "return %4",
     false},
    {"a result too", kAdd,
     HAWSER_REPEATED "%4: f32[10] = scatter(%0, %1, %3" HAWSER_ELEMENTS
                     "return %3, %4",
     false},
    {"read as what is scattered into", kAdd,
     HAWSER_REPEATED "%4: f32[200000] = scatter(%3, %1, %3" HAWSER_ELEMENTS
                     "return %4",
     false},
    {"read by another", kAdd,
     HAWSER_REPEATED "%4: f32[10] = scatter(%0, %1, %3" HAWSER_ELEMENTS
                     "%5: s32[200000] = iota() iota_dimension=0 dims=[200000] "
                     "dtype=s32\n"
                     "%6: f32[200000], %7: s32[200000] = sort(%3, %5) "
                     "dimension=0 is_stable=true @1\n"
                     "return %4, %7",
     false},
    {"an array", kAdd,
     "%3: f32[20000,10] = broadcast_in_dim(%0) broadcast_dimensions=[1] "
     "dims=[20000,10]\n"
     "%4: f32[200000] = reshape(%3) dims=[200000]\n"
     "%5: f32[10] = scatter(%0, %1, %4" HAWSER_ELEMENTS "return %5",
     false},
    {"none", kAdd,
     "%3: f32[0] = broadcast_in_dim(%2) broadcast_dimensions=[] dims=[0]\n"
     "%4: s32[0,1] = slice(%1) start_indices=[0,0] limit_indices=[0,1] "
     "strides=[1,1]\n"
     "%5: f32[10] = scatter(%0, %4, %3" HAWSER_ELEMENTS "return %5",
     false},
};

std::string TextOf(const RepeatedRow& row) {
  const bool whole = absl::StrContains(row.body, "s32");
  const char* of = whole ? "s32" : "f32";
  return absl::StrCat(
      "module \"m\"\ncomputation @0 \"body\" (%0: ", of, "[], %1: ", of,
      "[]) {\n", row.body,
      "\nreturn %2\n}\n"
      "computation @1 \"less\" (%0: f32[], %1: f32[], %2: s32[], %3: s32[]) "
      "{\n%4: bool[] = compare(%0, %1) direction=\"LT\"\nreturn %4\n}\n"
      "computation @2 \"main\" (%0: f32[10], %1: s32[200000,1], %2: f32[]) "
      "{\n",
      row.main, "\n}\n");
}

// Runs it on no pool and on one, and says how it runs.
std::string ExpectSame(const std::string& text) {
  const auto module = ParseModule(text, FindOp);
  EXPECT_OK(module) << text;
  if (!module.ok()) return "";
  const auto program =
      PlannedProgram::Make(*module, runtime::Numerics::kStrict);
  EXPECT_OK(program);
  Random random(7);
  const auto arguments =
      RandomArguments(module->signature(), random, /*extremes=*/false);
  const int entry = static_cast<int>(module->computations().size()) - 1;
  const auto want = CpuEvaluator({.numerics = runtime::Numerics::kStrict})
                        .Evaluate(*module, entry, arguments, CancelToken());
  EXPECT_OK(want);
  ThreadPool pool(3);
  const auto allocator = HostAllocator::Make(0);
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    const auto got = program->Run(
        arguments, {.pool = threads, .allocator = allocator.get()});
    EXPECT_OK(got);
    for (size_t k = 0; got.ok() && k < want->size(); ++k) {
      EXPECT_THAT((*got)[k], LiteralBitEquals((*want)[k]));
    }
  }
  EXPECT_EQ(allocator->live_bytes(), 0);
  return program->Explain();
}

TEST(RepeatedUpdates, AreReadOnceAndGiveWhatAnArrayGives) {
  for (const RepeatedRow& row : kRows) {
    SCOPED_TRACE(row.what);
    const std::string how = ExpectSame(TextOf(row));
    for (const char* part : {"of one update", "of one element, "}) {
      EXPECT_EQ(absl::StrContains(how, part), row.is_one) << how;
    }
  }
}

TEST(RepeatedUpdates, OfSeveralInputsAreArrays) {
  const std::string how = ExpectSame(
      "module \"m\"\n"
      "computation @0 \"body\" (%0: f32[], %1: f32[], %2: f32[], %3: f32[]) "
      "{\n"
      "  %4: f32[] = add(%0, %2)\n"
      "  %5: f32[] = maximum(%1, %3)\n"
      "  return %4, %5\n"
      "}\n"
      "computation @1 \"main\" (%0: f32[10], %1: s32[2000,1], %2: f32[]) {\n"
      "  %3: f32[2000] = broadcast_in_dim(%2) broadcast_dimensions=[] "
      "dims=[2000]\n"
      "  %4: f32[10], %5: f32[10] = scatter(%0, %0, %1, %3, "
      "%3" HAWSER_ELEMENTS
      "  return %4, %5\n"
      "}\n");
  EXPECT_FALSE(absl::StrContains(how, "of one ")) << how;
}

// As what it is the third operand of too.
TEST(RepeatedUpdates, ThatASortReadsAreAnArray) {
  const std::string how = ExpectSame(
      "module \"m\"\n"
      "computation @0 \"body\" (%0: f32[], %1: f32[]) {\n"
      "  %2: f32[] = add(%0, %1)\n"
      "  return %2\n"
      "}\n"
      "computation @1 \"less\" (%0: s32[], %1: s32[], %2: s32[], %3: s32[], "
      "%4: f32[], %5: f32[]) {\n"
      "  %6: bool[] = compare(%0, %1) direction=\"LT\"\n"
      "  return %6\n"
      "}\n"
      "computation @2 \"main\" (%0: f32[10], %1: s32[2000,1], %2: f32[], %3: "
      "s32[2000]) {\n"
      "  %4: f32[2000] = broadcast_in_dim(%2) broadcast_dimensions=[] "
      "dims=[2000]\n"
      "  %5: f32[10] = scatter(%0, %1, %4" HAWSER_ELEMENTS
      "  %6: s32[2000], %7: s32[2000], %8: f32[2000] = sort(%3, %3, %4) "
      "dimension=0 is_stable=true @1\n"
      "  return %5, %6, %8\n"
      "}\n");
  EXPECT_FALSE(absl::StrContains(how, "of one ")) << how;
}

#undef HAWSER_ELEMENTS
#undef HAWSER_REPEATED

}  // namespace
}  // namespace hawser::cpu
