// The prelude's functions of warps and blocks, in every order of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/emu/bench.h"

namespace hawser::testing {
namespace {

constexpr uint32_t kThreads = 256;

std::vector<uint32_t> Random(size_t n) {
  std::mt19937 random(3);
  std::vector<uint32_t> values(n);
  for (uint32_t& v : values) v = random();
  return values;
}

// Half of them one of four.
std::vector<uint32_t> Digits() {
  std::vector<uint32_t> digits = Random(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) digits[i] &= i % 2 == 0 ? 3 : 255;
  return digits;
}

// Runs one block of `body`, which makes y[HK_TID] of x[HK_TID].
template <typename T>
std::vector<T> RunBody(const std::string& declarations, const std::string& body,
                       const std::string& type, const std::vector<T>& x) {
  Bench bench;
  const auto xs = bench.Put(x);
  const auto ys = bench.Make<T>(static_cast<int64_t>(x.size()));
  const std::string text = declarations + "\nHK_GLOBAL HK_BOUNDS(256) body(" +
                           type + "* y, const " + type + "* x) {\n  " + type +
                           " v = Load(x + HK_TID);\n" + body +
                           "\n  Store(y + HK_TID, v);\n}\n";
  bench.Launch(bench.Kernel(text, "body"),
               {.threads = static_cast<uint32_t>(x.size()),
                .dynamic_shared_bytes = 1024},
               {ys.Write(), xs.Read()});
  const auto y = bench.Get(ys);
  EXPECT_EQ(bench.status(), absl::OkStatus());
  return y;
}

// x -> a x + b, two maps in a word; the order of composition counts.
constexpr char kAffine[] = R"(
struct Map { u16 a, b; };
struct Compose {
  static constexpr bool kCommutes = false;
  HK_MEMBER Map Identity() { return {1, 0}; }
  HK_MEMBER Map Combine(Map f, Map g) {
    return {(u16)(f.a * g.a), (u16)(f.b * g.a + g.b)};
  }
};
)";
uint32_t Compose(uint32_t f, uint32_t g) {
  const uint32_t a = (f & 0xffff) * (g & 0xffff);
  const uint32_t b = (f >> 16) * (g & 0xffff) + (g >> 16);
  return (a & 0xffff) | b << 16;
}

TEST(Collectives, ReductionsKeepTheOrderOfOperationsThatDoNotCommute) {
  const auto x = Random(kThreads);
  const auto y = RunBody<uint32_t>(
      kAffine,
      "  HK_SHARED(Map, s, 8);\n"
      "  v = BitCast<u32>(BlockReduce<Compose, 256>(BitCast<Map>(v), s));",
      "u32", x);
  uint32_t all = 1;
  for (const uint32_t f : x) all = Compose(all, f);
  EXPECT_EQ(y, std::vector<uint32_t>(kThreads, all));
}

TEST(Collectives, EveryLaneOfAGroupGetsItsFoldInOrder) {
  const auto x = Random(kThreads);
  const auto y = RunBody<uint32_t>(
      kAffine, "  v = BitCast<u32>(GroupReduce<Compose, 8>(BitCast<Map>(v)));",
      "u32", x);
  for (uint32_t group = 0; group < kThreads; group += 8) {
    uint32_t all = 1;
    for (uint32_t i = 0; i < 8; ++i) all = Compose(all, x[group + i]);
    for (uint32_t i = 0; i < 8; ++i) ASSERT_EQ(y[group + i], all) << group + i;
  }
}

TEST(Collectives, ScansFoldAllBelow) {
  const auto x = Random(kThreads);
  const auto y = RunBody<uint32_t>(
      kAffine,
      "  HK_SHARED(Map, s, 8);\n"
      "  v = BitCast<u32>(BlockScan<Compose, 256>(BitCast<Map>(v), s));\n"
      "  v = BitCast<u32>(BitCast<Map>(v));",
      "u32", x);
  uint32_t all = 1;
  for (uint32_t i = 0; i < kThreads; ++i) {
    all = Compose(all, x[i]);
    ASSERT_EQ(y[i], all) << i;
  }
}

TEST(Collectives, ABallotHasABitForEachLaneOfTheWarp) {
  const auto x = Random(kThreads);
  const auto y =
      RunBody<uint32_t>("", "  v = Ballot((v & 1u) != 0u);", "u32", x);
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32; ++l) lanes |= (x[i / 32 * 32 + l] & 1) << l;
    ASSERT_EQ(y[i], lanes) << i;
  }
}

