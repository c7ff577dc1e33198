// TileTest: what tests of regions by tiles expect of them.
#ifndef HAWSER_TESTS_KERNELS_CPU_TILES_TILE_TEST_H_
#define HAWSER_TESTS_KERNELS_CPU_TILES_TILE_TEST_H_

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/compare.h"
#include "core/ir/text/printer.h"
#include "gtest/gtest.h"
#include "kernels/cpu/host_allocator.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/one_instruction.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::cpu {

// What modules' reductions call.
inline constexpr char kFolds[] =
    "computation @0 \"sum\" (%0: f32[], %1: f32[]) {\n"
    "  %2: f32[] = add(%0, %1)\n"
    "  return %2\n"
    "}\n"
    "computation @1 \"largest\" (%0: f32[], %1: f32[]) {\n"
    "  %2: f32[] = maximum(%0, %1)\n"
    "  return %2\n"
    "}\n";

inline bool SumsFloats(const Module& module, const plan::Region& region) {
  for (const plan::Point& p : region.points) {
    const DType dtype = module.computation(region.body).shape(p.value).dtype();
    if (p.kind == plan::Point::kReduce && (IsFloat(dtype) || IsComplex(dtype)))
      return true;
  }
  return false;
}

// Whether some op is one of those that promise no bits.
inline bool IsRounded(const Module& module, const plan::Region& region) {
  for (const plan::Point& p : region.points) {
    const Instruction& i =
        module.computation(region.body).instructions()[p.instruction];
    if (p.kind == plan::Point::kOp && i.op->ulp > 0) return true;
  }
  return false;
}

// Infinite complex numbers are NaN: in which parts, depends on the order of
// factors.
inline Literal WithoutInfinities(const Literal& value) {
  Literal copy = Literal::Zeros(value.shape());
  VisitDType(value.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::transform(value.data<T>().begin(), value.data<T>().end(),
                   copy.mutable_data<T>().begin(), [](T x) {
                     if constexpr (kIsComplex<T>) {
                       const bool ends =
                           std::isfinite(x.real()) && std::isfinite(x.imag());
                       return ends ? x : T(NAN, NAN);
                     } else {
                       return x;
                     }
                   });
  });
  return copy;
}

// Arguments of which those of f64 have sums that are rounded, so that another
// order gives other bits.
inline std::vector<Literal> UnevenArguments(const Signature& signature) {
  Random random(3);
  std::vector<Literal> arguments =
      RandomArguments(signature, random, /*extremes=*/false);
  for (Literal& x : arguments) {
    if (x.shape().dtype() != DType::kF64) continue;
    for (double& value : x.mutable_data<double>()) value = value / 3 + 0.1;
  }
  return arguments;
}

struct Counts {
  int by_tiles = 0, not_by_tiles = 0, repeated = 0;
  std::map<std::string, int> kinds;
  std::map<std::string, int> reasons;
};

// Values of these shapes, all 0, and where they are.
struct Memory {
  explicit Memory(const std::vector<Literal>& like) {
    for (const Literal& value : like) {
      values.push_back(Literal::Zeros(value.shape()));
      at.push_back(values.back().mutable_bytes().data());
    }
  }
  void Fill(const std::vector<Literal>& from) {
    for (size_t k = 0; k < from.size(); ++k) {
      std::copy(from[k].bytes().begin(), from[k].bytes().end(), at[k]);
    }
  }

  std::vector<Literal> values;
  std::vector<char*> at;
};

class TileTest : public ::testing::Test {
 protected:
  void ExpectResults(const TileProgram& program,
                     const std::vector<Literal>& operands,
                     const std::vector<Literal>& want,
                     const Tolerance& tolerance, const std::string& which) {
    Memory from(operands), to(want);
    from.Fill(operands);
    EXPECT_OK(RunTiles(program, from.at, to.at, environment_)) << which;
    ExpectEqual(to.values, want, tolerance, which);
    ExpectRepeated(program, operands, want, tolerance, which);
  }

  // Runs a short program for other operands first, then again for these: no run
  // may leave anything to the next one.
  void ExpectRepeated(const TileProgram& program,
                      const std::vector<Literal>& operands,
                      const std::vector<Literal>& want,
                      const Tolerance& tolerance, const std::string& which) {
    Memory from(operands), to(want);
    auto repeated = RepeatedTiles::Make(program, from.at, to.at, environment_);
    ASSERT_OK(repeated) << which;
    if (!repeated->valid()) return;
    ++counts_.repeated;
    WorkMeter meter(environment_);
    EXPECT_OK(repeated->Run(meter)) << which;
    from.Fill(operands);
    EXPECT_OK(repeated->Run(meter)) << which;
    EXPECT_OK(repeated->Run(meter)) << which;
    ExpectEqual(to.values, want, tolerance, absl::StrCat(which, " repeated"));
  }

