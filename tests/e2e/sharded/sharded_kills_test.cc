// Rounds of kill -9 of one or two of three servers under one sharded client.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/sharding/shard_spec.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/process_counts.h"

namespace hawser::testing {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// None of what is waited for takes so long: else it hangs.
constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int kServers = 3;
constexpr int kSteps = 5;
constexpr int64_t kTasksOfStep = 4;  // one for each third, one for their sum
constexpr int64_t kRows = 1536;
constexpr int64_t kColumns = 256;

// What a round does, one after the other.
enum class Phase { kPut, kTransfer, kTask, kFetch, kOver };
constexpr const char* kPhaseNames[] = {"put", "transfer", "task", "fetch",
                                       "nothing"};
std::ostream& operator<<(std::ostream& out, Phase phase) {
  return out << kPhaseNames[static_cast<int>(phase)];
}

struct Round {
  int number = 0;
  Phase phase = Phase::kPut;
  double moment = 0;  // of the time that the phase takes in peace
  std::vector<int> victims;
  bool stop = false;  // by SIGSTOP
  uint64_t seed = 0;  // of the dataset
};
std::ostream& operator<<(std::ostream& out, const Round& round) {
  out << "round " << round.number << ": in " << round.phase << " at "
      << round.moment << (round.stop ? ", stopped:" : ", killed:");
  for (const int victim : round.victims) out << " " << victim;
  return out << ", values of seed " << round.seed;
}

// Each phase equally often; every tenth round is a silent one.
std::vector<Round> DrawRounds() {
  const uint64_t seed = FromEnvironment("HAWSER_SEED", 20261123);
  std::cout << "HAWSER_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  std::vector<Round> rounds(FromEnvironment("HAWSER_KILL_ROUNDS", 20));
  for (size_t i = 0; i < rounds.size(); ++i) {
    Round& round = rounds[i];
    round.number = static_cast<int>(i);
    round.phase = static_cast<Phase>(i % 4);
    round.moment = std::uniform_real_distribution<double>(0, 1)(random);
    round.victims = {0, 1, 2};
    std::shuffle(round.victims.begin(), round.victims.end(), random);
    round.victims.resize(1 + random() % 2);
    round.stop = i % 10 == 5;
    // One that no server has, where it is put while they are killed.
    round.seed = round.phase == Phase::kPut ? i + 1 : 0;
  }
  std::shuffle(rounds.begin(), rounds.end(), random);
  return rounds;
}

// Whole numbers below `end`, so that all sums are exact.
Literal Numbers(const Shape& shape, uint64_t seed, uint32_t end) {
  Literal value = Literal::Uninitialized(shape);
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (float& x : value.mutable_data<float>()) x = random() % end;
  return value;
}
Shape Rows() { return Shape::Of(DType::kF32, {kRows, kColumns}); }
Shape Row() { return Shape::Of(DType::kF32, {kColumns}); }
Literal Weights() {
  return Numbers(Shape::Of(DType::kF32, {kColumns, kColumns}), 7, 3);
}

// (s, x, m, u) -> y = (s + x + u) m mod 7, the sums of its columns mod 7.
std::shared_ptr<const Module> StepModule() {
  auto module = std::make_shared<Module>("step");
  ComputationBuilder b(module.get(), "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Expression s(&scope, b.Parameter(Rows()));
  const Expression x(&scope, b.Parameter(Rows()));
  const Expression m(&scope, b.Parameter(Weights().shape()));
  const Expression u(&scope, b.Parameter(Row()));
  const Expression product =
      Apply(kDotGeneral, {s + x + Spread(u, {kRows, kColumns}, {0}), m},
            {{"lhs_batching_dimensions", Dims{}},
             {"lhs_contracting_dimensions", Dims{1}},
             {"rhs_batching_dimensions", Dims{}},
             {"rhs_contracting_dimensions", Dims{0}}});
  const Expression y = Apply(kRemainder, {product, Like(product, 7)});
  const Expression sums = Summed(y, {0});
  const Expression t = Apply(kRemainder, {sums, Like(sums, 7)});
  EXPECT_OK(b.Finish({y.value(), t.value()}));
  return module;
}

struct Results {
  Literal rows;
  Literal sums;
};

// All steps in this process.
Results Expected(uint64_t seed) {
  const auto cpu = cpu::MakeCpuClient({});
  const auto step = *cpu->Compile(StepModule(), {}, {});
  const Argument x = Numbers(Rows(), seed, 8);
  std::vector<Argument> state = {x, Literal::Zeros(Row())};
  for (int i = 0; i < kSteps; ++i) {
    const auto next = *step->Execute({state[0], x, Weights(), state[1]}, {});
    state = {next[0], next[1]};
  }
  return {*std::get<BufferPtr>(state[0])->Fetch({}).Await(),
          *std::get<BufferPtr>(state[1])->Fetch({}).Await()};
}

absl::StatusOr<Literal> Fetch(const BufferPtr& buffer) {
  return buffer->Fetch({}).Await(SteadyNow() + kPatience);
}

// What a server says of itself.
struct State {
  int64_t sessions = -1, buffers = -1, dataset_arrays = -1;
};
State Ask(Process& server) {
  State state;
  server.Signal(SIGUSR1);
  const auto line = server.ReadLineWith("hawserd state ", kPatience);
  if (!line.ok()) return state;
  for (absl::string_view word : absl::StrSplit(*line, ' ')) {
    for (const auto& [name, number] :
         {std::pair("sessions=", &state.sessions),
          std::pair("buffers=", &state.buffers),
          std::pair("dataset_arrays=", &state.dataset_arrays)}) {
      if (absl::ConsumePrefix(&word, name)) {
        EXPECT_TRUE(absl::SimpleAtoi(word, number)) << *line;
      }
    }
  }
  return state;
}

class ShardedKillsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    addresses_.resize(kServers);
    servers_.resize(kServers);
    std::vector<std::shared_ptr<runtime::Client>> places;
    for (int i = 0; i < kServers; ++i) {
      Start(i);
      // As Sharded does it.
      auto remote =
          ConnectRemote(addresses_[i], {.reattach_for = absl::Seconds(5),
                                        .silence = absl::Seconds(5),
                                        .give_up_silent = true});
      ASSERT_OK(remote);
      places.push_back(*remote);
    }
    client_ = *MakeShardedClient(std::move(places),
                                 {.probe_first = absl::Milliseconds(20),
                                  .probe_longest = absl::Milliseconds(200)});
    absl::StatusOr<ShardSpec> cuts = ParseShardSpec("0.0/3 1.0/3 split");
    cuts->unnamed = ShardSpec::Unnamed::kWhole;
    step_ = *client_->Compile(
        StepModule(), {.cuts = std::make_shared<const ShardSpec>(*cuts)}, {});
  }
  // From the second time on at the same address, with nothing of what it had.
  void Start(int i) {
    std::vector<std::string> flags;
    if (!addresses_[i].empty()) flags.push_back("--listen=" + addresses_[i]);
    servers_[i].reset();
    auto started = StartHawserd(flags, &addresses_[i]);
    ASSERT_OK(started);
    servers_[i] = std::make_unique<Process>(*std::move(started));
  }