TEST(Collectives, PlacesByDigitsKeepTheOrderOfEquals) {
  const auto x = Digits();
  const auto y = RunBody<uint32_t>("",
                                   "  HK_SHARED(u32, counts, 2048);\n"
                                   "  HK_SHARED(u32, sums, 8);\n"
                                   "  u32 digits[1] = {v};\n"
                                   "  BlockPlaces<1>(digits, counts, sums);\n"
                                   "  v = digits[0];",
                                   "u32", x);
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t before = 0;
    for (uint32_t k = 0; k < kThreads; ++k) {
      before += x[k] < x[i] || (x[k] == x[i] && k < i) ? 1 : 0;
    }
    ASSERT_EQ(y[i], before) << i;
  }
}

TEST(Collectives, CountsOfDigitsAreThoseOfTheBlock) {
  const auto x = Digits();
  const auto y = RunBody<uint32_t>("",
                                   "  HK_SHARED(u32, counts, 2048);\n"
                                   "  u32 digits[1] = {v};\n"
                                   "  WarpCounts<1>(digits, counts);\n"
                                   "  HK_SYNC();\n"
                                   "  v = CountOfDigit(counts);",
                                   "u32", x);
  for (uint32_t i = 0; i < kThreads; ++i) {
    ASSERT_EQ(y[i], std::count(x.begin(), x.end(), i)) << i;
  }
}

TEST(Collectives, WhatIsAddedToIsNothingElseUntilABarrier) {
  const std::string begin =
      "HK_GLOBAL HK_BOUNDS(256) body(u32* y) {\n"
      "  HK_SHARED(u32, count, 1);\n"
      "  if (HK_TID == 0u) count[0] = 0u;\n  HK_SYNC();\n";
  const std::string add = "  SharedAdd(count, 0u, 2u);\n";
  const std::string read = "  const u32 v = count[0];\n";
  const std::string end = "  HK_SYNC();\n  Store(y + HK_TID, HK_TID);\n}\n";
  const auto status = [&](const std::string& middle) {
    Bench bench;
    const auto ys = bench.Make<uint32_t>(kThreads);
    bench.Launch(bench.Kernel(begin + middle + end, "body"),
                 {.threads = kThreads}, {ys.Write()});
    bench.Get(ys);
    return std::string(bench.status().message());
  };
  EXPECT_EQ(status(add + "  HK_SYNC();\n" + read), "");
  const std::string says = "without a barrier in between";
  EXPECT_NE(status(add + read).find(says), std::string::npos);
  EXPECT_NE(status(read + add).find(says), std::string::npos);
  EXPECT_NE(status(add + "  if (HK_TID == 9u) count[0] = 1u;\n").find(says),
            std::string::npos);
  EXPECT_NE(status("  if (HK_TID == 9u) count[0] = 1u;\n" + add).find(says),
            std::string::npos);
  // The first of all threads, which adds before any other does.
  EXPECT_NE(status("  if (HK_TID == 0u) count[0] = 1u;\n" + add).find(says),
            std::string::npos);
}

// What stands before each thread, from one round to the next.
TEST(Collectives, ScansGoOnFromTheirCarry) {
  const auto x = Random(kThreads);
  for (const std::string call : {"BlockScanOn<Compose, 256>(m, carry, s)",
                                 "WarpScanOn<Compose>(m, carry)"}) {
    const auto y =
        RunBody<uint32_t>(kAffine,
                          "  HK_SHARED(Map, s, 8);\n"
                          "  const Map m = BitCast<Map>(v);\n"
                          "  Map carry = Compose::Identity();\n  " +
                              call + ";\n  v = BitCast<u32>(" + call + ");",
                          "u32", x);
    const uint32_t group = call[0] == 'B' ? kThreads : 32;
    for (uint32_t first = 0; first < kThreads; first += group) {
      uint32_t before = 1;
      for (uint32_t i = 0; i < group; ++i) {
        before = Compose(before, x[first + i]);
      }
      for (uint32_t i = 0; i < group; ++i) {
        ASSERT_EQ(y[first + i], before) << call << " " << first + i;
        before = Compose(before, x[first + i]);
      }
    }
  }
}

