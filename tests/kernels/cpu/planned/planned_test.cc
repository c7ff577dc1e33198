// A planned module gives what the evaluator gives, whatever its arguments'
// memory may become.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/compare.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/registry.h"
#include "core/ops/windows/convolution.h"
#include "core/passes/optimize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/planned/cpu_emitter.h"
#include "kernels/cpu/planned/planned_program.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/steps/step_builder.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::cpu {
namespace {

using absl::StatusCode;

// Whether floats are added up by products, whose order is a library's.
bool SumsFloats(const Module& module) {
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) {
      if (i.op != &kDotGeneral && i.op != &kConvolution) continue;
      for (const ValueId v : i.operands) {
        const DType dtype = c.shape(v).dtype();
        if (IsFloat(dtype) || IsComplex(dtype)) return true;
      }
    }
  }
  return false;
}

// All but those whose results are no short fractions: sums of such are the same
// in any order, and so by any engine.
std::vector<const OpDef*> OpsOfShortFractions() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : AllOps()) {
    if (!absl::c_linear_search(kLinalgOps, op)) ops.push_back(op);
  }
  return ops;
}

class PlannedTest : public ::testing::Test {
 protected:
  Environment environment() {
    return {.pool = &pool_, .allocator = allocator_.get()};
  }

  // Values of their own in the allocator's memory.
  std::vector<Literal> Copies(const std::vector<Literal>& values) {
    std::vector<Literal> copies;
    for (const Literal& value : values) {
      copies.push_back(*allocator_->Allocate(value.shape()));
      const auto bytes = value.bytes();
      std::copy(bytes.begin(), bytes.end(),
                copies.back().mutable_bytes().begin());
    }
    return copies;
  }

  // Runs it with arguments that are given away, and with some that are not.
  void ExpectSame(const Module& module, Random& random,
                  const std::string& which) {
    const auto arguments = RandomArguments(module.signature(), random);
    const int entry = static_cast<int>(module.computations().size()) - 1;
    const auto want = CpuEvaluator({.numerics = runtime::Numerics::kStrict})
                          .Evaluate(module, entry, arguments, CancelToken());
    ASSERT_OK(want) << which;
    const auto program =
        PlannedProgram::Make(module, runtime::Numerics::kStrict);
    ASSERT_OK(program) << which << "\n" << Print(module);
    const Tolerance tolerance = SumsFloats(module)
                                    ? Tolerance{.atol = 0.05, .rtol = 0.02}
                                    : Tolerance{};
    for (const bool given_away : {true, false}) {
      std::vector<Literal> own = Copies(arguments);
      std::vector<Literal> held;
      for (const Literal& value : own) {
        if (!given_away) held.push_back(value);
      }
      const auto got = program->Run(std::move(own), environment());
      ASSERT_OK(got) << which << "\n" << Print(module);
      ASSERT_EQ(got->size(), want->size());
      for (size_t k = 0; k < want->size(); ++k) {
        EXPECT_OK(CompareLiterals((*got)[k], (*want)[k], tolerance))
            << which << ", result " << k << "\n"
            << Print(module);
      }
      for (size_t k = 0; k < held.size(); ++k) {
        EXPECT_THAT(held[k], LiteralBitEquals(arguments[k]))
            << which << ", argument " << k << " was written over";
      }
    }
  }

  ThreadPool pool_{2};
  const std::shared_ptr<HostAllocator> allocator_ = HostAllocator::Make(0);
};

TEST_F(PlannedTest, RandomGraphs) {
  for (uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    Random random(seed);
    ExpectSame(RandomModule(seed, {.ops = OpsOfShortFractions()}), random,
               absl::StrCat("seed ", seed));
  }
  EXPECT_EQ(allocator_->live_bytes(), 0);
}

TEST_F(PlannedTest, RandomGraphsOptimized) {
  for (uint64_t seed = 5000; seed < 5300 && !HasFailure(); ++seed) {
    Random random(seed);
    auto module = Optimize(
        RandomModule(seed, {.instructions = 40, .ops = OpsOfShortFractions()}),
        {});
    ASSERT_OK(module);
    ExpectSame(*module, random, absl::StrCat("optimized seed ", seed));
  }
}

