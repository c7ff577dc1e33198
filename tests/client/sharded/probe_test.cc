#include "client/sharded/places/probe.h"

#include <cmath>
#include <memory>
#include <vector>

#include "client/sharded/sharded_client.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/fallback/scripted_client.h"
#include "tests/core/sharding/formulas.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(ProbeTest, FiguresArePowersOfTwo) {
  const auto cpu = cpu::MakeCpuClient({.threads = 1});
  ASSERT_OK_AND_ASSIGN(const PlaceFigures figures, MeasurePlace(*cpu));
  for (const double figure :
       {figures.steps, figures.bytes, figures.link, figures.round_trip}) {
    EXPECT_GT(figure, 0);
    EXPECT_EQ(std::log2(figure), std::round(std::log2(figure)));
  }
  EXPECT_GT(figures.steps, 1e7);
  EXPECT_LT(figures.round_trip, 1);
}

TEST(ProbeTest, APlaceThatIsAwayIsNotMeasured) {
  ScriptedClient away;
  away.GoAway();
  EXPECT_THAT(MeasurePlace(away),
              StatusIs(absl::StatusCode::kUnavailable, ""));
}

// Without marks a product of large matrices goes to all of the places that are
// there, and a small one to one.
TEST(ProbeTest, WorkIsSpreadByWhatItCosts) {
  std::vector<std::shared_ptr<ScriptedClient>> places;
  std::vector<std::shared_ptr<runtime::Client>> clients;
  for (int i = 0; i < 3; ++i) {
    places.push_back(std::make_shared<ScriptedClient>());
    clients.push_back(places.back());
  }
  ASSERT_OK_AND_ASSIGN(const auto client, MakeShardedClient(clients));
  const auto executions = [&] {
    int all = 0;
    for (const auto& place : places) all += place->counts().executions;
    return all;
  };
  for (const int64_t n : {int64_t{8}, int64_t{900}}) {
    const auto product = std::make_shared<const Module>(
        ModuleOf({F32({n, n}), F32({n, n})}, [](const auto& p) {
          return Formulas{Product(p[0], p[1])};
        }));
    ASSERT_OK_AND_ASSIGN(const auto executable,
                         client->Compile(product, {}, {}));
    const Literal ones = Literal::Zeros(F32({n, n}));
    ASSERT_OK_AND_ASSIGN(const auto results,
                         executable->Execute({ones, ones}, {}));
    EXPECT_OK(results[0]->Fetch({}).Await());
    if (n == 8) {
      EXPECT_EQ(executions(), 1);  // and nothing was measured
    } else {
      EXPECT_GT(executions(), 3 * 4);
    }
  }
}

}  // namespace
}  // namespace hawser
