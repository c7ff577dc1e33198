// A data-parallel step of a small model over three servers, beside the same
// messages and bytes of bare gRPC among the same processes; the bytes that go
// through the client beside those of the plan; and a small step that is not
// cut, beside the same on one of the servers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "core/sharding/shard.h"
#include "tests/bench/echo/echo_client.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/rounds.h"

namespace hawser::bench {
namespace {

using runtime::BufferPtr;

constexpr int kPlaces = 3;
constexpr int64_t kRows = 96, kInputs = 64, kOutputs = 10;
constexpr int64_t kWeightBytes = kInputs * kOutputs * 4;
constexpr int kSteps = 1000, kRounds = 5;
constexpr int64_t kElements = 64;
constexpr int kChainSteps = 2000;

Expression Product(const Expression& x, const Expression& y, int64_t x_axis,
                   int64_t y_axis) {
  return Apply(kDotGeneral, {x, y},
               {{"lhs_batching_dimensions", Dims{}},
                {"lhs_contracting_dimensions", Dims{x_axis}},
                {"rhs_batching_dimensions", Dims{}},
                {"rhs_contracting_dimensions", Dims{y_axis}}});
}

// (w, x, y) -> w less a hundredth of the gradient of |x w - y|^2 / 2.
Module StepModule() {
  Module module("step");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Expression w(
      &scope, b.Parameter(Shape::Of(DType::kF32, {kInputs, kOutputs})));
  const Expression x(&scope,
                     b.Parameter(Shape::Of(DType::kF32, {kRows, kInputs})));
  const Expression y(&scope,
                     b.Parameter(Shape::Of(DType::kF32, {kRows, kOutputs})));
  const Expression off = Product(x, w, 1, 0) - y;
  const Expression gradient = Product(x, off, 0, 0);
  HAWSER_CHECK(b.Finish({(w - 0.0001 * gradient).value()}).ok());
  return module;
}

ShardSpec ByRows() {
  ShardSpec spec;
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  spec.contracted = ShardSpec::Contracted::kSplit;
  for (const int argument : {1, 2}) {
    spec.parameters.push_back({.value = argument,
                               .axis = 0,
                               .kind = AxisCut::Kind::kParts,
                               .parts = kPlaces});
  }
  return spec;
}

// What a chain of steps takes, each.
class Ours {
 public:
  static absl::StatusOr<Ours> Make(
      const std::vector<std::shared_ptr<runtime::Client>>& places) {
    Ours ours;
    HAWSER_ASSIGN_OR_RETURN(ours.client_, MakeShardedClient(places));
    HAWSER_ASSIGN_OR_RETURN(
        ours.step_,
        ours.client_->Compile(
            std::make_shared<const Module>(StepModule()),
            {.cuts = std::make_shared<const ShardSpec>(ByRows())}, {}));
    const auto shapes = ours.step_->signature().parameters;
    HAWSER_ASSIGN_OR_RETURN(
        ours.w_, ours.client_->Upload(Literal::Zeros(shapes[0]), {}));
    HAWSER_RETURN_IF_ERROR(ours.Place(shapes[1], &ours.x_));
    HAWSER_RETURN_IF_ERROR(ours.Place(shapes[2], &ours.y_));
    return ours;
  }

  absl::Status Steps(int count) {
    for (int i = 0; i < count; ++i) {
      HAWSER_ASSIGN_OR_RETURN(auto next, step_->Execute({w_, x_, y_}, {}));
      w_ = next[0];
      // One at a time: the next needs all of it.
      HAWSER_RETURN_IF_ERROR(w_->Ready({}).Await().status());
    }
    return absl::OkStatus();
  }
  ShardedStats stats() const { return client_->stats(); }

 private:
  // Rows that are at the places already, as results of a step before are.
  absl::Status Place(const Shape& shape, BufferPtr* there) {
    Module module("rows");
    ComputationBuilder b(&module, "main");
    Monoids monoids;
    ExpressionScope scope{b, monoids};
    const Expression x(&scope, b.Parameter(shape));
    HAWSER_RETURN_IF_ERROR(b.Finish({(x + 0.5).value()}).status());
    ShardSpec spec = ByRows();
    spec.parameters.resize(1);
    spec.parameters[0].value = 0;
    HAWSER_ASSIGN_OR_RETURN(
        auto rows, client_->Compile(
                       std::make_shared<const Module>(std::move(module)),
                       {.cuts = std::make_shared<const ShardSpec>(spec)}, {}));
    HAWSER_ASSIGN_OR_RETURN(auto made,
                            rows->Execute({Literal::Zeros(shape)}, {}));
    *there = made[0];
    return (*there)->Ready({}).Await().status();
  }

  std::shared_ptr<ShardedClient> client_;
  std::shared_ptr<runtime::Executable> step_;
  BufferPtr w_, x_, y_;
};

// (w, x) -> 0.999 w + x.
Module ChainModule() {
  Module module("step");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Shape shape = Shape::Of(DType::kF32, {kElements});
  const Expression w(&scope, b.Parameter(shape));
  const Expression x(&scope, b.Parameter(shape));
  HAWSER_CHECK(b.Finish({(0.999 * w + x).value()}).ok());
  return module;
}

// A chain of steps that no client cuts; only its end is waited for.
class Chain {
 public:
  static absl::StatusOr<Chain> Make(std::shared_ptr<runtime::Client> client) {
    Chain chain;
    HAWSER_ASSIGN_OR_RETURN(
        chain.step_,
        client->Compile(std::make_shared<const Module>(ChainModule()), {}, {}));
    const Shape shape = chain.step_->signature().parameters[0];
    HAWSER_ASSIGN_OR_RETURN(chain.w_,
                            client->Upload(Literal::Zeros(shape), {}));
    HAWSER_ASSIGN_OR_RETURN(chain.x_,
                            client->Upload(Literal::Zeros(shape), {}));
    chain.client_ = std::move(client);
    return chain;
  }

