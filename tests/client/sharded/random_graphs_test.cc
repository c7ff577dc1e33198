// Random graphs by random specs over 1, 2, 3 and 5 places, of which one goes
// away: the bits of one spec do not depend on the places.
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/registry.h"
#include "core/sharding/shard.h"
#include "core/sharding/shard_spec.h"
#include "gtest/gtest.h"
#include "tests/client/fallback/scripted_client.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

constexpr uint64_t kGraphs = 150;

struct Outcome {
  absl::StatusOr<std::vector<Literal>> values;
  ShardedStats stats;
};

// `leaves`: after so many executions the last place goes away; -1: never.
Outcome RunOn(int count, int leaves, const Module& module,
              const ShardSpec& spec, const std::vector<Literal>& arguments,
              runtime::Numerics numerics = runtime::Numerics::kFast) {
  std::vector<std::shared_ptr<ScriptedClient>> places;
  std::vector<std::shared_ptr<runtime::Client>> clients;
  for (int i = 0; i < count; ++i) {
    places.push_back(std::make_shared<ScriptedClient>());
    clients.push_back(places.back());
  }
  if (leaves >= 0) places.back()->GoAwayAfter(leaves);
  auto client =
      MakeShardedClient(clients, {.probe_first = absl::InfiniteDuration()});
  Outcome outcome;
  outcome.values = [&]() -> absl::StatusOr<std::vector<Literal>> {
    HAWSER_ASSIGN_OR_RETURN(
        auto executable,
        (*client)->Compile(std::make_shared<const Module>(module),
                           {.numerics = numerics,
                            .cuts = std::make_shared<const ShardSpec>(spec)},
                           {}));
    const std::vector<runtime::Argument> values(arguments.begin(),
                                                arguments.end());
    HAWSER_ASSIGN_OR_RETURN(auto results, executable->Execute(values, {}));
    std::vector<Literal> fetched;
    for (const auto& result : results) {
      HAWSER_ASSIGN_OR_RETURN(
          fetched.emplace_back(),
          result->Fetch({}).Await(SteadyNow() + absl::Minutes(1)));
    }
    return fetched;
  }();
  outcome.stats = (*client)->stats();
  return outcome;
}

TEST(ShardedSeed, TheSeedsExampleOnOneToFivePlaces) {
  const Literal want = Literal::Of<float>({319, 340, 823, 880}, {2, 2});
  for (const char* text : {"1.4=1+1", "0.0* 0.1/2 0.2/3 1.4=1+1 split"}) {
    const auto spec = ParseShardSpec(text);
    ASSERT_OK(spec);
    for (int places = 1; places <= 5; ++places) {
      for (const int leaves : {-1, 0, 1}) {
        if (places == 1 && leaves >= 0) continue;
        const Outcome outcome =
            RunOn(places, leaves, SeedModule(), *spec, SeedArguments());
        ASSERT_OK(outcome.values) << text << " on " << places;
        EXPECT_THAT((*outcome.values)[0], LiteralBitEquals(want));
      }
    }
  }
}

// All but eig, whose vectors have a sign that strict numerics, which is not
// LAPACK, may choose otherwise.
std::vector<const OpDef*> DrawnOps() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : AllOps()) {
    if (op != &kEig) ops.push_back(op);
  }
  return ops;
}

TEST(ShardedRandomGraphs, AreTheSameOnAnyNumberOfPlaces) {
  const std::vector<const OpDef*> ops = DrawnOps();
  int64_t cut = 0, split = 0, lost = 0, again = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Random random(seed);
    const Module module = RandomModule(seed, {.instructions = 12, .ops = ops});
    ShardSpec spec = RandomSpec(module.signature(), random);
    const auto sharding = Shard(module, spec);
    if (absl::IsInvalidArgument(sharding.status())) continue;
    ASSERT_OK(sharding);
    cut += sharding->tasks.size() > 1 ? 1 : 0;
    split += sharding->between.empty() ? 0 : 1;
    const auto arguments =
        RandomArguments(module.signature(), random, !SumsFloats(module));
    // Functions that no row promises the bits of are the evaluator's in strict
    // numerics.
    const Outcome strict =
        RunOn(1, -1, module, spec, arguments, runtime::Numerics::kStrict);
    const Outcome first = RunOn(1, -1, module, spec, arguments);
    const auto whole = RunModule(module, arguments);
    ASSERT_EQ(first.values.ok(), whole.ok())
        << "seed " << seed << ": " << first.values.status() << whole.status();
    ASSERT_EQ(strict.values.ok(), whole.ok())
        << "seed " << seed << ": " << strict.values.status() << whole.status();
    if (!whole.ok()) continue;
    for (size_t k = 0; k < whole->size(); ++k) {
      ASSERT_THAT((*strict.values)[k],
                  LiteralNear((*whole)[k], ToleranceOf(module)))
          << "seed " << seed << " " << ToString(spec);
    }
    for (const int places : {2, 3, 5}) {
      for (const bool leaves : {false, true}) {
        // A place that is slow to start may get none of the first tasks: one
        // that is to leave does so in its fair share of them.
        const int64_t share =
            1 + static_cast<int64_t>(sharding->tasks.size()) / places;
        const int after = leaves ? static_cast<int>(random.Below(share)) : -1;
        const Outcome other = RunOn(places, after, module, spec, arguments);
        ASSERT_OK(other.values) << "seed " << seed << " on " << places
                                << " after " << after;
        for (size_t k = 0; k < whole->size(); ++k) {
          ASSERT_THAT((*other.values)[k],
                      LiteralBitEquals((*first.values)[k]))
              << "seed " << seed << " on " << places << " after " << after;
        }
        lost += other.stats.places_left;
        again += other.stats.tasks_again;
      }
    }
  }
  std::cout << kGraphs << " graphs, " << cut << " of them cut, " << split
            << " split; " << lost << " places lost, " << again
            << " tasks done again\n";
  EXPECT_GT(cut, 50);
  EXPECT_GT(split, 5);
  EXPECT_GT(lost, 50);
}

}  // namespace
}  // namespace hawser
