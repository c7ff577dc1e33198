#include "kernels/plan/memory/buffers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/plan/fusion/dot_layout.h"
#include "kernels/plan/memory/arena.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::plan {
namespace {

TEST(Arena, TakesTheSmallestHoleAndJoinsNeighbours) {
  Arena arena(256);
  EXPECT_EQ(arena.Allocate(1000), 0);
  EXPECT_EQ(arena.Allocate(300), 1024);
  EXPECT_EQ(arena.Allocate(1), 1536);
  EXPECT_EQ(arena.Allocate(0), 1792);
  EXPECT_EQ(arena.size(), 2048);
  arena.Free(0, 1000);
  arena.Free(1536, 1);
  EXPECT_EQ(arena.Allocate(200), 1536);  // the hole at 0 is larger
  arena.Free(1024, 300);                 // joins the one at 0
  EXPECT_EQ(arena.Allocate(1500), 0);
  arena.Free(1792, 0);
  EXPECT_EQ(arena.Allocate(600), 1792);  // the end grows
  EXPECT_EQ(arena.size(), 2560);
  EXPECT_EQ(arena.Allocate(1), 2560);  // what the end took is no hole
  arena.Free(1792, 600);
  arena.Free(1536, 200);  // joins the one behind it
  EXPECT_EQ(arena.Allocate(1000), 1536);
  EXPECT_EQ(arena.size(), 2816);
  arena.Free(2560, 1);
  arena.Free(0, 1500);  // does not join one that is farther off
  EXPECT_EQ(arena.Allocate(1600), 2560);
}

// Memory as the plan lays it out, poisoned, filled step by step.
class Memory {
 public:
  Memory(const Plan& plan, const std::vector<Literal>& arguments)
      : plan_(plan),
        buffers_(plan.entry().buffers),
        c_(plan.module.computation(plan.entry().computation)),
        arena_(buffers_.arena_bytes, '\x5a') {
    for (const Literal& l : arguments) {
      arguments_.emplace_back(l.bytes().begin(), l.bytes().end());
    }
  }

  std::vector<Literal> Run(bool donate) {
    if (donate) donations_ = buffers_.donations;
    for (size_t k = 0; k < c_.instructions().size(); ++k) Step(k);
    std::vector<Literal> results;
    for (const ValueId v : c_.results()) results.push_back(Read(v));
    return results;
  }

 private:
  void Step(size_t k) {
    const Instruction& i = c_.instructions()[k];
    const Region& region = plan_.entry().regions[k];
    if (region.kind == RegionKind::kNone) return;
    // Of a loop or a branch it is its bodies' memory.
    if (region.scratch_bytes > 0) {
      arena_.at(buffers_.scratch[k] + region.scratch_bytes - 1) = 0;
      std::memset(arena_.data() + buffers_.scratch[k], 0x77,
                  region.scratch_bytes);
    }
    for (int r = 0; r < i.num_results; ++r) Poison(k, i.first_result + r);
    std::vector<Literal> operands;
    for (const ValueId v : i.operands) operands.push_back(Read(v));
    Module one = plan_.module;
    ComputationBuilder b(&one, "one");
    std::vector<ValueId> parameters;
    for (const Literal& l : operands) {
      parameters.push_back(b.Parameter(l.shape()));
    }
    const ValueId first = b.Add(*i.op, parameters, i.attributes, i.called);
    std::vector<ValueId> results;
    for (int r = 0; r < i.num_results; ++r) results.push_back(first + r);
    const auto entry = b.Finish(results);
    ASSERT_OK(entry);
    cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
    ASSERT_OK_AND_ASSIGN(
        const auto values,
        evaluator.Evaluate(one, *entry, operands, CancelToken()));
    // A view writes nothing: its bytes must be there.
    if (region.kind == RegionKind::kView) return;
    for (int r = 0; r < i.num_results; ++r) {
      const absl::Span<const char> bytes = values[r].bytes();
      std::copy(bytes.begin(), bytes.end(), At(i.first_result + r));
    }
  }

  // A kernel may write its first result before it has read everything, unless
  // the plan says that it writes over what it reads.
  void Poison(size_t k, ValueId v) {
    const Place& p = buffers_.values[v];
    const Region& region = plan_.entry().regions[k];
    if (region.kind == RegionKind::kView) return;
    for (const ValueId o : c_.instructions()[k].operands) {
      if (buffers_.values[o].owner == p.owner) return;
    }
    for (const Donation& d : donations_) {
      if (d.in_place && d.step == static_cast<int>(k) &&
          p.kind == Place::kResult && d.result == p.index) {
        return;
      }
    }
    std::fill_n(At(v), p.bytes, char{0x5a});
  }

  char* At(ValueId v) {
    const Place& p = buffers_.values[v];
    const size_t bytes = p.bytes;
    switch (p.kind) {
      case Place::kArgument:
        return arguments_[p.index].data();
      case Place::kArena:
        EXPECT_LE(p.offset + p.bytes, buffers_.arena_bytes);
        EXPECT_EQ(p.offset % 64, 0);
        return arena_.data() + p.offset;
      case Place::kResult:
        for (const Donation& d : donations_) {
          if (d.result == p.index) return arguments_[d.argument].data();
        }
        [[fallthrough]];
      default: {
        auto& own = others_[{p.kind, p.index}];
        if (own.size() < bytes) own.resize(bytes, '\x5a');
        return own.data();
      }
    }
  }

  Literal Read(ValueId v) {
    Literal l = Literal::Zeros(c_.shape(v));
    std::copy_n(At(v), l.bytes().size(), l.mutable_bytes().begin());
    return l;
  }

