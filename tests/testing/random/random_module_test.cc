#include "tests/testing/random/random_module.h"

#include <map>
#include <string>

#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(RandomModule, IsSoundAndTheSameForASeed) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Module module = RandomModule(seed);
    EXPECT_OK(Verify(module)) << "seed " << seed;
    EXPECT_EQ(Print(module), Print(RandomModule(seed)));
  }
  EXPECT_NE(Print(RandomModule(1)), Print(RandomModule(2)));
}

// Not drawn means: needs a row in random_proposals.cc.
TEST(RandomModule, DrawsEveryOpOfTheRegistry) {
  std::map<std::string, int> drawn;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Module module = RandomModule(seed);
    for (const Computation& c : module.computations()) {
      for (const Instruction& i : c.instructions()) {
        ++drawn[std::string(i.op->name)];
      }
    }
  }
  for (const OpDef* op : AllOps()) {
    EXPECT_GE(drawn[std::string(op->name)], 10) << op->name;
  }
}

TEST(RandomModule, KeepsToItsOptions) {
  const RandomModuleOptions options{.parameters = 2,
                                    .instructions = 50,
                                    .max_elements = 20,
                                    .regions = false};
  int64_t instructions = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Module module = RandomModule(seed, options);
    ASSERT_EQ(module.computations().size(), 1u);
    const Computation& c = module.entry();
    EXPECT_EQ(c.num_parameters(), 2);
    EXPECT_FALSE(c.results().empty());
    instructions += c.instructions().size();
    for (ValueId v = 0; v < c.num_values(); ++v) {
      EXPECT_LE(c.shape(v).num_elements(), 20);
    }
  }
  // Nearly every attempt to grow succeeds.
  EXPECT_GE(instructions, 50 * 50);
}

TEST(RandomModule, DrawsFromTheGivenOpsOnly) {
  const OpDef* const add = FindOp("add");
  const Module module = RandomModule(3, {.ops = {add}});
  int adds = 0;
  for (const Instruction& i : module.entry().instructions()) {
    EXPECT_TRUE(i.op == add || i.operands.empty());
    adds += i.op == add ? 1 : 0;
  }
  EXPECT_EQ(adds, 24);
}

}  // namespace
}  // namespace hawser
