// Places that are there and cannot, lie, are late, or are there now and then.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/client/fallback/scripted_client.h"
#include "tests/client/sharded/odd_place.h"
#include "tests/client/sharded/sharded_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::Argument;
using runtime::BufferPtr;
using Results = OddPlace::Results;

OddPlace::Answer Says(absl::Status status) {
  return [status](std::vector<BufferPtr>) -> Results { return status; };
}
Results AsItIs(std::vector<BufferPtr> results) { return results; }
// Results whose values are what this gives.
OddPlace::Answer Fetching(OddBuffer::FetchFunction fetch) {
  return [fetch](std::vector<BufferPtr> results) -> Results {
    for (BufferPtr& one : results) {
      one = std::make_shared<OddBuffer>(one, fetch);
    }
    return results;
  };
}
// Never, also where a call has a deadline.
Future<Literal> Never() {
  static auto& forever = *new Promise<Literal>();
  return forever.future();
}

class BadPlacesTest : public ShardedFixture {
 protected:
  // In place of the fixture's three.
  void Use(std::vector<std::shared_ptr<runtime::Client>> places) {
    client_ = *MakeShardedClient(std::move(places),
                                 {.probe_first = absl::Milliseconds(1)});
  }
  static std::shared_ptr<OddPlace> Odd(const std::string& name,
                                       OddPlace::Answer answer) {
    return std::make_shared<OddPlace>(name, std::move(answer));
  }
  // The same answer from all three.
  void UseThree(const OddPlace::Answer& answer) {
    Use({Odd("gpu-1", answer), Odd("gpu-2", answer), Odd("gpu-3", answer)});
  }
  // x * y + x in three parts.
  absl::StatusOr<Literal> Parts(const runtime::CallOptions& call = {}) {
    auto executable = client_->Compile(RowWise(), CutBy("0.0/3"), {});
    HAWSER_ASSIGN_OR_RETURN(
        const auto results,
        (*executable)->Execute(arguments_, {.call = call, .donated = {}}));
    return Fetch(results[0]);
  }
  void ExpectRight(const absl::StatusOr<Literal>& value) const {
    EXPECT_THAT(value, Gives(Expected(RowWise(), arguments_)));
  }

  const std::vector<Argument> arguments_ = {Numbers(Rows(), 1),
                                            Numbers(Rows(), -30)};
};

TEST_F(BadPlacesTest, WhatOneDoesNotKnowTheOthersDo) {
  for (const auto& why :
       {Unimplemented("opset 3"), ResourceExhausted("8 GiB")}) {
    auto small = Odd("gpu-1", Says(why));
    Use({small, Odd("gpu-2", AsItIs), Odd("gpu-3", AsItIs)});
    ExpectRight(Parts());
    EXPECT_EQ(small->executions(), 1);
    EXPECT_EQ(client_->stats().places_left, 0);
  }
}

TEST_F(BadPlacesTest, WhatNoneCanIsAnErrorThatNamesOne) {
  for (const auto& why :
       {Unimplemented("opset 3"), ResourceExhausted("8 GiB")}) {
    UseThree(Says(why));
    EXPECT_THAT(Parts(), StatusIs(why.code(), "gpu-"));
  }
}

TEST_F(BadPlacesTest, APartThatOneHasNoRoomForGoesToAnother) {
  const Shape large = Shape::Of(DType::kF32, {kRows, 20000});
  const auto half =
      SharedModule({large}, [](const auto& p) { return 0.5 * p[0]; });
  const Literal x = Numbers(large, 1);
  const auto full =
      std::make_shared<OddPlace>("gpu-1", AsItIs, ResourceExhausted("8 GiB"));
  Use({full, Odd("gpu-2", AsItIs)});
  for (const char* cuts : {"0.0/2", "0.0/6"}) {
    EXPECT_THAT(Fetch(Run(half, {x}, cuts)[0]), Gives(Expected(half, {x})));
  }
  EXPECT_EQ(full->executions(), 0);
  Use({full});
  EXPECT_THAT(Fetch(Run(half, {x}, "0.0/2")[0]),
              StatusIs(StatusCode::kResourceExhausted, "gpu-1"));
}

TEST_F(BadPlacesTest, TheOneThatCouldIsGone) {
  places_[0]->GoAway();
  Use({Odd("gpu-1", Says(Unimplemented("opset 3"))), places_[0]});
  EXPECT_THAT(Parts(), StatusIs(StatusCode::kUnavailable, "no place is left"));
}

TEST_F(BadPlacesTest, AWrongNumberOfResultsIsAnErrorThatNamesThePlace) {
  for (const int count : {0, 2}) {
    Use({Odd("gpu-1", AsItIs),
         Odd("gpu-2", [count](std::vector<BufferPtr> results) -> Results {
           results.resize(count, results[0]);
           return results;
         })});
    EXPECT_THAT(Parts(), StatusIs(StatusCode::kInternal, "gpu-2 gave "));
  }
}

