#include "client/recipes/recipe.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/programs.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

class RecipeTest : public ::testing::Test {
 protected:
  void Limit(int max_steps, int64_t max_bytes = int64_t{1} << 30) {
    const auto open =
        [](const DatasetPart& part) -> absl::StatusOr<runtime::BufferPtr> {
      return NotFound("no ", part.token, " ", part.array);
    };
    book_ = std::make_unique<RecipeBook>(
        Place{.client = cpu_.get(), .open = open},
        RecipeLimits{max_steps, max_bytes});
  }
  void SetUp() override { Limit(1024); }

  RecipeProgram Compiled(std::shared_ptr<const Module> module) {
    return [module = std::move(module)](const Place& place) {
      return place.client->Compile(module, {}, {});
    };
  }
  // w + w, w * w.
  RecipeBook::Results Execute(const RecipeArgument& x,
                              const RecipeArgument& y) {
    return book_->OfExecution(Compiled(program_), program_->name(), {x, y},
                              program_->signature());
  }
  // The end of a chain of sums with y, `steps` long.
  RecipePtr Chain(RecipePtr from, int steps) {
    for (int i = 0; i < steps; ++i) from = Execute(from, one_).recipes[0];
    return from;
  }
  absl::StatusOr<Literal> Value(const RecipePtr& recipe) {
    HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr there,
                            book_->AtHome(recipe));
    return there->Fetch({}).Await();
  }

  const std::shared_ptr<cpu::CpuClient> cpu_ =
      cpu::MakeCpuClient({.threads = 1});
  const std::shared_ptr<const Module> program_ = SumAndProductModule();
  const Literal one_ = Literal::Vector<float>({1, 1, 1, 1});
  const Literal two_ = Literal::Vector<float>({2, 2, 2, 2});
  std::unique_ptr<RecipeBook> book_;
};

// A step may be an epoch: a chain is cut by time, too, and then again after as
// long.
TEST_F(RecipeTest, AChainThatBeganLongAgoAsksToBeCut) {
  constexpr absl::Duration kReplay = absl::Milliseconds(60);
  book_ = std::make_unique<RecipeBook>(
      Place{.client = cpu_.get()}, RecipeLimits{1024, 1 << 20, kReplay});
  RecipePtr w = book_->OfHostValue(two_);
  const auto step = [&] {
    const auto results = Execute(w, one_);
    w = results.recipes[0];
    return results.checkpoint;
  };
  EXPECT_FALSE(step());
  EXPECT_FALSE(step());
  absl::SleepFor(kReplay);
  EXPECT_TRUE(step());
  EXPECT_FALSE(step());
  absl::SleepFor(kReplay);
  EXPECT_TRUE(step());
  book_->Checkpoint(w, two_);
  absl::SleepFor(kReplay);
  EXPECT_FALSE(step());  // what it was made of began just now
}

TEST_F(RecipeTest, WhatIsFrozenIsTheRootOfWhatWasFrozen) {
  std::vector<DatasetPart> opened;
  book_ = std::make_unique<RecipeBook>(
      Place{.client = cpu_.get(),
            .open = [&](const DatasetPart& part)
                -> absl::StatusOr<runtime::BufferPtr> {
              opened.push_back(part);
              return cpu_->Upload(two_, {});
            }},
      RecipeLimits{1024, 1 << 20});
  const RecipePtr w = Chain(book_->OfHostValue(two_), 100);
  const int64_t before = book_->executions();
  book_->Root(w, {"hw1-x", "w"});
  const RecipePtr next = Execute(w, one_).recipes[0];
  const auto value = Value(next);
  ASSERT_OK(value);
  EXPECT_EQ(value->data<float>()[0], 3);
  ASSERT_EQ(opened.size(), 1);
  EXPECT_EQ(opened[0].array, "w");
  EXPECT_EQ(book_->executions() - before, 1);
}

TEST_F(RecipeTest, FollowsAChainOnceForAllItsValues) {
  const RecipePtr start = book_->OfHostValue(two_);
  const RecipePtr middle = Chain(start, 10), end = Chain(middle, 10);
  EXPECT_EQ(book_->Made(end), nullptr);
  EXPECT_THAT(*Value(end), LiteralEquals(Literal::Vector<float>({22, 22, 22, 22})));
  EXPECT_EQ(book_->executions(), 20);
  EXPECT_THAT(*Value(middle),
              LiteralEquals(Literal::Vector<float>({12, 12, 12, 12})));
  EXPECT_EQ(book_->executions(), 20);
  EXPECT_NE(book_->Made(end), nullptr);
}

