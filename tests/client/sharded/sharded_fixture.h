// ShardedFixture: a sharded client over three scripted places.
#ifndef HAWSER_TESTS_CLIENT_SHARDED_SHARDED_FIXTURE_H_
#define HAWSER_TESTS_CLIENT_SHARDED_SHARDED_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "core/sharding/shard_spec.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/fallback/scripted_client.h"
#include "tests/testing/matchers.h"

namespace hawser {

MATCHER_P(Gives, want, "gives " + want.ToString()) {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(LiteralEquals(want), *arg,
                                       result_listener);
}

inline constexpr int64_t kRows = 12;
inline constexpr int64_t kColumns = 5;

inline Shape Rows() { return Shape::Of(DType::kF32, {kRows, kColumns}); }

inline Literal Numbers(const Shape& shape, float first) {
  Literal value = Literal::Uninitialized(shape);
  for (float& x : value.mutable_data<float>()) x = first++;
  return value;
}

template <typename Formula>
std::shared_ptr<const Module> SharedModule(const std::vector<Shape>& shapes,
                                       Formula formula) {
  auto module = std::make_shared<Module>("formula");
  ComputationBuilder b(module.get(), "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  std::vector<Expression> parameters;
  for (const Shape& shape : shapes) {
    parameters.emplace_back(&scope, b.Parameter(shape));
  }
  const Expression result = formula(parameters);
  EXPECT_OK(b.Finish({result.value()}));
  return module;
}

// (x, y: f32[12,5]) -> x * y + x.
inline std::shared_ptr<const Module> RowWise() {
  return SharedModule({Rows(), Rows()},
                  [](const auto& p) { return p[0] * p[1] + p[0]; });
}
// x: f32[12,5] -> the sums of its columns.
inline std::shared_ptr<const Module> ColumnSums() {
  return SharedModule({Rows()}, [](const auto& p) { return Summed(p[0], {0}); });
}

inline runtime::CompileOptions CutBy(const std::string& text) {
  absl::StatusOr<ShardSpec> spec = ParseShardSpec(text);
  EXPECT_OK(spec);
  spec->unnamed = ShardSpec::Unnamed::kWhole;
  return {.cuts = std::make_shared<const ShardSpec>(*spec)};
}

class ShardedFixture : public ::testing::Test {
 protected:
  ShardedFixture() {
    std::vector<std::shared_ptr<runtime::Client>> clients;
    for (int i = 0; i < 3; ++i) {
      places_.push_back(std::make_shared<ScriptedClient>());
      clients.push_back(places_.back());
    }
    client_ =
        *MakeShardedClient(clients, {.probe_first = absl::Milliseconds(1)});
  }

  std::vector<runtime::BufferPtr> Run(
      const std::shared_ptr<const Module>& module,
      const std::vector<runtime::Argument>& arguments,
      const std::string& cuts) {
    auto executable = client_->Compile(module, CutBy(cuts), {});
    EXPECT_OK(executable);
    auto results = (*executable)->Execute(arguments, {});
    EXPECT_OK(results);
    return results.ok() ? *std::move(results)
                        : std::vector<runtime::BufferPtr>();
  }
  static absl::StatusOr<Literal> Fetch(const runtime::BufferPtr& buffer) {
    return buffer->Fetch({}).Await(SteadyNow() + absl::Seconds(30));
  }
  // What one place says.
  static Literal Expected(const std::shared_ptr<const Module>& module,
                          const std::vector<runtime::Argument>& arguments) {
    const auto cpu = cpu::MakeCpuClient({});
    auto executable = cpu->Compile(module, {}, {});
    auto results = (*executable)->Execute(arguments, {});
    return *(*results)[0]->Fetch({}).Await();
  }
  // They are known to be done a little after what they give is here.
  void ExpectTasks(int64_t done) const {
    const absl::Time end = SteadyNow() + absl::Seconds(20);
    while (client_->stats().tasks < done && SteadyNow() < end) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    EXPECT_EQ(client_->stats().tasks, done);
  }
  int executions() const {
    int all = 0;
    for (const auto& place : places_) all += place->counts().executions;
    return all;
  }

  std::vector<std::shared_ptr<ScriptedClient>> places_;
  std::shared_ptr<ShardedClient> client_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_SHARDED_SHARDED_FIXTURE_H_
