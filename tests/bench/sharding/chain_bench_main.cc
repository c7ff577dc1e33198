// A chain of small steps on a client of three servers, beside the same chain on
// one of them: what each step costs when nothing is cut.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/ops/expression.h"
#include "tests/bench/peers.h"

namespace hawser::bench {
namespace {

using runtime::BufferPtr;

constexpr int kPlaces = 3;
constexpr int64_t kElements = 64;
constexpr int kSteps = 2000, kRounds = 5;

// (w, x) -> 0.999 w + x.
Module StepModule() {
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

// Seconds a step of one chain takes; only its end is waited for.
class Chain {
 public:
  static absl::StatusOr<Chain> Make(std::shared_ptr<runtime::Client> client) {
    Chain chain;
    HAWSER_ASSIGN_OR_RETURN(
        chain.step_,
        client->Compile(std::make_shared<const Module>(StepModule()), {}, {}));
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
    for (int i = 0; i < kSteps; ++i) {
      HAWSER_ASSIGN_OR_RETURN(auto next, step_->Execute({w_, x_}, {}));
      w_ = next[0];
    }
    HAWSER_RETURN_IF_ERROR(w_->Fetch({}).Await().status());
    return absl::ToDoubleSeconds(SteadyNow() - start) / kSteps;
  }

 private:
  std::shared_ptr<runtime::Client> client_;
  std::shared_ptr<runtime::Executable> step_;
  BufferPtr w_, x_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

absl::Status Main() {
  std::vector<Peers> peers;
  std::vector<std::shared_ptr<runtime::Client>> places;
  for (int i = 0; i < kPlaces; ++i) {
    HAWSER_ASSIGN_OR_RETURN(Peers pair, Peers::Start(0));
    peers.push_back(std::move(pair));
    HAWSER_ASSIGN_OR_RETURN(places.emplace_back(),
                            ConnectRemote(peers[i].hawserd(), {}));
    HAWSER_RETURN_IF_ERROR(places[i]->capabilities().status());
  }
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
      "| what | ours | floor | ratio | target |\n|---|---|---|---|---|\n"
      "| a small step on a client of %d places | %.1f us | %.1f us | %.2f | 2 "
      "|\n",
      kPlaces, Median(ours) * 1e6, Median(floors) * 1e6, Median(ratios));
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser::bench

int main() {
  const absl::Status status = hawser::bench::Main();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
