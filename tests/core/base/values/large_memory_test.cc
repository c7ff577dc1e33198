#include "core/base/values/large_memory.h"

#include <cstdint>
#include <cstring>

#include "core/base/values/literal.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(LargeMemoryTest, IsAlignedAndAllThere) {
  for (const size_t bytes :
       {kLargeBytes, kLargeBytes + 1, 3 * kLargeBytes - 4097}) {
    char* const memory = MapLarge(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (size_t{2} << 20), 0u);
    std::memset(memory, 7, bytes);
    EXPECT_EQ(memory[bytes - 1], 7);
    UnmapLarge(memory, bytes);
  }
}

TEST(LargeMemoryTest, ThereIsNoMemoryWithoutEnd) {
  EXPECT_EQ(MapLarge(size_t{1} << 60), nullptr);
}

TEST(LargeMemoryTest, LiteralsOfEverySizeAreWritable) {
  for (const int64_t n : {0, 1, 4095, 4 << 20, (4 << 20) + 1}) {
    Literal value = Literal::Zeros(Shape::Of(DType::kU8, {n}));
    EXPECT_EQ(value.bytes().size(), static_cast<size_t>(n));
    if (n > 0) value.mutable_bytes().back() = 1;
  }
}

}  // namespace
}  // namespace hawser