  static void ExpectEqual(const std::vector<Literal>& got,
                          const std::vector<Literal>& want,
                          const Tolerance& tolerance,
                          const std::string& which) {
    for (size_t k = 0; k < want.size(); ++k) {
      const bool exact = tolerance.bits || tolerance.ulp == 0;
      EXPECT_OK(CompareLiterals(exact ? got[k] : WithoutInfinities(got[k]),
                                exact ? want[k] : WithoutInfinities(want[k]),
                                tolerance))
          << which << ", result " << k;
    }
  }

  // Expects the region to give what the evaluator gives, if tiles compute it.
  // Returns the evaluator's results.
  std::vector<Literal> ExpectRegion(const Module& module,
                                    const plan::Region& region,
                                    const std::vector<Literal>& operands,
                                    const std::string& which) {
    const Instruction& i = module.computation(region.computation)
                               .instructions()[region.instruction];
    const std::vector<Literal> want = EvaluateInstruction(module, i, operands);
    const auto program = MakeTileProgram(module, region);
    if (!program.ok()) {
      EXPECT_TRUE(absl::IsUnimplemented(program.status())) << program.status();
      ++counts_.not_by_tiles;
      ++counts_.reasons[std::string(program.status().message())];
      return want;
    }
    ++counts_.by_tiles;
    ++counts_.kinds[std::string(plan::RegionKindName(region.kind))];
    const bool sums = SumsFloats(module, region);
    const Tolerance order{.atol = 1e-3, .rtol = 1e-3, .ulp = 4};
    const auto plain = MakeTileProgram(module, region, {.isa = Isa::kBase});
    if (plain.ok()) {
      ExpectResults(*plain, operands, want,
                    sums ? order : Tolerance{.bits = true},
                    absl::StrCat(which, ", ", region.ToString()));
    } else {
      EXPECT_TRUE(absl::IsUnimplemented(plain.status())) << plain.status();
    }
    // Elementary functions of vectors are others than those of elements.
    if (IsRounded(module, region)) return want;
    for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
      if (isa > MachineIsa()) continue;
      const auto by_vectors = MakeTileProgram(module, region, {.isa = isa});
      EXPECT_OK(by_vectors);
      ExpectResults(
          *by_vectors, operands, want, sums ? order : Tolerance{},
          absl::StrCat(which, " by ", IsaName(isa), ", ", region.ToString()));
    }
    if (HasFailure()) std::cout << Print(module);
    return want;
  }

  void ExpectRegions(const Module& module, const std::string& which,
                     Random& random, bool specials = true) {
    const auto plan = plan::MakePlan(module, plan::CpuTarget());
    ASSERT_OK(plan) << which;
    const Computation& c = plan->module.entry();
    std::vector<Literal> values(c.num_values());
    const auto arguments =
        RandomArguments(module.signature(), random, specials);
    std::copy(arguments.begin(), arguments.end(), values.begin());
    for (size_t n = 0; n < c.instructions().size(); ++n) {
      const Instruction& i = c.instructions()[n];
      const plan::Region& region = plan->entry().regions[n];
      if (region.kind == plan::RegionKind::kNone) continue;
      std::vector<Literal> operands, results;
      for (const ValueId v : i.operands) operands.push_back(values[v]);
      switch (region.kind) {
        case plan::RegionKind::kLoop:
        case plan::RegionKind::kTiledTranspose:
        case plan::RegionKind::kRow:
        case plan::RegionKind::kColumnReduction:
        case plan::RegionKind::kFullReduction:
          results = ExpectRegion(plan->module, region, operands, which);
          break;
        default:
          results = EvaluateInstruction(plan->module, i, operands);
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
              << counts_.not_by_tiles << " not; " << counts_.repeated
              << " programs repeated\n";
    for (const auto& [kind, count] : counts_.kinds) {
      std::cout << "  " << kind << ": " << count << "\n";
    }
    for (const auto& [reason, count] : counts_.reasons) {
      std::cout << "  not: " << reason << ": " << count << "\n";
    }
  }

  ThreadPool pool_{2};
  const std::shared_ptr<HostAllocator> allocator_ = HostAllocator::Make(0);
  const Environment environment_ = {.pool = &pool_,
                                    .allocator = allocator_.get()};
  Counts counts_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_TILES_TILE_TEST_H_
