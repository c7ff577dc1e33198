// Replay: values made again at a place that keeps nothing.
#include "client/recipes/replay.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/forwarding_client.h"
#include "tests/testing/matchers.h"
#include "tests/testing/programs.h"

namespace hawser {
namespace {

using absl::StatusCode;

// Remembers what it is told.
class Holder : public RecipeHolder {
 public:
  void Remade(uint64_t life, const runtime::BufferPtr& value) override {
    this->life = life;
    this->value = value;
  }
  uint64_t life = 0;
  runtime::BufferPtr value;
};

class ReplayTest : public ::testing::Test {
 protected:
  // What only `there_` has.
  static constexpr char kToken[] = "hw1-there";

  ReplayTest()
      : book_({.client = home_.get(),
               .open = [](const DatasetPart& part) {
                 return ElsewhereError(NotFound("no ", part.token, " here"));
               }},
              {1024, int64_t{1} << 30}) {}

  Place There(uint64_t life = 2) {
    return {.client = there_.get(),
            .life = life,
            .open = [this](const DatasetPart& part)
                -> absl::StatusOr<runtime::BufferPtr> {
              ++opened_;
              if (part.token != kToken) return NotFound("no ", part.token);
              return there_->Upload(one_, {});
            }};
  }
  // x + y and x * y, as the two results of one execution.
  std::vector<RecipePtr> Execute(const RecipeArgument& x,
                                 const RecipeArgument& y) {
    const auto program = [this](const Place& place) {
      ++compiled_;
      return place.client->Compile(program_, {}, {});
    };
    return book_.OfExecution(program, "sums", {x, y}, program_->signature())
        .recipes;
  }
  // from + steps.
  RecipePtr Chain(RecipePtr from, int steps) {
    for (int i = 0; i < steps; ++i) from = Execute(from, one_)[0];
    return from;
  }
  absl::StatusOr<Literal> ValueThere(const RecipePtr& recipe) {
    Replay replay(&book_, There());
    HAWSER_ASSIGN_OR_RETURN(const auto values, replay.Run({recipe}));
    EXPECT_EQ(values[0]->client(), there_.get());
    return values[0]->Fetch({}).Await();
  }
  static Literal All(float value) {
    return Literal::Vector<float>({value, value, value, value});
  }

  const std::shared_ptr<const Module> program_ = SumAndProductModule();
  const Literal one_ = All(1);
  const std::shared_ptr<cpu::CpuClient> home_ =
      cpu::MakeCpuClient({.threads = 1});
  const std::shared_ptr<cpu::CpuClient> there_ =
      cpu::MakeCpuClient({.threads = 1});
  int opened_ = 0, compiled_ = 0;
  RecipeBook book_;
};

TEST_F(ReplayTest, MakesWhatHomeCannot) {
  const RecipePtr data = book_.OfDataset(one_.shape(), {kToken, ""});
  const RecipePtr end = Chain(data, 100);
  const absl::Status at_home = book_.AtHome(end).status();
  EXPECT_TRUE(IsElsewhere(at_home)) << at_home;
  EXPECT_THAT(*ValueThere(end), LiteralEquals(All(101)));
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(compiled_, 100);
  EXPECT_EQ(book_.executions(), 0);  // none at home
}

TEST_F(ReplayTest, EachExecutionRunsOnceForAllThatNeedIt) {
  const RecipePtr shared = Chain(book_.OfHostValue(one_), 10);
  const std::vector<RecipePtr> both = Execute(shared, shared);
  const std::vector<RecipePtr> ends = Execute(both[0], both[1]);
  Replay replay(&book_, There());
  ASSERT_OK_AND_ASSIGN(const auto values,
                       replay.Run({ends[0], shared, ends[1], ends[0]}));
  EXPECT_EQ(compiled_, 12);
  EXPECT_THAT(*values[0]->Fetch({}).Await(), LiteralEquals(All(22 + 121)));
  EXPECT_THAT(*values[1]->Fetch({}).Await(), LiteralEquals(All(11)));
  EXPECT_THAT(*values[2]->Fetch({}).Await(), LiteralEquals(All(22 * 121)));
  EXPECT_EQ(values[3], values[0]);
}

TEST_F(ReplayTest, HoldsLittleMoreThanItsResult) {
  const RecipePtr end = Chain(book_.OfHostValue(one_), 200);
  const int64_t before = there_->live_buffers();
  Replay replay(&book_, There());
  ASSERT_OK_AND_ASSIGN(const auto values, replay.Run({end}));
  // The root and both results of the last execution.
  EXPECT_LE(there_->live_buffers() - before, 3);
}

TEST_F(ReplayTest, TellsWhoHoldsOtherResults) {
  const RecipePtr middle = Chain(book_.OfHostValue(one_), 3);
  const std::vector<RecipePtr> ends = Execute(middle, one_);
  const auto of_middle = std::make_shared<Holder>();
  const auto of_product = std::make_shared<Holder>();
  book_.SetHolder(middle, of_middle);
  book_.SetHolder(ends[1], of_product);
  EXPECT_THAT(*ValueThere(ends[0]), LiteralEquals(All(5)));
  EXPECT_EQ(of_middle->life, 2u);
  EXPECT_THAT(*of_middle->value->Fetch({}).Await(), LiteralEquals(All(4)));
  EXPECT_THAT(*of_product->value->Fetch({}).Await(), LiteralEquals(All(4)));
}

TEST_F(ReplayTest, ValuesAtHomeAreSentAndNotMadeAgain) {
  const RecipePtr middle = Chain(book_.OfHostValue(one_), 5);
  ASSERT_OK(book_.AtHome(middle));
  compiled_ = 0;
  EXPECT_THAT(*ValueThere(Chain(middle, 2)), LiteralEquals(All(8)));
  EXPECT_THAT(*ValueThere(middle), LiteralEquals(All(6)));
  EXPECT_EQ(compiled_, 2);
}

TEST_F(ReplayTest, ErrorsComeOutAndMayBeTriedAgain) {
  const RecipePtr lost = book_.OfDataset(one_.shape(), {"hw1-lost", ""});
  EXPECT_THAT(ValueThere(Chain(lost, 2)),
              StatusIs(StatusCode::kNotFound, "no hw1-lost"));
  int tries = 0;
  const auto moody = [&](const Place& place)
      -> absl::StatusOr<std::shared_ptr<runtime::Executable>> {
    if (++tries == 1) return Unavailable("gone again");
    return place.client->Compile(program_, {}, {});
  };
  const RecipePtr value =
      book_.OfExecution(moody, "moody", {one_, one_}, program_->signature())
          .recipes[0];
  EXPECT_THAT(ValueThere(value),
              StatusIs(StatusCode::kUnavailable, "gone again"));
  EXPECT_THAT(*ValueThere(value), LiteralEquals(All(2)));
}

}  // namespace
}  // namespace hawser
