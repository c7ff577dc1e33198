#include "kernels/cpu/host_allocator.h"

#include <thread>
#include <vector>

#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

Shape Bytes(int64_t n) { return Shape::Of(DType::kU8, {n}); }

TEST(HostAllocatorTest, CountsUntilTheLastHolderIsGone) {
  auto allocator = HostAllocator::Make(1024);
  Literal a = *allocator->Allocate(Bytes(600));
  EXPECT_TRUE(a.unique());
  Literal copy = a;
  a = Literal();
  EXPECT_EQ(allocator->live_bytes(), 600);
  EXPECT_THAT(allocator->Allocate(Bytes(500)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "no memory for u8[500]: 512 bytes of values do not fit: "
                       "cpu holds 640 bytes of the 1024 bytes"));
  copy = Literal();
  EXPECT_EQ(allocator->live_bytes(), 0);
  EXPECT_OK(allocator->Allocate(Bytes(1000)));
}

TEST(HostAllocatorTest, AnEmptyValueCostsNothing) {
  auto allocator = HostAllocator::Make(1);
  auto none = allocator->Allocate(Bytes(0));
  ASSERT_OK(none);
  EXPECT_EQ(allocator->live_bytes(), 0);
}

TEST(HostAllocatorTest, ImpossibleSizesAreRefused) {
  auto allocator = HostAllocator::Make(0);
  EXPECT_THAT(allocator->Allocate(Bytes(int64_t{1} << 60)),
              StatusIs(absl::StatusCode::kResourceExhausted, "no memory"));
  EXPECT_EQ(allocator->live_bytes(), 0);
}

TEST(HostAllocatorTest, LargeBlocksComeBack) {
  auto allocator = HostAllocator::Make(0);
  Literal a = *allocator->Allocate(Bytes(1 << 20));
  const char* first = a.bytes().data();
  a = Literal();
  // Nearly the same size is the same block.
  EXPECT_EQ(allocator->Allocate(Bytes((1 << 20) - 100))->bytes().data(), first);
}

// As large_memory.h has them; those given back to the system are gone.
TEST(HostAllocatorTest, LargeBlocksAreInHugePages) {
  const auto is_huge = [](const Literal& x) {
    return reinterpret_cast<uintptr_t>(x.bytes().data()) % (2 << 20) == 0;
  };
  auto allocator = HostAllocator::Make(0);
  std::vector<Literal> values;
  for (int k = 0; k < 3; ++k) {
    values.push_back(*allocator->Allocate(Bytes(5 << 20)));
    EXPECT_TRUE(is_huge(values.back()));
  }
  const char* last = values.back().bytes().data();
  values.pop_back();
  EXPECT_EQ(allocator->Allocate(Bytes(5 << 20))->bytes().data(), last);
  allocator->LetGo();
  values.push_back(*allocator->Allocate(Bytes(5 << 20)));
  values.back().mutable_bytes()[(5 << 20) - 1] = 'z';
  EXPECT_EQ(allocator->live_bytes(), 3 * (5 << 20));
}

TEST(HostAllocatorTest, EverySizeHasRoom) {
  auto allocator = HostAllocator::Make(0);
  for (int64_t n = 1; n < (int64_t{1} << 24); n = n * 5 / 3 + 1) {
    Literal x = *allocator->Allocate(Bytes(n));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(x.bytes().data()) % 64, 0u);
    x.mutable_bytes()[0] = 'a';
    x.mutable_bytes()[n - 1] = 'z';  // asan watches this one
  }
}

TEST(HostAllocatorTest, ValuesOutliveTheirAllocator) {
  auto allocator = HostAllocator::Make(0);
  Literal small = *allocator->Allocate(Bytes(8));
  Literal large = *allocator->Allocate(Bytes(1 << 20));
  allocator.reset();
  small.mutable_bytes()[7] = 'x';
  large.mutable_bytes()[(1 << 20) - 1] = 'x';
}

TEST(HostAllocatorTest, ManyThreads) {
  auto allocator = HostAllocator::Make(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        Literal x = *allocator->Allocate(Bytes((i % 7 + 1) << 15));
        x.mutable_bytes()[0] = 'x';
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(allocator->live_bytes(), 0);
}

}  // namespace
}  // namespace hawser::cpu