  absl::StatusOr<std::vector<BufferPtr>> Step(
      const std::vector<Argument>& state, const Argument& x) {
    return step_->Execute({state[0], x, weights_, state[1]}, {});
  }
  absl::StatusOr<DatasetInfo> Put(const Literal& x) {
    DatasetSource source;
    source.arrays.push_back({"x", x});
    return client_->datasets().Put(
        source, {.cancel = CancelToken(SteadyNow() + kPatience)});
  }
  // Waits until all servers take part in a step and a put, and none is found
  // gone by them: what sends much has a connection of its own.
  void AwaitAllServers() {
    const Literal x = Numbers(Rows(), 0, 8);
    std::string ran_on;
    EXPECT_TRUE(Await(kPatience, [&] {
      const int64_t left = client_->stats().places_left;
      const auto results = Step({x, Literal::Zeros(Row())}, x);
      if (!results.ok() || !Fetch((*results)[0]).ok()) return false;
      if (!Put(x).ok()) return false;
      ran_on = (*results)[0]->ran_on().where;
      return client_->stats().places_left == left &&
             std::all_of(addresses_.begin(), addresses_.end(),
                         [&](const auto& one) {
                           return absl::StrContains(ran_on, one);
                         });
    })) << ran_on;
  }

  // Begins a phase of the round, in which its victims may be killed; without
  // one it is timed.
  void Enter(Phase phase, const Round* round) {
    const absl::Time now = absl::Now();
    if (round == nullptr) dry_[phase_] = now - entered_;
    entered_ = now;
    phase_ = phase;
    if (round == nullptr || round->phase != phase) return;
    killer_ = std::thread([this, round, wait = dry_[phase] * round->moment] {
      absl::SleepFor(wait);
      killed_in_ = phase_.load();
      for (const int victim : round->victims) {
        servers_[victim]->Signal(round->stop ? SIGSTOP : SIGKILL);
      }
    });
  }
  absl::StatusOr<Results> Work(uint64_t seed, const Round* round);
  void RunRound(const Round& round);
  void ExpectNothingLeft(const Round& round);
  int64_t MostTasksAgain(const Round& round) const;

  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Process>> servers_;
  std::shared_ptr<ShardedClient> client_;
  std::shared_ptr<runtime::Executable> step_;
  const Literal weights_ = Weights();
  std::map<Phase, absl::Duration> dry_;
  std::map<uint64_t, Results> expected_;
  absl::Time entered_;
  std::atomic<Phase> phase_{Phase::kOver};
  std::atomic<Phase> killed_in_{Phase::kOver};
  std::thread killer_;
  int64_t kills_ = 0, stops_ = 0, tasks_again_ = 0, most_again_ = 0;
  std::map<Phase, int> killed_in_phase_;
};

