#include "core/base/threads/thread_pool.h"

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(ThreadPoolTest, RunsWhatIsQueuedBeforeItEnds) {
  std::atomic<int> runs{0};
  {
    ThreadPool pool(3);
    for (int i = 0; i < 100; ++i) pool.Schedule([&] { ++runs; });
  }
  EXPECT_EQ(runs, 100);
}

TEST(ThreadPoolTest, DropsWhatComesAfterStop) {
  ThreadPool pool(2);
  pool.Stop();
  bool ran = false;
  pool.Schedule([&] { ran = true; });
  EXPECT_FALSE(ran);
}

TEST(ThreadPoolTest, KnowsItsOwnThreads) {
  ThreadPool pool(1);
  std::atomic<int> own{-1};
  pool.Schedule([&] { own = pool.IsOwnThread(); });
  pool.Stop();
  EXPECT_EQ(own, 1);
  EXPECT_FALSE(pool.IsOwnThread());
}

TEST(ThreadPoolTest, TheProcessHasOne) {
  ThreadPool& pool = ThreadPool::OfProcess();
  EXPECT_EQ(&pool, &ThreadPool::OfProcess());
  EXPECT_EQ(pool.size(), CpuThreads());
  EXPECT_FALSE(pool.IsOwnThread());
}

TEST(ForEachBlockTest, EveryBlockOnce) {
  ThreadPool pool(4);
  for (ThreadPool* p : {&pool, static_cast<ThreadPool*>(nullptr)}) {
    for (int64_t blocks : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> seen(blocks);
      EXPECT_OK(ForEachBlock(p, blocks, {}, [&](int64_t i) {
        ++seen[i];
        return absl::OkStatus();
      }));
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

// Tasks of the pool use loops too: with every thread busy a loop does its own
// work instead of waiting.
// Two blocks that wait for each other need a helper, whether it polls, sleeps or
// is about to.
TEST(ForEachBlockTest, HelpIsNeverMissed) {
  ThreadPool pool(2);
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> there{0};
    EXPECT_OK(ForEachBlock(&pool, 2, {}, [&](int64_t) {
      for (++there; there < 2;) std::this_thread::yield();
      return absl::OkStatus();
    }));
    if (round % 20 == 0) absl::SleepFor(absl::Microseconds(round / 10));
  }
}

TEST(ForEachBlockTest, NestsWithoutDeadlock) {
  ThreadPool pool(2);
  std::atomic<int> inner{0};
  EXPECT_OK(ForEachBlock(&pool, 8, {}, [&](int64_t) {
    return ForEachBlock(&pool, 8, {}, [&](int64_t) {
      ++inner;
      return absl::OkStatus();
    });
  }));
  EXPECT_EQ(inner, 64);
}

TEST(ForEachBlockTest, AnErrorStopsTheRest) {
  ThreadPool pool(2);
  for (ThreadPool* p : {&pool, static_cast<ThreadPool*>(nullptr)}) {
    std::atomic<int> runs{0};
    EXPECT_THAT(ForEachBlock(p, 100000, {},
                             [&](int64_t i) {
                               ++runs;
                               return i == 10 ? Internal("block ten")
                                              : absl::OkStatus();
                             }),
                StatusIs(absl::StatusCode::kInternal, "block ten"));
    EXPECT_LT(runs, 100000);
  }
}

TEST(ForEachBlockTest, ChecksTheTokenBetweenBlocks) {
  ThreadPool pool(2);
  for (ThreadPool* p : {&pool, static_cast<ThreadPool*>(nullptr)}) {
    const CancelToken token = CancelToken::WithFlag();
    std::atomic<int> runs{0};
    EXPECT_THAT(ForEachBlock(p, 100000, token,
                             [&](int64_t) {
                               if (++runs == 5) token.Cancel();
                               return absl::OkStatus();
                             }),
                StatusIs(absl::StatusCode::kCancelled, ""));
    EXPECT_LT(runs, 100);
  }
}

TEST(ThreadPoolTest, ATaskThatWaitsLetsAnotherRun) {
  ThreadPool pool(1);
  std::atomic<bool> other{false}, first_done{false};
  pool.Schedule([&] {
    const ThreadPool::Blocking blocking(&pool);
    while (!other) std::this_thread::yield();
    first_done = true;
  });
  pool.Schedule([&] { other = true; });
  while (!first_done) std::this_thread::yield();
}

TEST(ThreadPoolTest, NoMoreThanItsSizeRunAfterwards) {
  ThreadPool pool(2);
  std::atomic<int> running{0}, most{0}, left{64};
  for (int i = 0; i < 64; ++i) {
    pool.Schedule([&] {
      {
        const ThreadPool::Blocking blocking(&pool);
        std::this_thread::yield();
      }
      --left;
    });
  }
  while (left > 0) std::this_thread::yield();
  left = 64;
  for (int i = 0; i < 64; ++i) {
    pool.Schedule([&] {
      const int now = ++running;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
      --left;
    });
  }
  while (left > 0) std::this_thread::yield();
  EXPECT_LE(most, 2);
}

TEST(ThreadPoolTest, BlockingElsewhereDoesNothing) {
  ThreadPool pool(1);
  const ThreadPool::Blocking on_another_thread(&pool);
  const ThreadPool::Blocking of_none(nullptr);
}

TEST(OnThreads, AllRunAtTheSameTime) {
  std::atomic<int> running{0};
  EXPECT_OK(OnThreads(3, [&](int) {
    ++running;
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (running < 3 && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    return running == 3 ? absl::OkStatus() : absl::InternalError("alone");
  }));
}

TEST(OnThreads, TheFirstErrorByNumberCounts) {
  std::atomic<int> calls{0};
  const absl::Status status = OnThreads(4, [&](int i) {
    ++calls;
    if (i < 2) return absl::OkStatus();
    return absl::InternalError(i == 2 ? "two" : "three");
  });
  EXPECT_EQ(status.message(), "two");
  EXPECT_EQ(calls, 4);
  EXPECT_OK(OnThreads(0, [&](int) { return absl::InternalError("none"); }));
}

}  // namespace
}  // namespace hawser