TEST_F(BadPlacesTest, AResultOfAnotherShapeIsAnErrorThatNamesThePlace) {
  const auto other = cpu::MakeCpuClient({});
  const BufferPtr odd = *other->Upload(Literal::Vector<int32_t>({1, 2}), {});
  for (const BufferPtr& result : {odd, BufferPtr()}) {
    Use({Odd("gpu-1", AsItIs),
         Odd("gpu-2", [result](std::vector<BufferPtr>) -> Results {
           return std::vector<BufferPtr>{result};
         })});
    EXPECT_THAT(Parts(), StatusIs(StatusCode::kInternal, "gpu-2 gave "));
  }
}

TEST_F(BadPlacesTest, ValuesOfAnotherShapeAreAnErrorThatNamesThePlace) {
  Use({Odd("gpu-1", Fetching([] {
             return Future<Literal>(Literal::Vector<int32_t>({1, 2}));
           }))});
  EXPECT_THAT(Parts(), StatusIs(StatusCode::kInternal,
                                "gpu-1 gave s32[2] where f32[4,5] was"));
}

TEST_F(BadPlacesTest, ALatePlaceIsDoneWithout) {
  Use({Odd("gpu-1", Fetching(Never)), Odd("gpu-2", AsItIs)});
  ExpectRight(Parts({.attempt_timeout = absl::Milliseconds(50)}));
  EXPECT_GE(client_->stats().places_left, 1);
}

TEST_F(BadPlacesTest, PlacesThatNeverAnswerCostTheDeadline) {
  UseThree(Fetching(Never));
  const absl::Time start = SteadyNow();
  EXPECT_THAT(Parts({.cancel = CancelToken(start + absl::Milliseconds(50))}),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_THAT(Parts({.attempt_timeout = absl::Milliseconds(20)}),
              StatusIs(StatusCode::kUnavailable, ""));
  EXPECT_LT(SteadyNow() - start, absl::Seconds(20));
}

// Each says that it is well whenever it is asked.
TEST_F(BadPlacesTest, PlacesThatAreWellAndDoNothingAreTriedSoOften) {
  auto idle = Odd("gpu-1", Says(Unavailable("try again")));
  Use({idle, Odd("gpu-2", AsItIs), Odd("gpu-3", AsItIs)});
  ExpectRight(Parts());
  std::vector<std::shared_ptr<OddPlace>> all;
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3"}) {
    all.push_back(Odd(name, Says(Unavailable("try again"))));
  }
  Use({all.begin(), all.end()});
  EXPECT_THAT(Parts(), StatusIs(StatusCode::kUnavailable, "try again"));
  int tries = 0;
  for (const auto& one : all) tries += one->executions();
  EXPECT_LE(tries, 3 * 17);
}

TEST_F(BadPlacesTest, PlacesThatComeAndGoAreUsedWhileTheyAreThere) {
  std::atomic<bool> over{false};
  std::thread flapping([&] {
    for (int i = 0; !over; ++i) {
      places_[i % 2]->GoAway();
      absl::SleepFor(absl::Microseconds(700 * (i % 5)));
      places_[i % 2]->ComeBack();
      absl::SleepFor(absl::Microseconds(300 * (i % 7)));
    }
  });
  std::vector<BufferPtr> state = Run(RowWise(), arguments_, "0.0/3");
  const Literal value = Expected(RowWise(), arguments_);
  const Literal zeros = Literal::Zeros(Rows());
  for (int step = 0; step < 300; ++step) {
    state = Run(SharedModule({Rows(), Rows()},
                             [](const auto& p) { return p[0] + p[1]; }),
                {state[0], zeros}, "0.0/3");
    if (step % 10 != 0) continue;
    EXPECT_THAT(Fetch(state[0]), Gives(value)) << step;
  }
  over = true;
  flapping.join();
  EXPECT_THAT(Fetch(state[0]), Gives(value));
}

// Two tasks of which one takes what the other gives failed as one: a value that
// both took was let go of three times.
TEST_F(BadPlacesTest, WhatIsHeldStaysWhereItIsWhenAllWereGone) {
  const auto held = Run(RowWise(), arguments_, "0.0/3");
  const Literal value = *Fetch(held[0]);
  ExpectTasks(3);
  for (const auto& place : places_) place->Hold();
  const auto second = Run(RowWise(), {held[0], held[0]}, "0.0/3");
  const auto third = Run(RowWise(), {held[0], second[0]}, "0.0/3");
  for (const auto& place : places_) place->GoAway();
  EXPECT_THAT(Fetch(third[0]), StatusIs(StatusCode::kUnavailable, ""));
  for (const auto& place : places_) place->ComeBack();
  absl::StatusOr<Literal> again = Unavailable("");
  const absl::Time end = SteadyNow() + absl::Seconds(20);
  while (absl::IsUnavailable(again.status()) && SteadyNow() < end) {
    again = Fetch(held[0]);
  }
  EXPECT_THAT(again, Gives(value));
  const int64_t made_again = client_->stats().tasks_again;
  EXPECT_THAT(Fetch(held[0]), Gives(value));
  EXPECT_EQ(client_->stats().tasks_again, made_again);
}

}  // namespace
}  // namespace hawser
