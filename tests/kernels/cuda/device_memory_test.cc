// Memory, copies, streams and events of every kind of device.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/mutex.h"
#include "tests/kernels/cuda/device_suite.h"

namespace hawser::testing {
namespace {

using absl::OkStatus;

HAWSER_ON_EVERY_DEVICE(DeviceTest);

std::vector<uint8_t> Count(size_t size) {
  std::vector<uint8_t> values(size);
  std::iota(values.begin(), values.end(), uint8_t{1});
  return values;
}

TEST_P(DeviceTest, SaysWhatItIs) {
  const gpu::DeviceFacts& f = device().facts();
  EXPECT_EQ(f.platform, GetParam().name);
  EXPECT_NE(f.name, "");
  EXPECT_NE(f.target, "");
  EXPECT_NE(f.versions, "");
  EXPECT_NE(device().compiler_id(), "");
  EXPECT_GT(f.memory_bytes, 0);
  EXPECT_GT(f.cache_bytes, 0);
  EXPECT_GE(f.multiprocessors, 1);
  EXPECT_GE(f.max_threads_per_block, 256);
  for (const int64_t most : f.max_grid) EXPECT_GE(most, 65535);
  EXPECT_GE(f.max_shared_bytes_per_block, f.shared_bytes_per_block);
  EXPECT_GT(f.bytes_per_second, 0);
  EXPECT_EQ(device().Health(), OkStatus());
}

TEST_P(DeviceTest, CopiesOfEverySizeComeBack) {
  for (const size_t size : {0, 1, 3, 255, 257, 1 << 20}) {
    const auto from = Count(size);
    const auto a = bench_->Put(from);
    const auto b = bench_->Make<uint8_t>(static_cast<int64_t>(size));
    ASSERT_EQ(device().CopyOnDevice(stream(), b.address, a.address,
                                    static_cast<int64_t>(size)),
              OkStatus());
    EXPECT_EQ(bench_->Get(b), from) << size;
  }
  EXPECT_EQ(bench_->status(), OkStatus());
}

TEST_P(DeviceTest, PartsOfMemoryAreCopiedAndFilled) {
  auto values = Count(1000);
  const auto a = bench_->Put(values);
  ASSERT_EQ(device().Fill(stream(), a.address + 17, 0xab, 301), OkStatus());
  std::memset(values.data() + 17, 0xab, 301);
  EXPECT_EQ(bench_->Get(a), values);
  ASSERT_EQ(device().CopyOnDevice(stream(), a.address + 500, a.address + 1,
                                  499),
            OkStatus());
  std::memcpy(values.data() + 500, std::vector(values).data() + 1, 499);
  EXPECT_EQ(bench_->Get(a), values);
  for (const absl::Status& status :
       {device().Fill(stream(), a.address, 0, -1),
        device().CopyOnDevice(stream(), a.address, a.address, -1)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
}

TEST_P(DeviceTest, MemoryIsCountedAndAligned) {
  EXPECT_EQ(device().memory().live_allocations, 0);
  std::vector<gpu::DeviceAddress> addresses;
  for (const int64_t bytes : {1, 0, 700, 1 << 20}) {
    const auto address = device().Allocate(stream(), bytes);
    ASSERT_EQ(address.status(), OkStatus());
    EXPECT_TRUE(*address);
    EXPECT_EQ(address->value % 256, 0u) << bytes;
    addresses.push_back(*address);
  }
  EXPECT_EQ(device().memory().live_bytes, 701 + (1 << 20));
  EXPECT_EQ(device().memory().live_allocations, 4);
  EXPECT_GE(device().memory().reserved_bytes, 701 + (1 << 20));
  EXPECT_GT(device().memory().free_bytes, 0);
  for (const gpu::DeviceAddress a : addresses) {
    EXPECT_EQ(device().Free(stream(), a), OkStatus());
  }
  const absl::Status again = device().Free(stream(), addresses[0]);
  EXPECT_TRUE(absl::IsInvalidArgument(again)) << again;
  EXPECT_EQ(device().Free(stream(), {}), OkStatus());
  EXPECT_EQ(device().memory().live_bytes, 0);
  EXPECT_EQ(device().memory().peak_bytes, 701 + (1 << 20));
  EXPECT_EQ(device().AwaitStream(stream()), OkStatus());
  EXPECT_EQ(device().TrimMemory(), OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(
      device().Allocate(stream(), -1).status()));
}

TEST_P(DeviceTest, MoreMemoryThanThereIsIsRefused) {
  const int64_t all = device().facts().memory_bytes;
  const absl::Status status =
      device().Allocate(stream(), 2 * all).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat(2 * all)));
  EXPECT_EQ(device().Health(), OkStatus());
  EXPECT_EQ(bench_->Get(bench_->Put(Count(9))), Count(9));
}

TEST_P(DeviceTest, PinnedMemoryIsCopiedLikeAnyOther) {
  const auto pinned = device().AllocatePinned(4096);
  ASSERT_EQ(pinned.status(), OkStatus());
  const auto from = Count(4096);
  std::memcpy(*pinned, from.data(), 4096);
  const auto a = bench_->Make<uint8_t>(4096);
  EXPECT_EQ(device().CopyToDevice(stream(), a.address, *pinned, 4096),
            OkStatus());
  EXPECT_EQ(bench_->Get(a), from);
  EXPECT_EQ(device().FreePinned(*pinned), OkStatus());
  int local = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(device().FreePinned(&local)));
  EXPECT_EQ(device().FreePinned(nullptr), OkStatus());
}

TEST_P(DeviceTest, AnEventOrdersStreams) {
  const gpu::Stream second = *device().CreateStream(1);
  const gpu::Event event = *device().CreateEvent();
  EXPECT_TRUE(*device().IsDone(event));  // it was never recorded
  EXPECT_EQ(device().AwaitEventOn(second, event), OkStatus());
  constexpr int64_t kBytes = 1 << 22;
  const auto a = bench_->Make<uint8_t>(kBytes);
  const auto b = bench_->Make<uint8_t>(kBytes);
  EXPECT_EQ(device().AwaitStream(stream()), OkStatus());
  for (uint8_t turn = 0; turn < 20; ++turn) {
    EXPECT_EQ(device().Fill(stream(), a.address, turn, kBytes), OkStatus());
    EXPECT_EQ(device().RecordEvent(stream(), event), OkStatus());
    EXPECT_EQ(device().AwaitEventOn(second, event), OkStatus());
    EXPECT_EQ(device().CopyOnDevice(second, b.address, a.address, kBytes),
              OkStatus());
    EXPECT_EQ(device().RecordEvent(second, event), OkStatus());
    EXPECT_EQ(device().AwaitEventOn(stream(), event), OkStatus());
    EXPECT_EQ(bench_->Get(b), std::vector<uint8_t>(kBytes, turn));
  }
  EXPECT_EQ(device().DestroyEvent(event), OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(device().AwaitEvent(event)));
  EXPECT_EQ(device().DestroyStream(second), OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(device().AwaitStream(second)));
  EXPECT_TRUE(absl::IsInvalidArgument(device().CreateStream(2).status()));
}

TEST_P(DeviceTest, EventsMeasureTime) {
  const gpu::Event first = *device().CreateEvent();
  const gpu::Event last = *device().CreateEvent();
  const auto a = bench_->Make<uint8_t>(1 << 22);
  ASSERT_EQ(device().RecordEvent(stream(), first), OkStatus());
  ASSERT_EQ(device().Fill(stream(), a.address, 1, 1 << 22), OkStatus());
  ASSERT_EQ(device().RecordEvent(stream(), last), OkStatus());
  ASSERT_EQ(device().AwaitEvent(last), OkStatus());
  EXPECT_TRUE(*device().IsDone(first));
  const auto seconds = device().SecondsBetween(first, last);
  ASSERT_EQ(seconds.status(), OkStatus());
  EXPECT_GE(*seconds, 0);
  EXPECT_LT(*seconds, 60);
}

TEST_P(DeviceTest, NotifyComesBehindWhatIsQueuedInOrder) {
  Mutex mu;
  CondVar changed;
  std::vector<int> order;
  const auto a = bench_->Make<uint8_t>(1 << 22);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(device().Fill(stream(), a.address, 1, 1 << 22), OkStatus());
    ASSERT_EQ(device().Notify(stream(),
                              [&, i](absl::Status status) {
                                EXPECT_EQ(status, OkStatus());
                                MutexLock lock(&mu);
                                order.push_back(i);
                                changed.SignalAll();
                              }),
              OkStatus());
  }
  MutexLock lock(&mu);
  changed.Wait(&mu, [&] { return order.size() == 10; });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_P(DeviceTest, ThreadsHaveStreamsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<absl::Status> statuses(4);
  for (size_t t = 0; t < statuses.size(); ++t) {
    threads.emplace_back([this, t, &status = statuses[t]] {
      const gpu::Stream own = *device().CreateStream(0);
      std::vector<uint8_t> got(1000);
      for (int i = 0; i < 20 && status.ok(); ++i) {
        const auto value = static_cast<uint8_t>(t * 50 + i);
        const auto y = *device().Allocate(own, 1000);
        status.Update(device().Fill(own, y, value, 1000));
        status.Update(device().CopyToHost(own, got.data(), y, 1000));
        status.Update(device().Free(own, y));
        status.Update(device().AwaitStream(own));
        if (got != std::vector<uint8_t>(1000, value)) {
          status.Update(DataLoss("turn ", i, " of thread ", t));
        }
      }
      status.Update(device().DestroyStream(own));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) EXPECT_EQ(status, OkStatus());
  EXPECT_EQ(device().memory().live_allocations, 0);
}

}  // namespace
}  // namespace hawser::testing
