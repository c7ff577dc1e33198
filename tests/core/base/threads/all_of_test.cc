#include "core/base/threads/all_of.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/status.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(AllOf, OfNothingIsThereAtOnce) {
  const auto all = AllOf<int>({});
  EXPECT_TRUE(all.ready());
  EXPECT_TRUE(all.Await()->empty());
}

TEST(AllOf, KeepsTheOrderOfItsArguments) {
  Promise<int> a, b, c;
  const auto all = AllOf<int>({a.future(), b.future(), c.future()});
  c.Set(3);
  a.Set(1);
  EXPECT_FALSE(all.ready());
  b.Set(2);
  ASSERT_OK_AND_ASSIGN(const std::vector<int> values, all.Await());
  ASSERT_EQ(values.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(values[i], i + 1);
  }
}

TEST(AllOf, WaitsForThoseBeforeAnError) {
  Promise<int> a, b, c;
  const auto all = AllOf<int>({a.future(), b.future(), c.future()});
  c.Set(absl::InternalError("third"));
  b.Set(absl::NotFoundError("second"));
  EXPECT_FALSE(all.ready());
  a.Set(1);
  EXPECT_THAT(all.Await(), StatusIs(StatusCode::kNotFound, "second"));
}

TEST(AllOf, EndsWhenAPromiseDies) {
  Future<std::vector<int>> all;
  {
    Promise<int> dies;
    all = AllOf<int>({Future<int>(1), dies.future()});
  }
  EXPECT_THAT(all.Await(), StatusIs(StatusCode::kCancelled, "abandoned"));
}

TEST(AllOf, TakesTheSameFutureTwice) {
  Promise<int> p;
  const auto all = AllOf<int>({p.future(), p.future()});
  p.Set(5);
  EXPECT_EQ(all.Await()->size(), 2u);
}

TEST(AllOf, IsCompletedFromManyThreads) {
  for (int round = 0; round < 50; ++round) {
    std::vector<Promise<int>> promises(8);
    std::vector<Future<int>> futures;
    for (const auto& p : promises) futures.push_back(p.future());
    const auto all = AllOf(std::move(futures));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] { promises[i].Set(i); });
    }
    ASSERT_OK_AND_ASSIGN(const std::vector<int> values,
                         all.Await(absl::Now() + absl::Seconds(30)));
    for (std::thread& t : threads) t.join();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(values[i], i);
  }
}

TEST(AllOf, GivesTheFirstErrorByPositionAsSoonAsItIsKnown) {
  Promise<int> first, second, never;
  const auto early =
      AllOf<int>({Future<int>(1), first.future(), never.future()});
  const auto late = AllOf<int>({second.future(), first.future()});
  first.Set(Internal("the first"));
  EXPECT_THAT(early.Await(absl::InfinitePast()),
              StatusIs(StatusCode::kInternal, "the first"));
  EXPECT_FALSE(late.ready());
  second.Set(Internal("the second"));
  EXPECT_THAT(late.Await(absl::InfinitePast()),
              StatusIs(StatusCode::kInternal, "the second"));
}

TEST(AllOf, WhenAllLetsGoOfWhatItHasMet) {
  const auto held = std::make_shared<int>(5);
  std::vector<Future<std::shared_ptr<int>>> one;
  one.emplace_back(held);
  WhenAll<std::shared_ptr<int>>(std::move(one),
                                [&](const absl::Status& status, size_t) {
                                  EXPECT_OK(status);
                                  EXPECT_EQ(held.use_count(), 1);
                                });
}

}  // namespace
}  // namespace hawser