  absl::StatusOr<double> SecondsOfStep() {
    const absl::Time start = SteadyNow();
    for (int i = 0; i < kChainSteps; ++i) {
      HAWSER_ASSIGN_OR_RETURN(auto next, step_->Execute({w_, x_}, {}));
      w_ = next[0];
    }
    HAWSER_RETURN_IF_ERROR(w_->Fetch({}).Await().status());
    return absl::ToDoubleSeconds(SteadyNow() - start) / kChainSteps;
  }

 private:
  std::shared_ptr<runtime::Client> client_;
  std::shared_ptr<runtime::Executable> step_;
  BufferPtr w_, x_;
};

// The weights to two places, a gradient from each of the three, two of them on
// to the third, and what that makes of them back: on streams that are open,
// by one thread that waits for nothing else.
absl::Status BareStep(std::vector<std::unique_ptr<EchoClient>>& echo,
                      const std::vector<EchoMessage>& first,
                      const EchoMessage& second) {
  for (int i = 0; i < kPlaces; ++i) {
    HAWSER_RETURN_IF_ERROR(echo[i]->BeginPing(first[i]));
  }
  for (int i = 0; i < kPlaces; ++i) {
    HAWSER_RETURN_IF_ERROR(echo[i]->EndPing());
  }
  return echo[0]->Ping(second);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

absl::Status CompareChains(
    const std::vector<std::shared_ptr<runtime::Client>>& places) {
  HAWSER_ASSIGN_OR_RETURN(Chain one, Chain::Make(places[0]));
  HAWSER_ASSIGN_OR_RETURN(auto sharded, MakeShardedClient(places));
  HAWSER_ASSIGN_OR_RETURN(Chain three, Chain::Make(sharded));
  std::vector<double> ratios, ours, floors;
  for (int round = 0; round <= kRounds; ++round) {
    HAWSER_ASSIGN_OR_RETURN(const double own, three.SecondsOfStep());
    HAWSER_ASSIGN_OR_RETURN(const double floor, one.SecondsOfStep());
    if (round == 0) continue;
    ratios.push_back(own / floor);
    ours.push_back(own);
    floors.push_back(floor);
  }
  std::printf(
      "| a small step, beside one server | %.1f us | %.1f us | %.2f | 2 |\n",
      Median(ours) * 1e6, Median(floors) * 1e6, Median(ratios));
  return absl::OkStatus();
}

absl::Status Main() {
  std::vector<Peers> peers;
  std::vector<std::shared_ptr<runtime::Client>> places;
  std::vector<std::unique_ptr<EchoClient>> echo;
  for (int i = 0; i < kPlaces; ++i) {
    HAWSER_ASSIGN_OR_RETURN(Peers pair, Peers::Start(0));
    peers.push_back(std::move(pair));
    HAWSER_ASSIGN_OR_RETURN(places.emplace_back(),
                            ConnectRemote(peers[i].hawserd(), {}));
    HAWSER_RETURN_IF_ERROR(places[i]->capabilities().status());
    echo.push_back(std::make_unique<EchoClient>(peers[i].echo()));
  }
  HAWSER_ASSIGN_OR_RETURN(Ours ours, Ours::Make(places));
  const size_t bytes = kWeightBytes;
  const std::vector<EchoMessage> first = {
      RequestOf({.request = 64, .answer = bytes}),
      RequestOf({.request = bytes, .answer = bytes}),
      RequestOf({.request = bytes, .answer = bytes})};
  const EchoMessage second = RequestOf({.request = 2 * bytes, .answer = bytes});
  const auto seconds = [](absl::Time since) {
    return absl::ToDoubleSeconds(SteadyNow() - since);
  };
  std::vector<double> ratios, steps, floors;
  int64_t moved = 0;
  for (int round = 0; round <= kRounds; ++round) {
    const ShardedStats before = ours.stats();
    absl::Time start = SteadyNow();
    HAWSER_RETURN_IF_ERROR(ours.Steps(kSteps));
    const double own = seconds(start);
    const ShardedStats after = ours.stats();
    start = SteadyNow();
    for (int i = 0; i < kSteps; ++i) {
      HAWSER_RETURN_IF_ERROR(BareStep(echo, first, second));
    }
    const double bare = seconds(start);
    if (round == 0) continue;
    moved = after.sent_bytes - before.sent_bytes;
    ratios.push_back(own / bare);
    steps.push_back(own / kSteps);
    floors.push_back(bare / kSteps);
  }
  // What tasks take that is not where they run: the weights at two places, two
  // gradients at the third.
  const int64_t planned = 4 * kWeightBytes;
  std::printf(
      "| what | ours | floor | ratio | target |\n|---|---|---|---|---|\n"
      "| a step over %d places | %.0f us | %.0f us | %.2f | 2 |\n"
      "| bytes sent by a step, of the plan's | %.0f | %.0f | %.2f | 1 |\n",
      kPlaces, Median(steps) * 1e6, Median(floors) * 1e6,
      Median(ratios), static_cast<double>(moved) / kSteps,
      static_cast<double>(planned),
      static_cast<double>(moved) / kSteps / static_cast<double>(planned));
  return CompareChains(places);
}

}  // namespace
}  // namespace hawser::bench

int main() {
  const absl::Status status = hawser::bench::Main();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
