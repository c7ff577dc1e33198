// A region by tiles gives what its instruction gives: the same bits, but for
// sums of floats, which are added up in another order.
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/compare.h"
#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::cpu {
namespace {

using plan::Region;
using plan::RegionKind;

// The results of instruction `i` of `module`, by the evaluator.
std::vector<Literal> ByEvaluator(const Module& module, const Instruction& i,
                                 const std::vector<Literal>& operands) {
  Module one = module;
  ComputationBuilder b(&one, "one");
  std::vector<ValueId> parameters;
  for (const Literal& l : operands) {
    parameters.push_back(b.Parameter(l.shape()));
  }
  const ValueId first = b.Add(*i.op, parameters, i.attributes, i.called);
  std::vector<ValueId> results;
  for (int k = 0; k < i.num_results; ++k) results.push_back(first + k);
  const auto entry = b.Finish(results);
  EXPECT_OK(entry);
  auto got = CpuEvaluator().Evaluate(one, *entry, operands, CancelToken());
  EXPECT_OK(got);
  return got.ok() ? *std::move(got) : std::vector<Literal>();
}

bool SumsFloats(const Module& module, const Region& region) {
  for (const plan::Point& p : region.points) {
    const DType dtype =
        module.computation(region.body).shape(p.value).dtype();
    if (p.kind == plan::Point::kReduce && (IsFloat(dtype) || IsComplex(dtype)))
      return true;
  }
  return false;
}

struct Counts {
  int by_tiles = 0, not_by_tiles = 0;
  std::map<std::string, int> kinds;
  std::map<std::string, int> reasons;
};

class TileTest : public ::testing::Test {
 protected:
  // Expects the region to give what the evaluator gives, if tiles compute it.
  // Returns the evaluator's results.
  std::vector<Literal> ExpectRegion(const Module& module, const Region& region,
                                    const std::vector<Literal>& operands,
                                    const std::string& which) {
    const Instruction& i = module.computation(region.computation)
                               .instructions()[region.instruction];
    const std::vector<Literal> want = ByEvaluator(module, i, operands);
    const auto program = MakeTileProgram(module, region);
    if (!program.ok()) {
      EXPECT_TRUE(absl::IsUnimplemented(program.status())) << program.status();
      ++counts_.not_by_tiles;
      ++counts_.reasons[std::string(program.status().message())];
      return want;
    }
    ++counts_.by_tiles;
    ++counts_.kinds[std::string(plan::RegionKindName(region.kind))];
    std::vector<Literal> got;
    std::vector<char*> from, to;
    for (const Literal& operand : operands) {
      from.push_back(const_cast<char*>(operand.bytes().data()));
    }
    for (const Literal& result : want) {
      got.push_back(Literal::Zeros(result.shape()));
      to.push_back(got.back().mutable_bytes().data());
    }
    EXPECT_OK(RunTiles(*program, from, to, {.pool = &pool_}));
    const Tolerance tolerance =
        SumsFloats(module, region)
            ? Tolerance{.atol = 1e-3, .rtol = 1e-3, .ulp = 4}
            : Tolerance{.bits = true};
    for (size_t k = 0; k < want.size(); ++k) {
      EXPECT_OK(CompareLiterals(got[k], want[k], tolerance))
          << which << ", " << region.ToString() << ", result " << k << "\n"
          << Print(module);
    }
    return want;
  }

  void ExpectRegions(const Module& module, const std::string& which,
                     Random& random) {
    const auto plan = plan::MakePlan(module, plan::CpuTarget());
    ASSERT_OK(plan) << which;
    const Computation& c = plan->module.entry();
    std::vector<Literal> values(c.num_values());
    const auto arguments = RandomArguments(module.signature(), random);
    std::copy(arguments.begin(), arguments.end(), values.begin());
    for (const Region& region : plan->entry().regions) {
      const Instruction& i = c.instructions()[region.instruction];
      if (region.kind == RegionKind::kNone) continue;
      std::vector<Literal> operands, results;
      for (const ValueId v : i.operands) operands.push_back(values[v]);
      switch (region.kind) {
        case RegionKind::kLoop:
        case RegionKind::kTiledTranspose:
        case RegionKind::kRow:
        case RegionKind::kColumnReduction:
        case RegionKind::kFullReduction:
          results = ExpectRegion(plan->module, region, operands, which);
          break;
        default:
          results = ByEvaluator(plan->module, i, operands);
      }
      ASSERT_EQ(results.size(), i.num_results) << which;
      for (int r = 0; r < i.num_results; ++r) {
        values[i.first_result + r] = results[r];
      }
      if (HasFailure()) return;
    }
  }

  void TearDown() override {
    std::cout << counts_.by_tiles << " regions by tiles, "
              << counts_.not_by_tiles << " not\n";
    for (const auto& [kind, count] : counts_.kinds) {
      std::cout << "  " << kind << ": " << count << "\n";
    }
    for (const auto& [reason, count] : counts_.reasons) {
      std::cout << "  not: " << reason << ": " << count << "\n";
    }
  }

  ThreadPool pool_{2};
  Counts counts_;
};

TEST_F(TileTest, SmallRandomGraphs) {
  for (uint64_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    Random random(seed);
    ExpectRegions(RandomModule(seed, {.regions = seed % 2 == 0}),
                  absl::StrCat("seed ", seed), random);
  }
}

TEST_F(TileTest, LargerRandomGraphs) {
  for (uint64_t seed = 0; seed < 600 && !HasFailure(); ++seed) {
    Random random(seed);
    ExpectRegions(
        RandomModule(10000 + seed, {.instructions = 12, .max_elements = 60000}),
        absl::StrCat("large seed ", seed), random);
  }
}

}  // namespace
}  // namespace hawser::cpu
namespace hawser::cpu {
namespace {
TEST_F(TileTest, One) {
  const char* seed = getenv("SEED");
  if (seed == nullptr) GTEST_SKIP();
  const uint64_t s = atoi(seed);
  Random random(s >= 10000 ? s - 10000 : s);
  ExpectRegions(s >= 10000 ? RandomModule(s, {.instructions = 12, .max_elements = 60000}) : RandomModule(s, {.regions = s % 2 == 0}), "one", random);
}
TEST_F(TileTest, Find) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    try { ExpectRegions(RandomModule(seed, {.regions = seed % 2 == 0}), "", random); } catch (std::exception& e) { std::cerr << "seed " << seed << "\n"; 
      const auto plan = plan::MakePlan(RandomModule(seed, {.regions = seed % 2 == 0}), plan::CpuTarget());
      for (const auto& r: plan->entry().regions) { try { (void)MakeTileProgram(plan->module, r);} catch (std::exception& e) { std::cerr << r.ToString() << "\n" << Print(plan->module);
        for (auto& p : r.points) std::cerr << (int)p.kind << " v" << p.value << " st" << p.stage << " pr" << p.per_result << " sc" << p.scope << " ops " << absl::StrJoin(p.operands, ",") << " map " << r.maps[p.map].ToString() << "\n"; } } break; }
    if (HasFailure()) return;
  }
}
}}
