// A caller of Execute that waits for room at a place may meanwhile be told of
// what other tasks wait for, on its own thread.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/sharded/sharded_client.h"
#include "core/base/mutex.h"
#include "core/base/threads/future.h"
#include "gtest/gtest.h"
#include "tests/client/sharded/odd_place.h"
#include "tests/client/sharded/sharded_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using runtime::BufferPtr;

// Results that do not come while it holds them, of any place.
class Held {
 public:
  // As OddPlace::Answer: what an execution gives.
  OddPlace::Results Answer(std::vector<BufferPtr> results) {
    thread_local int executions = 0;
    EXPECT_EQ(executions, 0) << "an execution within another";
    ++executions;
    if (release_next_) LetGo();
    --executions;
    if (!holds_) return results;
    for (BufferPtr& result : results) {
      auto promise = std::make_shared<Promise<Literal>>();
      {
        MutexLock lock(&mu_);
        held_.push_back({promise, result});
      }
      result = std::make_shared<OddBuffer>(
          result, [promise] { return promise->future(); });
    }
    return results;
  }
  void Hold() { holds_ = true; }
  // The next execution lets them come, in the middle.
  void ReleaseNext() {
    holds_ = false;
    release_next_ = true;
  }
  size_t count() {
    MutexLock lock(&mu_);
    return held_.size();
  }

 private:
  void LetGo() {
    release_next_ = false;
    std::vector<std::pair<std::shared_ptr<Promise<Literal>>, BufferPtr>> held;
    {
      MutexLock lock(&mu_);
      held.swap(held_);
    }
    for (const auto& [promise, buffer] : held) {
      promise->Set(buffer->Fetch({}).Await());
    }
  }

  std::atomic<bool> holds_{false}, release_next_{false};
  Mutex mu_;
  std::vector<std::pair<std::shared_ptr<Promise<Literal>>, BufferPtr>> held_
      ABSL_GUARDED_BY(mu_);
};

TEST(WaitingCaller, DoesNotQueueWhatWaitedWhileItWaits) {
  Held held;
  std::vector<std::shared_ptr<runtime::Client>> places;
  for (const char* name : {"gpu-0", "gpu-1"}) {
    places.push_back(
        std::make_shared<OddPlace>(name, [&](std::vector<BufferPtr> results) {
          return held.Answer(std::move(results));
        }));
  }
  const auto client = std::make_shared<ShardedClient>(places, ShardedPolicy());
  const auto sums = client->Compile(ColumnSums(), CutBy("0.0/2 split"), {});
  ASSERT_OK(sums);
  const Literal x = Numbers(Rows(), 1);
  const auto run = [&] {
    auto results = (*sums)->Execute({x}, {});
    EXPECT_OK(results);
    return (*results)[0];
  };
  // Compiled, so that a caller queues its tasks itself.
  for (int i = 0; i < 4; ++i) ASSERT_OK(run()->Fetch({}).Await());
  held.Hold();
  // Its last task waits for what the other place has.
  const BufferPtr waits = run();
  while (held.count() < 2) absl::SleepFor(absl::Milliseconds(1));
  held.ReleaseNext();
  const BufferPtr other = run();
  EXPECT_OK(other->Fetch({}).Await(absl::Now() + absl::Seconds(30)));
  EXPECT_OK(waits->Fetch({}).Await(absl::Now() + absl::Seconds(30)));
}

}  // namespace
}  // namespace hawser