// A slower warp still reads the results of the first scan there.
TEST(Collectives, ScansMayShareTheirMemory) {
  const auto x = Random(kThreads);
  const auto y = RunBody<uint32_t>("",
                                   "  HK_SHARED(u32, s, 8);\n"
                                   "  v = BlockScan<Sum<u32>, 256>(v, s);\n"
                                   "  v = BlockScan<Sum<u32>, 256>(v, s);",
                                   "u32", x);
  uint32_t once = 0, twice = 0;
  for (uint32_t i = 0; i < kThreads; ++i) {
    once += x[i];
    twice += once;
    ASSERT_EQ(y[i], twice) << i;
  }
}

TEST(Collectives, ShufflesUpAndDownKeepTheirEnds) {
  std::vector<uint32_t> x(64);
  for (uint32_t i = 0; i < 64; ++i) x[i] = i;
  const auto y = RunBody<uint32_t>(
      "", "  v = ShuffleUp(v, 3) * 100u + ShuffleDown(v, 5);", "u32", x);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t lane = i % 32;
    const uint32_t up = lane < 3 ? i : i - 3, down = lane > 26 ? i : i + 5;
    EXPECT_EQ(y[i], up * 100 + down) << i;
  }
}

TEST(Collectives, WideAndNarrowValuesAreShuffled) {
  std::vector<double> x(32);
  for (int i = 0; i < 32; ++i) x[i] = i * 1.25;
  EXPECT_EQ(RunBody<double>("", "  v = Shuffle(v, 7);", "double", x),
            std::vector<double>(32, 7 * 1.25));
  std::vector<uint16_t> narrow(32);
  for (int i = 0; i < 32; ++i) narrow[i] = static_cast<uint16_t>(i << 9 | 3);
  EXPECT_EQ(RunBody<uint16_t>("", "  v = Shuffle(v, 31);", "u16", narrow),
            std::vector<uint16_t>(32, 31 << 9 | 3));
}

TEST(Collectives, ExtremesKnowTheirPlace) {
  struct Case {
    std::vector<std::pair<int, float>> set;
    const char* op;
    float place;
  };
  const Case cases[] = {
      {{{40, 9.0f}, {200, 9.0f}}, "Extreme<float, u32, true>", 40},
      {{{40, 9.0f}, {200, 9.0f}}, "Extreme<float, u32, true, true>", 200},
      {{{3, -9.0f}, {100, NAN}, {101, NAN}}, "Extreme<float, u32, false>", 100},
      {{{7, -INFINITY}}, "Extreme<float, u32, false>", 7},
      {{{0, INFINITY}, {255, INFINITY}}, "Extreme<float, u32, true>", 0},
  };
  for (const Case& k : cases) {
    std::vector<float> x(kThreads, 1.0f);
    for (const auto& [at, value] : k.set) x[at] = value;
    const auto y = RunBody<float>(
        std::string("typedef ") + k.op + " Op;",
        "  HK_SHARED(Op::F, s, 8);\n"
        "  const Op::F f = BlockReduce<Op, 256>(Op::F{v, HK_TID}, s);\n"
        "  v = Convert<float>(f.index);",
        "float", x);
    EXPECT_EQ(y, std::vector<float>(kThreads, k.place)) << k.op;
  }
}

TEST(Collectives, DynamicSharedMemoryAndBarriersOfOneWarp) {
  const auto x = Random(64);
  const auto y = RunBody<uint32_t>("",
                                   "  HK_DYNAMIC_SHARED(u32, s);\n"
                                   "  s[HK_TID] = v;\n"
                                   "  HK_SYNC_WARP();\n"
                                   "  v = s[HK_TID ^ 1u];\n"
                                   "  HK_SYNC_WARP();\n"
                                   "  s[HK_TID] = v;\n"
                                   "  HK_SYNC();\n"
                                   "  v = s[63u - HK_TID];",
                                   "u32", x);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(y[i], x[(63 - i) ^ 1]) << i;
}

TEST(Collectives, AWarpsBarrierOrdersNoOtherWarp) {
  Bench bench;
  const auto y = bench.Make<uint32_t>(64);
  bench.Launch(bench.Kernel("HK_GLOBAL k(u32* y) {\n"
                            "  HK_SHARED(u32, s, 64);\n"
                            "  s[HK_TID] = HK_TID;\n"
                            "  HK_SYNC_WARP();\n"
                            "  const u32 v = s[63u - HK_TID];\n"
                            "  Store(y + HK_TID, v);\n}",
                            "k"),
               {.threads = 64}, {y.Write()});
  EXPECT_TRUE(absl::IsInternal(bench.status()));
}

}  // namespace
}  // namespace hawser::testing