TEST_F(PlannedTest, ALoopTurnsWithoutMemoryOfItsOwn) {
  const auto module = ParseModule(
      "module \"loop\"\n"
      "computation @0 \"below\" (%0: s32[], %1: f32[1000]) {\n"
      "  %2: s32[] = constant() value=s32[] {100}\n"
      "  %3: bool[] = compare(%0, %2) direction=\"LT\"\n"
      "  return %3\n"
      "}\n"
      "computation @1 \"turn\" (%0: s32[], %1: f32[1000]) {\n"
      "  %2: s32[] = constant() value=s32[] {1}\n"
      "  %3: s32[] = add(%0, %2)\n"
      "  %4: f32[1000] = add(%1, %1)\n"
      "  %5: f32[1000] = negate(%4)\n"
      "  %6: f32[1000] = sine(%5)\n"
      "  return %3, %6\n"
      "}\n"
      "computation @2 \"main\" (%0: s32[], %1: f32[1000]) {\n"
      "  %2: s32[], %3: f32[1000] = while(%0, %1) @0 @1\n"
      "  return %2, %3\n"
      "}\n",
      FindOp);
  ASSERT_OK(module);
  Random random(1);
  ExpectSame(*module, random, "loop");
}

// Each state is read by what makes the next one of another.
TEST_F(PlannedTest, StatesThatReadEachOtherAreWrittenOverInOneRegion) {
  const auto module = ParseModule(
      "module \"loop\"\n"
      "computation @0 \"below\" (%0: s32[], %1: f32[1000], %2: f32[1000], "
      "%3: s32[1000]) {\n"
      "  %4: s32[] = constant() value=s32[] {20}\n"
      "  %5: bool[] = compare(%0, %4) direction=\"LT\"\n"
      "  return %5\n"
      "}\n"
      "computation @1 \"turn\" (%0: s32[], %1: f32[1000], %2: f32[1000], "
      "%3: s32[1000]) {\n"
      "  %4: s32[] = constant() value=s32[] {1}\n"
      "  %5: s32[] = add(%0, %4)\n"
      "  %6: f32[1000] = subtract(%1, %2)\n"
      "  %7: bool[1000] = compare(%6, %1) direction=\"LT\"\n"
      "  %8: f32[1000] = select(%7, %6, %2)\n"
      "  %9: f32[1000] = multiply(%1, %2)\n"
      "  %10: f32[1000] = select(%7, %1, %9)\n"
      "  %11: s32[1000] = convert(%7) dtype=s32\n"
      "  %12: s32[1000] = add(%3, %11)\n"
      "  return %5, %8, %10, %12\n"
      "}\n"
      "computation @2 \"main\" (%0: s32[], %1: f32[1000], %2: f32[1000], "
      "%3: s32[1000]) {\n"
      "  %4: s32[], %5: f32[1000], %6: f32[1000], %7: s32[1000] = "
      "while(%0, %1, %2, %3) @0 @1\n"
      "  return %4, %5, %6, %7\n"
      "}\n",
      FindOp);
  ASSERT_OK(module);
  const auto program =
      PlannedProgram::Make(*module, runtime::Numerics::kStrict);
  ASSERT_OK(program);
  EXPECT_THAT(program->Explain(),
              ::testing::HasSubstr(
                  "(subtract compare select multiply select convert add) "
                  "runs by tiles"))
      << program->Explain();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    ExpectSame(*module, random, absl::StrCat("seed ", seed));
  }
}

// Layers that differ in nothing but what they read, and one in a constant.
std::string LayersText(int layers) {
  std::string text =
      "module \"layers\"\n"
      "computation @0 \"add\" (%0: f32[], %1: f32[]) {\n"
      "  %2: f32[] = add(%0, %1)\n"
      "  return %2\n"
      "}\n"
      "computation @1 \"main\" (%0: f32[16,16], %1: f32[16,16]) {\n"
      "  %2: f32[] = constant() value=f32[] {0}\n";
  int x = 0, v = 3;
  for (int k = 0; k < layers; ++k, v += 6) {
    absl::StrAppend(
        &text, "  %", v, ": f32[16,16] = dot_general(%", x,
        ", %1) lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] "
        "rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]\n");
    absl::StrAppend(&text, "  %", v + 1, ": f32[16] = reduce(%", v,
                    ", %2) dimensions=[1] @0\n");
    absl::StrAppend(&text, "  %", v + 2, ": f32[16,16] = broadcast_in_dim(%",
                    v + 1, ") broadcast_dimensions=[0] dims=[16,16]\n");
    absl::StrAppend(&text, "  %", v + 3, ": f32[16,16] = subtract(%", v, ", %",
                    v + 2, ")\n");
    absl::StrAppend(&text, "  %", v + 4, ": f32[16,16] = tanh(%", v + 3, ")\n");
    absl::StrAppend(&text, "  %", v + 5,
                    ": f32[16,16] = ", k == 1 ? "negate" : "abs", "(%", v + 4,
                    ")\n");
    x = v + 5;
  }
  return absl::StrCat(text, "  return %", x, "\n}\n");
}

