// What each set of instructions does, beside what every machine does.
#include "kernels/cpu/butterflies/lane_passes.h"

#include <cstring>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"

namespace hawser::cpu {
namespace {

constexpr Isa kIsas[] = {Isa::kSse4, Isa::kAvx2, Isa::kAvx512};

template <typename T>
std::vector<T> Drawn(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<T> drawn(count);
  for (T& x : drawn) x = numbers(random);
  return drawn;
}

template <typename T>
bool SameBits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

// Lanes of a set of instructions, filled from memory and written back there.
template <typename T>
class Rig {
 public:
  Rig(Isa isa, int64_t n, int64_t count)
      : passes_(FindLanePasses<T>(isa)),
        n_(n),
        count_(count),
        width_((count - 1) / passes_.lanes * passes_.lanes + passes_.lanes),
        lanes_(4 * n * width_) {}

  const LanePasses<T>& passes() const { return passes_; }
  int64_t width() const { return width_; }
  LaneParts<T> x() { return PartsAt(0); }
  LaneParts<T> y() { return PartsAt(2); }

  // Rows of `elements` numbers; columns: transforms are neighbours.
  void Load(const std::vector<T>& from, int64_t elements, bool columns) {
    passes_.load(columns ? LaneMemory<const T>{from.data(), count_, 1}
                         : LaneMemory<const T>{from.data(), 1, elements},
                 elements, count_, x(), width_);
  }
  std::vector<T> Stored(LaneParts<T> from, int64_t elements, bool columns,
                        T scale = 1) {
    std::vector<T> to(2 * elements * count_);
    passes_.store({from.re, from.im}, elements, count_, width_, scale,
                  columns ? LaneMemory<T>{to.data(), count_, 1}
                          : LaneMemory<T>{to.data(), 1, elements});
    return to;
  }

 private:
  LaneParts<T> PartsAt(int64_t part) {
    T* const at = lanes_.data() + part * n_ * width_;
    return {at, at + n_ * width_};
  }

  const LanePasses<T>& passes_;
  const int64_t n_, count_, width_;
  std::vector<T> lanes_;
};

template <typename T>
class LanePassesTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LanePassesTest, Types);

TYPED_TEST(LanePassesTest, WhatIsLoadedIsStored) {
  using T = TypeParam;
  for (const Isa isa : {Isa::kBase, Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : {1, 2, 3, 8, 13, 32}) {
      for (int64_t count = 1; count <= kMostLanes<T>; ++count) {
        Rig<T> rig(isa, n, count);
        const auto from = Drawn<T>(2 * n * count, n * 100 + count);
        for (const bool columns : {false, true}) {
          // One element of each is a row and a column.
          if (columns && count == 1) continue;
          rig.Load(from, n, columns);
          for (int64_t l = 0; l < count; ++l) {
            const int64_t at = columns ? l : l * n;
            EXPECT_EQ(rig.x().re[l], from[2 * at]);
            EXPECT_EQ(rig.x().im[l], from[2 * at + 1]);
          }
          EXPECT_TRUE(SameBits(rig.Stored(rig.x(), n, columns), from))
              << IsaName(isa) << " " << n << " " << count << " " << columns;
          auto halved = from;
          for (T& x : halved) x *= T(0.5);
          EXPECT_TRUE(SameBits(rig.Stored(rig.x(), n, columns, T(0.5)), halved))
              << IsaName(isa) << " " << n << " " << count << " " << columns;
        }
      }
    }
  }
}

// A pass of each radix, of all rows of roots, in each set of instructions.
template <typename T>
std::vector<T> PassOf(Isa isa, int radix, int64_t count) {
  constexpr int64_t kBefore = 3, kBehind = 4;
  const int64_t n = kBefore * radix * kBehind;
  Rig<T> rig(isa, n, count);
  rig.Load(Drawn<T>(2 * n * count, radix), n, false);
  const auto roots = Drawn<T>(2 * kBehind * (radix - 1), 1);
  const auto turns = Drawn<T>(2 * radix, 2);
  rig.passes().run({radix, kBefore, kBehind, roots.data(), turns.data()},
                   rig.x(), rig.y(), rig.width());
  return rig.Stored(rig.y(), n, false);
}

TYPED_TEST(LanePassesTest, PassesHaveTheSameBitsInEachSet) {
  using T = TypeParam;
  for (const int radix : {2, 3, 4, 5, 7, 8, 11, 13, 17, 19, 23, 29, 31}) {
    for (const int64_t count : {int64_t{1}, int64_t{5}, kMostLanes<T>}) {
      const auto want = PassOf<T>(Isa::kBase, radix, count);
      for (const Isa isa : kIsas) {
        if (isa > MachineIsa()) continue;
        EXPECT_TRUE(SameBits(PassOf<T>(isa, radix, count), want))
            << IsaName(isa) << " " << radix << " " << count;
      }
    }
  }
}

// The others, one after the other.
template <typename T>
std::vector<T> OthersOf(Isa isa, int64_t half, int64_t count) {
  const int64_t n = half + 1;
  Rig<T> rig(isa, n, count);
  rig.Load(Drawn<T>(2 * n * count, half), n, false);
  const auto by = Drawn<T>(2 * n * (kMostLanes<T> + 1), 1);
  rig.passes().join_halves(rig.x(), half, rig.width(), by.data());
  rig.passes().turn_elements(rig.x(), n, rig.width(),
                             {by.data(), by.data() + n});
  rig.passes().turn_lanes(rig.x(), n, rig.width(),
                          {by.data(), by.data() + n * kMostLanes<T>},
                          kMostLanes<T>);
  rig.passes().part_halves(rig.x(), half, rig.width(), by.data());
  return rig.Stored(rig.x(), n, false);
}

TYPED_TEST(LanePassesTest, ProductsAndHalvesHaveTheSameBitsInEachSet) {
  using T = TypeParam;
  for (const int64_t half : {1, 2, 3, 8, 9}) {
    for (const int64_t count : {int64_t{1}, int64_t{5}, kMostLanes<T>}) {
      const auto want = OthersOf<T>(Isa::kBase, half, count);
      for (const Isa isa : kIsas) {
        if (isa > MachineIsa()) continue;
        EXPECT_TRUE(SameBits(OthersOf<T>(isa, half, count), want))
            << IsaName(isa) << " " << half << " " << count;
      }
    }
  }
}

}  // namespace
}  // namespace hawser::cpu