  const Plan& plan_;
  const BufferPlan& buffers_;
  const Computation& c_;
  std::vector<char> arena_;
  std::vector<std::vector<char>> arguments_;
  std::vector<Donation> donations_;
  std::map<std::pair<int, int>, std::vector<char>> others_;
};

TEST(Buffers, NoValueIsOverwrittenWhileItIsNeeded) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Module module = RandomModule(seed, {.instructions = 30});
    // Two targets: few large steps, and many small ones.
    Target small = CpuTarget();
    small.max_instructions = 2;
    for (const Target& target : {GpuTarget(), small}) {
      ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, target));
      ASSERT_OK_AND_ASSIGN(const Module laid_out,
                           LayOutProducts(module, target));
      SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", Print(plan.module),
                                Explain(plan, target)));
      Random random(seed);
      const auto arguments = RandomArguments(module.signature(), random);
      cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
      ASSERT_OK_AND_ASSIGN(
          const auto want,
          evaluator.Evaluate(laid_out,
                             static_cast<int>(module.computations().size()) - 1,
                             arguments, CancelToken()));
      for (const bool donate : {false, true}) {
        const auto got = Memory(plan, arguments).Run(donate);
        for (size_t k = 0; k < want.size(); ++k) {
          ASSERT_EQ(got[k].bytes(), want[k].bytes())
              << "result " << k << (donate ? ", donated" : "");
        }
      }
    }
  }
}

// The arena is not the sum of what passes through it.
TEST(Buffers, ArenaIsReused) {
  for (const NamedGraph& graph : KnownGraphs()) {
    if (graph.name != "transformer_block") continue;
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(graph.module, GpuTarget()));
    const BufferPlan& buffers = plan.entry().buffers;
    EXPECT_GT(buffers.temporary_bytes, 8 << 20);
    EXPECT_LT(buffers.arena_bytes * 3, buffers.temporary_bytes * 2);
    return;
  }
  FAIL() << "no transformer_block";
}

// A product, then one kernel over it that reads it as `crossed` says.
Module AfterProduct(bool crossed) {
  Module module("after");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {64, 64}));
  const ValueId d = b.Add(kDotGeneral, {x, x},
                          {{"lhs_batching_dimensions", Dims{}},
                           {"lhs_contracting_dimensions", Dims{1}},
                           {"rhs_batching_dimensions", Dims{}},
                           {"rhs_contracting_dimensions", Dims{0}}});
  const ValueId other =
      crossed ? b.Add(kTranspose, {d}, {{"permutation", Dims{1, 0}}}) : d;
  EXPECT_OK(b.Finish({b.Add(kAdd, {d, other})}));
  return module;
}

TEST(Buffers, KernelsWriteInPlaceOnlyWhereTheyRead) {
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kNone;
  for (const bool crossed : {false, true}) {
    ASSERT_OK_AND_ASSIGN(const Plan plan,
                         MakePlan(AfterProduct(crossed), target));
    const BufferPlan& buffers = plan.entry().buffers;
    const ValueId result = plan.module.entry().results()[0];
    EXPECT_EQ(buffers.values[result].owner == 1, !crossed);
    EXPECT_EQ(buffers.arena_bytes, crossed ? 64 * 64 * 4 : 0);
  }
}

Module Updated() {
  Module module("update");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {64}));
  const ValueId part = b.Parameter(Shape::Of(DType::kF32, {8}));
  const ValueId at = b.Parameter(Shape::Scalar(DType::kS32));
  const ValueId y = b.Add(kDynamicUpdateSlice, {x, part, at});
  const ValueId z = b.Add(kDynamicUpdateSlice, {y, part, at});
  EXPECT_OK(b.Finish({z}));
  return module;
}

TEST(Buffers, UpdatesAreInPlaceOnTemporariesAndDonatedArguments) {
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(Updated(), GpuTarget()));
  const BufferPlan& buffers = plan.entry().buffers;
  EXPECT_EQ(buffers.values[4].owner, 3);
  EXPECT_EQ(buffers.values[3].kind, Place::kResult);
  EXPECT_EQ(buffers.arena_bytes, 0);
  ASSERT_EQ(buffers.donations.size(), 1u);
  EXPECT_EQ(buffers.donations[0].argument, 0);
  EXPECT_EQ(buffers.donations[0].result, 0);
  EXPECT_TRUE(buffers.donations[0].in_place);
  // In place only the two parts move.
  EXPECT_EQ(CostOf(plan.entry(), GpuTarget()).bytes, 2 * 2 * (8 * 4 + 4));
}

// A step of training: what a result is made of dies with it, and yet the result
// is the argument's next value, in its place.
TEST(Buffers, ResultsAreWrittenOverArgumentsBeforeTemporaries) {
  Module module("train");
  ComputationBuilder b(&module, "main");
  const Shape square = Shape::Of(DType::kF32, {64, 64});
  const ValueId x = b.Parameter(square);
  const std::vector<ValueId> weights = {b.Parameter(square),
                                        b.Parameter(square)};
  std::vector<ValueId> results;
  for (const ValueId w : weights) {
    const ValueId gradient = b.Add(kDotGeneral, {x, w},
                                   {{"lhs_batching_dimensions", Dims{}},
                                    {"lhs_contracting_dimensions", Dims{1}},
                                    {"rhs_batching_dimensions", Dims{}},
                                    {"rhs_contracting_dimensions", Dims{0}}});
    results.push_back(b.Add(kSubtract, {gradient, w}));
  }
  ASSERT_OK(b.Finish(results));
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kNone;
  target.joined_elements = 0;
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, target));
  const auto& donations = plan.entry().buffers.donations;
  ASSERT_EQ(donations.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(donations[k].argument, weights[k]);
    EXPECT_EQ(donations[k].result, k);
    EXPECT_TRUE(donations[k].in_place);
  }
}

}  // namespace
}  // namespace hawser::plan