absl::StatusOr<Results> ShardedKillsTest::Work(uint64_t seed,
                                               const Round* round) {
  const Literal x = Numbers(Rows(), seed, 8);
  Enter(Phase::kPut, round);
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info, Put(x));
  HAWSER_ASSIGN_OR_RETURN(const BufferPtr data,
                          client_->datasets().Open({info.token, "x"}, {}));
  // All states are held: only what was lost is to be made again.
  Enter(Phase::kTransfer, round);
  std::vector<std::vector<BufferPtr>> states(kSteps);
  HAWSER_ASSIGN_OR_RETURN(states[0], Step({x, Literal::Zeros(Row())}, x));
  HAWSER_RETURN_IF_ERROR(Fetch(states[0][1]).status());
  Enter(Phase::kTask, round);
  for (int i = 1; i < kSteps; ++i) {
    HAWSER_ASSIGN_OR_RETURN(states[i],
                            Step({states[i - 1][0], states[i - 1][1]}, data));
  }
  Results results;
  HAWSER_ASSIGN_OR_RETURN(results.sums, Fetch(states.back()[1]));
  Enter(Phase::kFetch, round);
  // The last first: what led to it is then asked for at once.
  HAWSER_ASSIGN_OR_RETURN(results.rows, Fetch(states.back()[0]));
  for (int i = kSteps - 1; i-- > 0;) {
    HAWSER_RETURN_IF_ERROR(Fetch(states[i][0]).status());
  }
  Enter(Phase::kOver, round);
  return results;
}

// Tasks that were done are done again where their pieces were at a server that
// is gone. Thirds are at the servers in order; the first also has the sums, of
// which each is of all thirds. A third of the other victim is done again for
// itself and then for the sum, if that is found to be gone later.
int64_t ShardedKillsTest::MostTasksAgain(const Round& round) const {
  int64_t steps = kSteps;
  if (killed_in_ == Phase::kTransfer) steps = 1;
  if (killed_in_ == Phase::kPut || killed_in_ == Phase::kOver) steps = 0;
  const auto victims = static_cast<int64_t>(round.victims.size());
  const bool sums = std::count(round.victims.begin(), round.victims.end(), 0);
  return steps * (sums ? kTasksOfStep + victims - 1 : victims);
}