TEST_F(PlannedTest, EqualLayersGiveWhatTheyWouldGiveApart) {
  const auto module = ParseModule(LayersText(5), FindOp);
  ASSERT_OK(module);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed);
    ExpectSame(*module, random, absl::StrCat("seed ", seed));
  }
}

TEST_F(PlannedTest, EqualLayersAreMadeTilesOnce) {
  const auto module = ParseModule(LayersText(5), FindOp);
  ASSERT_OK(module);
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  ASSERT_OK(plan);
  std::vector<Work> works;
  const auto rows = CpuProgram::Make(
      plan->module, static_cast<int>(plan->module.computations().size()) - 1);
  ASSERT_OK(rows);
  CpuEmitter emitter(plan->module, *rows, runtime::Numerics::kFast, &works);
  ASSERT_OK(plan::MakeSteps(*plan, emitter));
  std::vector<const TileProgram*> programs;
  for (const Work& work : works) {
    const auto* tiles = std::get_if<TileWork>(&work);
    if (tiles != nullptr) programs.push_back(tiles->program.get());
  }
  ASSERT_EQ(programs.size(), 5u);
  EXPECT_EQ(programs[0], programs[2]);
  EXPECT_EQ(programs[0], programs[3]);
  EXPECT_EQ(programs[0], programs[4]);
  EXPECT_NE(programs[0], programs[1]);
}

TEST_F(PlannedTest, ExplainsHowItsRegionsRun) {
  const auto module = ParseModule(
      "module \"three\"\n"
      "computation @0 \"main\" (%0: f32[100], %1: s32[100]) {\n"
      "  %2: f32[100] = add(%0, %0)\n"
      "  %3: f32[100] = tanh(%2)\n"
      "  %4: s32[] = dot_general(%1, %1) lhs_batching_dimensions=[] "
      "lhs_contracting_dimensions=[0] rhs_batching_dimensions=[] "
      "rhs_contracting_dimensions=[0]\n"
      "  return %3, %4\n"
      "}\n",
      FindOp);
  ASSERT_OK(module);
  const auto program = PlannedProgram::Make(*module, runtime::Numerics::kFast);
  ASSERT_OK(program);
  for (const char* part :
       {"(add tanh) runs by tiles of ", "(dot_general) runs by its row\n",
        "computation @1 \"main\": ", "; add tanh -> result 0\n"}) {
    EXPECT_THAT(program->Explain(), ::testing::HasSubstr(part));
  }
}

// Either branch copies 4,000 bytes.
TEST_F(PlannedTest, ACopyTakesAsLongAsItsBytes) {
  const auto module = ParseModule(
      "module \"copy\"\n"
      "computation @0 \"first\" (%0: f32[1000], %1: f32[1000]) {\n"
      "  return %0\n"
      "}\n"
      "computation @1 \"second\" (%0: f32[1000], %1: f32[1000]) {\n"
      "  return %1\n"
      "}\n"
      "computation @2 \"main\" (%0: s32[], %1: f32[1000], %2: f32[1000]) {\n"
      "  %3: f32[1000] = case(%0, %1, %2) @0 @1\n"
      "  return %3\n"
      "}\n",
      FindOp);
  ASSERT_OK(module);
  const auto program = PlannedProgram::Make(*module, runtime::Numerics::kFast);
  ASSERT_OK(program);
  EXPECT_GE(program->cost(), 100);
  EXPECT_LE(program->cost(), 1000);
}

TEST_F(PlannedTest, MemoryThatIsShortIsAnError) {
  const auto module = ParseModule(
      "module \"large\"\n"
      "computation @0 \"main\" (%0: f32[100000]) {\n"
      "  %1: f32[100000] = add(%0, %0)\n"
      "  return %1\n"
      "}\n",
      FindOp);
  ASSERT_OK(module);
  const auto program = PlannedProgram::Make(*module, runtime::Numerics::kFast);
  ASSERT_OK(program);
  const auto small = HostAllocator::Make(int64_t{1000});
  EXPECT_THAT(program->Run({Literal::Zeros(module->signature().parameters[0])},
                           {.allocator = small.get()}),
              StatusIs(StatusCode::kResourceExhausted, "f32[100000]"));
}

}  // namespace
}  // namespace hawser::cpu
