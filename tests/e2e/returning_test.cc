// Servers that go and come back: what is trained on data that only they have
// survives, and the next server of the list is used before this machine.
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kRows = 256, kColumns = 8;
constexpr int kSteps = 40;

struct State {
  Tensor weights;   // f32[8]
  Tensor momentum;  // f32[8]
};
auto HawserFields(State& s) { return std::tie(s.weights, s.momentum); }

// One step towards x . weights = 1.
State Train(State s, Tensor x) {
  const Tensor error = Dot(x, s.weights) - 1;
  const Tensor gradient = Dot(error, x) / kRows;
  const Tensor momentum = 0.9 * s.momentum + gradient;
  return {s.weights - 0.05 * momentum, momentum};
}

Literal Numbers() {
  std::vector<float> numbers(kRows * kColumns);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  }
  return Literal::Of<float>(numbers, {kRows, kColumns});
}

class ReturningTest : public ::testing::Test {
 protected:
  // The state after kSteps; `interrupt` is called in the middle.
  absl::StatusOr<Literal> TrainedBy(const Client& client,
                                    const std::string& token,
                                    const std::function<void()>& interrupt) {
    HAWSER_ASSIGN_OR_RETURN(const Dataset data, client.Dataset(token));
    auto step = Jit(Train).With({.client = client});
    State state{Zeros(DType::kF32, {kColumns}), Zeros(DType::kF32, {kColumns})};
    for (int i = 0; i < kSteps; ++i) {
      if (i == kSteps / 2) interrupt();
      HAWSER_ASSIGN_OR_RETURN(state, step(state, data()));
    }
    HAWSER_ASSIGN_OR_RETURN(Literal weights, state.weights.Fetch());
    ran_on_ = state.weights.ran_on();
    return weights;
  }
  absl::Status StartAgain() {
    return server_.Start({"--listen=" + server_.address()});
  }
  // Puts the data, as another process would, and trains on them through a
  // client of its own, with this machine behind it.
  void TrainThrough(const std::function<void()>& end) {
    ASSERT_OK(server_.Start());
    ASSERT_OK_AND_ASSIGN(const Dataset put,
                         server_.client().Put({{"", Numbers()}}));
    ASSERT_OK_AND_ASSIGN(const Literal want,
                         TrainedBy(server_.client(), put.token(), [] {}));
    ASSERT_OK_AND_ASSIGN(const Client client,
                         Connect({.servers = {server_.address()}}));
    std::thread later;
    const auto got = TrainedBy(client, put.token(), [&] {
      end();
      later = std::thread([this] {
        absl::SleepFor(absl::Milliseconds(300));
        EXPECT_OK(StartAgain());
      });
    });
    later.join();
    ASSERT_OK(got);
    EXPECT_THAT(*got, LiteralBitEquals(want));
    EXPECT_THAT(ran_on_, StartsWith(server_.address()));
  }

  const TemporaryFolder folder_;
  DataServer server_{folder_.path()};
  std::string ran_on_;
};

TEST_F(ReturningTest, StateOnOthersDataSurvivesKillNine) {
  TrainThrough([this] { server_.Kill(); });
}

TEST_F(ReturningTest, StateOnOthersDataSurvivesATermination) {
  TrainThrough([this] { EXPECT_OK(server_.Stop()); });
}

// Its tag waits for the server; earlier ones keep theirs, and nothing goes.
TEST_F(ReturningTest, AKeptNameIsFrozenWhileTheServerIsAway) {
  ASSERT_OK(server_.Start());
  ASSERT_OK_AND_ASSIGN(const Client client,
                       Connect({.servers = {server_.address()}}));
  std::vector<std::string> tokens;
  const auto freeze = [&](float value) {
    const auto frozen = Freeze("run", Full(DType::kF32, {3}, value),
                               {.client = client, .keep = 2});
    ASSERT_OK(frozen);
    tokens.push_back(frozen->token());
  };
  freeze(1);
  freeze(2);
  server_.Kill();
  freeze(3);
  ASSERT_EQ(tokens.size(), 3u);
  ASSERT_OK(StartAgain());
  const auto token_of = [&](const std::string& name) {
    const auto dataset = server_.client().Dataset(name);
    return dataset.ok() ? dataset->token() : dataset.status().ToString();
  };
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while (token_of("@run") != tokens[2] && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  EXPECT_EQ(token_of("@run"), tokens[2]);
  EXPECT_EQ(token_of("@run.1"), tokens[0]);
  EXPECT_EQ(token_of(tokens[1]), tokens[1]);
}

TEST_F(ReturningTest, TheNextServerOfTheListComesBeforeThisMachine) {
  const TemporaryFolder folder;
  DataServer second(folder.path());
  ASSERT_OK(server_.Start());
  ASSERT_OK(second.Start());
  ASSERT_OK_AND_ASSIGN(
      const Client client,
      Connect({.servers = {server_.address(), second.address()}}));
  auto twice = Jit([](Tensor x) { return x + x; }).With({.client = client});
  const Literal one = Literal::Vector<float>({1, -2});
  const Literal two = Literal::Vector<float>({2, -4});
  const std::string places[] = {server_.address(), second.address(), "cpu"};
  for (const std::string& place : places) {
    ASSERT_OK_AND_ASSIGN(const Tensor result, twice(one));
    ASSERT_OK_AND_ASSIGN(const Literal value, result.Fetch());
    EXPECT_THAT(value, LiteralBitEquals(two));
    EXPECT_THAT(result.ran_on(), StartsWith(place));
    if (place == server_.address()) server_.Kill();
    if (place == second.address()) second.Kill();
  }
}

TEST_F(ReturningTest, TheFirstThatAnswersIsUsedWhereverItStands) {
  ASSERT_OK(server_.Start());
  ASSERT_OK_AND_ASSIGN(const Client client,
                       Connect({.servers = {"127.0.0.1:1", server_.address()},
                                .timeout = absl::Seconds(1)}));
  auto twice = Jit([](Tensor x) { return x + x; }).With({.client = client});
  ASSERT_OK_AND_ASSIGN(const Tensor result,
                       twice(Literal::Vector<float>({1, -2})));
  ASSERT_OK(result.Fetch());
  EXPECT_THAT(result.ran_on(), StartsWith(server_.address()));
}

}  // namespace
}  // namespace hawser::testing