void ShardedKillsTest::ExpectNothingLeft(const Round& round) {
  for (int i = 0; i < kServers; ++i) {
    if (std::count(round.victims.begin(), round.victims.end(), i) > 0) continue;
    State state;
    EXPECT_TRUE(Await(kPatience,
                      [&] {
                        state = Ask(*servers_[i]);
                        return state.sessions == 1 &&
                               state.buffers == state.dataset_arrays;
                      }))
        << "server " << i << ": " << state.sessions << " sessions, "
        << state.buffers << " buffers, " << state.dataset_arrays
        << " dataset arrays";
  }
}

void ShardedKillsTest::RunRound(const Round& round) {
  SCOPED_TRACE(::testing::PrintToString(round));
  if (!expected_.contains(round.seed)) {
    expected_[round.seed] = Expected(round.seed);
  }
  const ShardedStats before = client_->stats();
  killed_in_ = Phase::kOver;
  const auto results = Work(round.seed, &round);
  killer_.join();
  // One server at least has all data, so there is no error either.
  ASSERT_OK(results) << "in " << phase_;
  EXPECT_TRUE(results->rows.BitEquals(expected_[round.seed].rows));
  EXPECT_TRUE(results->sums.BitEquals(expected_[round.seed].sums));
  const int64_t again = client_->stats().tasks_again - before.tasks_again;
  EXPECT_LE(again, MostTasksAgain(round)) << "killed in " << killed_in_;
  (round.stop ? stops_ : kills_) += round.victims.size();
  tasks_again_ += again;
  most_again_ += MostTasksAgain(round);
  ++killed_in_phase_[killed_in_];
  ExpectNothingLeft(round);
  for (const int victim : round.victims) Start(victim);
  AwaitAllServers();
}

TEST_F(ShardedKillsTest, ResultsAreThoseOfPeaceAndOnlyWhatWasLostIsMadeAgain) {
  expected_[0] = Expected(0);
  for (int i = 0; i < 2; ++i) {  // the first compiles
    const auto results = Work(0, nullptr);
    ASSERT_OK(results);
    ASSERT_TRUE(results->rows.BitEquals(expected_[0].rows));
    ASSERT_TRUE(results->sums.BitEquals(expected_[0].sums));
  }
  EXPECT_EQ(client_->stats().tasks_again, 0);
  const std::vector<Round> rounds = DrawRounds();
  for (const Round& round : rounds) {
    RunRound(round);
    if (HasFatalFailure()) return;
  }
  std::cout << rounds.size() << " rounds, " << kills_ << " servers killed, "
            << stops_ << " stopped; " << tasks_again_
            << " tasks again of at most " << most_again_
            << "; 0 errors. Killed in:";
  for (const auto& [phase, count] : killed_in_phase_) {
    std::cout << " " << phase << " " << count;
  }
  std::cout << "\n";
}

// What was only there is an error; what came from here is made again once a
// server is back.
TEST_F(ShardedKillsTest, AllOfThemGoneIsATypedErrorInTime) {
  const Literal x = Numbers(Rows(), 1, 8);
  const auto info = Put(x);
  ASSERT_OK(info);
  const auto data = client_->datasets().Open({info->token, "x"}, {});
  ASSERT_OK(data);
  const std::vector<Argument> state = {x, Literal::Zeros(Row())};
  const auto of_data = Step(state, *data);
  const auto of_here = Step(state, x);
  ASSERT_OK(of_data);
  ASSERT_OK(of_here);
  const auto value = Fetch((*of_here)[0]);
  ASSERT_OK(value);
  ASSERT_OK(Fetch((*of_data)[0]));
  for (auto& server : servers_) server->Signal(SIGKILL);
  EXPECT_THAT(Fetch((*of_here)[0]),
              StatusIs(absl::StatusCode::kUnavailable, ""));
  for (int i = 0; i < kServers; ++i) Start(i);
  AwaitAllServers();
  const auto again = Fetch((*of_here)[0]);
  ASSERT_OK(again);
  EXPECT_TRUE(again->BitEquals(*value));
  EXPECT_THAT(Fetch((*of_data)[0]),
              StatusIs(absl::StatusCode::kNotFound, info->token));
}

}  // namespace
}  // namespace hawser::testing
