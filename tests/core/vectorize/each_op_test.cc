// Every op for a batch gives what it gives for each entry.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/control.h"
#include "core/ops/registry.h"
#include "core/vectorize/vectorize.h"
#include "gtest/gtest.h"
#include "tests/core/vectorize/entries.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

// Drawn of each pair of op and dtype.
constexpr int kDraws = 8 * HAWSER_TIMES;
constexpr uint64_t kGraphs = 60 * HAWSER_TIMES;

int64_t DrawSize(Random& random) {
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 3};
  return kSizes[random.Below(5)];
}

int InstructionsOf(const OpDef& op, const Module& module) {
  int count = 0;
  for (const Instruction& i : module.entry().instructions()) {
    count += i.op == &op;
  }
  return count;
}

void ExpectEntriesOfRandom(const Module& module, Random& random,
                           const std::string& which) {
  const OpenModule open = Opened(module);
  const auto batched = SomeBatched(open, random);
  const int64_t size = DrawSize(random);
  ExpectEntries(open.module, batched, size,
                DrawArguments(open, batched, size, random), which);
}

TEST(Vectorize, EveryOpAndDTypeGivesItsEntries) {
  int pairs = 0, batches = 0;
  for (const OpDef* op : AllOps()) {
    // No random module has a call: control_flow_test.cc.
    if (op->Is(kNullary) || op == &kCall) continue;
    int instructions = 0;
    for (const DType dtype : AllDTypes()) {
      ++pairs;
      for (int i = 0; i < kDraws; ++i, ++batches) {
        const uint64_t seed = 1000 * pairs + i;
        Random random(seed);
        const Module module = RandomModule(
            seed,
            {.instructions = 1, .dtypes = DTypeSet::Of(dtype), .ops = {op}});
        instructions += InstructionsOf(*op, module);
        ExpectEntriesOfRandom(
            module, random,
            absl::StrCat(op->name, " of ", DTypeName(dtype), ", seed ", seed));
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(instructions, 0) << op->name;
  }
  std::cout << batches << " batches of " << pairs
            << " pairs of op and dtype, bit for bit\n";
}

TEST(Vectorize, RandomGraphsGiveTheirEntries) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Random random(seed);
    ExpectEntriesOfRandom(RandomModule(seed), random,
                          absl::StrCat("seed ", seed));
    if (HasFatalFailure()) return;
  }
}

// Entries of entries: the first batch becomes the parameters of a second.
TEST(Vectorize, TwiceGivesTheEntriesOfEntries) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Random random(seed);
    const OpenModule open =
        Opened(RandomModule(seed, {.instructions = 12, .max_elements = 48}));
    const auto inner = SomeBatched(open, random);
    const auto once = Vectorize(open.module, {.size = 2, .batched = inner});
    ASSERT_OK(once);
    OpenModule twice{*once, open.roles, open.values};
    for (size_t p = 0; p < inner.size(); ++p) {
      if (inner[p]) twice.roles[p] = Role::kFree;
    }
    const auto outer = SomeBatched(twice, random);
    auto arguments = DrawArguments(twice, outer, 2, random);
    // Counters and initial values keep their roles within both batches.
    const auto once_drawn = DrawArguments(open, inner, 2, random);
    for (size_t p = 0; p < inner.size(); ++p) {
      if (open.roles[p] == Role::kFree || !inner[p]) continue;
      const Shape& shape = arguments[p].shape();
      std::vector<char> bytes;
      const auto one = once_drawn[p].bytes();
      for (int b = 0; b < (outer[p] ? 2 : 1); ++b) {
        bytes.insert(bytes.end(), one.begin(), one.end());
      }
      arguments[p] = *Literal::FromBytes(shape, bytes);
    }
    ExpectEntries(*once, outer, 2, arguments, absl::StrCat("seed ", seed));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hawser