// Every value is used twice by the next: 2^40 ways, 40 executions.
TEST_F(RecipeTest, SharedValuesAreMadeOnce) {
  RecipePtr x = book_->OfHostValue(one_), y = x;
  for (int i = 0; i < 40; ++i) {
    auto both = Execute(x, y);
    x = both.recipes[0];
    y = both.recipes[1];
  }
  EXPECT_OK(Value(y));
  EXPECT_OK(Value(x));
  EXPECT_EQ(book_->executions(), 40);
}

TEST_F(RecipeTest, AHostValueIsThereWithoutTheSecondary) {
  const RecipePtr value = book_->OfHostValue(two_);
  EXPECT_THAT(*book_->HostValue(value), LiteralBitEquals(two_));
  EXPECT_FALSE(book_->HostValue(Chain(value, 1)).has_value());
}

TEST_F(RecipeTest, HeldBytesComeAndGoWithTheirRecipes) {
  EXPECT_EQ(book_->bytes_held(), 0);
  RecipePtr value = book_->OfHostValue(two_);
  EXPECT_EQ(book_->bytes_held(), 16);
  RecipePtr result = Execute(value, one_).recipes[0];
  const int64_t both = book_->bytes_held();
  EXPECT_GT(both, 32);
  value = nullptr;
  EXPECT_EQ(book_->bytes_held(), both);  // the result's recipe needs it
  ASSERT_OK(Value(result));
  EXPECT_EQ(book_->bytes_held(), 0);  // made: nothing is needed any more
}

TEST_F(RecipeTest, BytesOverTheLimitSayWhatIsLost) {
  Limit(1024, 20);
  const RecipePtr kept = book_->OfHostValue(two_);
  EXPECT_OK(Value(kept));
  EXPECT_THAT(Value(book_->OfHostValue(two_)),
              StatusIs(StatusCode::kDataLoss,
                       "an uploaded value, f32[4], is lost with its server: "
                       "recipes hold 16 host bytes already, of at most 20"));
  EXPECT_THAT(Value(Execute(kept, one_).recipes[1]),
              StatusIs(StatusCode::kDataLoss,
                       "result 1 of sum_and_product, f32[4], is lost"));
}

TEST_F(RecipeTest, StepsOverTheLimitSayWhatIsLost) {
  Limit(8);
  const RecipePtr start = book_->OfHostValue(two_);
  EXPECT_OK(Value(Chain(start, 8)));
  const RecipePtr again = book_->OfHostValue(two_);
  EXPECT_THAT(Value(Chain(again, 9)),
              StatusIs(StatusCode::kDataLoss, "at most 8 steps"));
}

TEST_F(RecipeTest, WhatALostValueLedToIsLostAndSaysTheFirstCause) {
  Limit(1024, 20);
  const RecipePtr lost = book_->OfHostValue(Literal::Zeros(
      Shape::Of(DType::kF32, {1000})));
  Limit(1024);
  EXPECT_THAT(Value(Chain(lost, 3)),
              StatusIs(StatusCode::kDataLoss, "an uploaded value, f32[1000]"));
}

TEST_F(RecipeTest, ACheckpointFreesTheChainBehindIt) {
  Limit(64);
  const RecipePtr start = book_->OfHostValue(two_);
  const std::weak_ptr<Recipe> watched = Chain(start, 1);
  EXPECT_TRUE(watched.expired());  // nothing held it
  RecipePtr early = Chain(start, 1);
  const std::weak_ptr<Recipe> behind = early;
  const RecipePtr end = Chain(std::exchange(early, nullptr), 30);
  EXPECT_FALSE(behind.expired());
  const int64_t before = book_->bytes_held();
  book_->Checkpoint(end, two_);
  EXPECT_TRUE(behind.expired());
  EXPECT_EQ(book_->bytes_held(), 32);  // `start` and the checkpoint
  EXPECT_GT(before, 30 * 1024);
  EXPECT_THAT(*Value(Chain(end, 1)),
              LiteralEquals(Literal::Vector<float>({3, 3, 3, 3})));
  EXPECT_EQ(book_->executions(), 1);
}

TEST_F(RecipeTest, AsksForACheckpointEachQuarterFromTheHalfOn) {
  Limit(16);
  RecipePtr end = book_->OfHostValue(one_);
  std::vector<int> asked;
  for (int step = 1; step <= 16; ++step) {
    auto made = Execute(end, one_);
    end = made.recipes[0];
    if (made.checkpoint) asked.push_back(step);
  }
  EXPECT_THAT(asked, ::testing::ElementsAre(8, 12, 16));
}

