// Axes of size 0 are axes like others: every op over them, whole and cut, has
// the shapes that it says, the values of the whole, and an end.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/movement/shape.h"
#include "core/ops/registry.h"
#include "core/sharding/choice/choose.h"
#include "tests/core/sharding/formulas.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

constexpr int kDrawsOfEmpties = 6 * HAWSER_TIMES;

bool HasEmptyAxis(const Module& module) {
  const Computation& entry = module.entry();
  for (ValueId value = 0; value < entry.num_values(); ++value) {
    if (entry.shape(value).num_elements() == 0) return true;
  }
  return false;
}

// Every axis of every parameter cut into `parts`, alone.
std::vector<ShardSpec> CutsOfEachAxis(const Signature& signature,
                                      int64_t parts) {
  std::vector<ShardSpec> specs;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    for (int axis = 0; axis < signature.parameters[i].rank(); ++axis) {
      ShardSpec& spec = specs.emplace_back();
      spec.unnamed = ShardSpec::Unnamed::kWhole;
      spec.contracted = ShardSpec::Contracted::kSplit;
      spec.parameters.push_back({.value = static_cast<int>(i),
                                 .axis = axis,
                                 .kind = AxisCut::Kind::kParts,
                                 .parts = parts,
                                 .sizes = {}});
    }
  }
  return specs;
}

// How many cuts were tried.
int ExpectWholeHoweverCut(const Module& module, uint64_t seed) {
  int tried = 0;
  for (const int64_t places : {2, 3}) {
    std::vector<ShardSpec> specs = CutsOfEachAxis(module.signature(), places);
    specs.emplace_back().max_tasks = 64;  // every index of every axis
    for (const ShardSpec& spec : specs) {
      const auto sharding = Shard(module, spec);
      EXPECT_OK(sharding) << Print(module) << ToString(spec);
      if (!sharding.ok()) return tried;
      ExpectWhole(module, *sharding, seed);
      ++tried;
    }
    const std::vector<PlaceFigures> slow(places, {.steps = 1, .bytes = 1});
    const std::vector<ArgumentLayout> here(module.entry().num_parameters());
    EXPECT_OK(ChooseSpec(module, slow, here)) << Print(module);
  }
  return tried;
}

TEST(EmptyAxes, OfEveryOpCutAreThoseOfTheWhole) {
  int tried = 0;
  std::set<const OpDef*> seen;
  for (const OpDef* op : AllOps()) {
    if (op->Is(kNullary) || op == &kFusion || op == &kCall) continue;
    for (const DType dtype :
         {DType::kF32, DType::kS32, DType::kBF16, DType::kBool, DType::kC64}) {
      for (int i = 0; i < kDrawsOfEmpties; ++i) {
        const uint64_t seed = 1000 * static_cast<int>(dtype) + i;
        const Module module = RandomModule(seed, {.parameters = 2,
                                                  .instructions = 1,
                                                  .dtypes = DTypeSet::Of(dtype),
                                                  .empty_axes = 2,
                                                  .ops = {op}});
        if (!HasEmptyAxis(module)) continue;
        const int cuts = ExpectWholeHoweverCut(module, seed);
        tried += cuts;
        if (cuts > 0) seen.insert(op);
        ASSERT_FALSE(HasFailure()) << op->name << " of " << DTypeName(dtype);
      }
    }
  }
  std::cout << tried << " cuts of " << seen.size() << " ops over empty axes\n";
  EXPECT_EQ(seen.size(), AllOps().size() - 5);
}

TEST(EmptyAxes, OfRandomGraphsCutAreThoseOfTheWhole) {
  int graphs = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Module module = RandomModule(
        seed, {.instructions = 6, .max_elements = 64, .empty_axes = 4});
    if (!HasEmptyAxis(module)) continue;
    ++graphs;
    ExpectWholeHoweverCut(module, seed);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  std::cout << graphs << " random graphs over empty axes\n";
  EXPECT_GE(graphs, 20);
}

// The reported ones, and others whose sizes give 0 by other axes.
TEST(EmptyAxes, OfReshapesOfNothingEnd) {
  const auto reversed = [](const Dims& dims) {
    Dims axes;
    for (size_t i = dims.size(); i > 0; --i) {
      axes.push_back(static_cast<int64_t>(i) - 1);
    }
    return axes;
  };
  const Dims shapes[] = {{0},    {0, 3}, {3, 0},    {0, 4},    {4, 0},
                         {0, 0}, {2, 0}, {1, 0, 5}, {6, 0, 2}, {2, 3, 0, 4}};
  for (const Dims& from : shapes) {
    for (const Dims& to : shapes) {
      const Module module = ModuleOf({F32(from)}, [&](const auto& p) {
        return Formulas{Reshaped(Transposed(p[0] + p[0], reversed(from)), to)};
      });
      ExpectWholeHoweverCut(module, 1);
      ASSERT_FALSE(HasFailure());
    }
  }
}

}  // namespace
}  // namespace hawser