// Counted anew at a quarter, a chain that was cut is found to be short.
TEST_F(RecipeTest, CheckpointedChainsGoOnForEver) {
  Limit(16);
  RecipePtr end = book_->OfHostValue(one_);
  int checkpoints = 0;
  for (int step = 1; step <= 500; ++step) {
    auto made = Execute(end, one_);
    end = made.recipes[0];
    if (made.checkpoint) {
      book_->Checkpoint(end, Literal::Of<float>(
                                 std::vector<float>(4, 1 + step), {4}));
      ++checkpoints;
    }
  }
  EXPECT_GE(checkpoints, 500 / 16);
  EXPECT_THAT(*Value(end),
              LiteralEquals(Literal::Of<float>(std::vector<float>(4, 501), {4})));
}

TEST_F(RecipeTest, FullBytesAskForACheckpointToo) {
  Limit(1 << 20, 1 << 16);
  RecipePtr end = book_->OfHostValue(one_);
  int checkpoints = 0;
  for (int step = 1; step <= 500; ++step) {
    auto made = Execute(end, one_);
    end = made.recipes[0];
    made.recipes.clear();  // the other result would keep the chain
    if (!made.checkpoint) continue;
    ++checkpoints;
    book_->Checkpoint(end, one_);
    EXPECT_LE(book_->bytes_held(), 64);
  }
  EXPECT_GE(checkpoints, 10);
  EXPECT_OK(Value(end));
}

TEST_F(RecipeTest, ACheckpointRevivesALostValue) {
  Limit(4);
  const RecipePtr lost = Chain(book_->OfHostValue(one_), 5);
  EXPECT_THAT(Value(lost), StatusIs(StatusCode::kDataLoss, ""));
  book_->Checkpoint(lost, two_);
  EXPECT_THAT(*Value(lost), LiteralBitEquals(two_));
}

TEST_F(RecipeTest, ALateCheckpointChangesNothing) {
  const RecipePtr value = Chain(book_->OfHostValue(one_), 1);
  ASSERT_OK(Value(value));
  book_->Checkpoint(value, one_);
  EXPECT_THAT(*Value(value), LiteralEquals(two_));
  EXPECT_EQ(book_->bytes_held(), 0);
}

// A recursive destructor would need some 100 MB of stack here.
TEST_F(RecipeTest, VeryLongChainsAreDestroyedWithoutRecursion) {
  Limit(1 << 30, int64_t{1} << 40);
  RecipePtr end = Chain(book_->OfHostValue(one_), 300'000);
  EXPECT_GT(book_->bytes_held(), 0);
  end = nullptr;
  EXPECT_EQ(book_->bytes_held(), 0);
}

TEST_F(RecipeTest, ErrorsOfHomeComeOutAndMayBeTriedAgain) {
  int tries = 0;
  RecipeProgram moody = [&](const Place&)
      -> absl::StatusOr<std::shared_ptr<runtime::Executable>> {
    if (++tries == 1) return ResourceExhausted("no memory today");
    return cpu_->Compile(program_, {}, {});
  };
  const RecipePtr value = book_->OfExecution(moody, "moody", {one_, one_},
                                             program_->signature())
                              .recipes[0];
  EXPECT_THAT(Value(value),
              StatusIs(StatusCode::kResourceExhausted, "no memory"));
  EXPECT_THAT(*Value(value), LiteralEquals(two_));
}

TEST_F(RecipeTest, DatasetsAreOpenedByName) {
  const RecipePtr array =
      book_->OfDataset(one_.shape(), {"hw1-unknown", "images"});
  EXPECT_THAT(Value(array),
              StatusIs(StatusCode::kNotFound, "no hw1-unknown images"));
}

// While home compiles, steps and checkpoints go on.
TEST_F(RecipeTest, NothingWaitsForHome) {
  const RecipePtr other = Chain(book_->OfHostValue(one_), 3);
  RecipeProgram busy = [&](const Place&) {
    std::thread meanwhile([&] {
      EXPECT_NE(Execute(other, one_).recipes[0], nullptr);
      book_->Checkpoint(other, two_);
      EXPECT_EQ(book_->Made(other), nullptr);
    });
    meanwhile.join();
    return cpu_->Compile(program_, {}, {});
  };
  const RecipePtr value = book_->OfExecution(busy, "busy", {one_, one_},
                                             program_->signature())
                              .recipes[0];
  EXPECT_OK(Value(value));
}

TEST_F(RecipeTest, ThreadsFollowAndCheckpointTheSameChains) {
  std::vector<RecipePtr> values = {book_->OfHostValue(one_)};
  for (int i = 1; i <= 64; ++i) values.push_back(Chain(values.back(), 1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i <= 64; i += 2) {
        const Literal want =
            Literal::Of<float>(std::vector<float>(4, 1 + i), {4});
        if (i % 5 == t) book_->Checkpoint(values[i], want);
        EXPECT_THAT(*Value(values[i]), LiteralEquals(want));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hawser
