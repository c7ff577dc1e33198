// WarpMma on fragments that are laid out as the tables of PTX ISA have it,
// against exact sums; its order, and what no number survives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/values/dtype.h"
#include "tests/kernels/emu/bench.h"

namespace hawser::testing {
namespace {

using Matrix = std::vector<double>;  // by rows

// The elements that registers of a lane hold. g = lane / 4, t = lane % 4.
struct At {
  int row, column;
};
using Places = std::vector<At> (*)(int g, int t);

// PTX ISA 8.x: "Matrix Fragments for mma.m16n8k16 with floating point type",
// two elements in each register, the first in its lower half.
std::vector<At> LeftOf16x8x16(int g, int t) {
  return {{g, 2 * t},         {g, 2 * t + 1},    {g + 8, 2 * t},
          {g + 8, 2 * t + 1}, {g, 2 * t + 8},    {g, 2 * t + 9},
          {g + 8, 2 * t + 8}, {g + 8, 2 * t + 9}};
}
std::vector<At> RightOf16x8x16(int g, int t) {
  return {{2 * t, g}, {2 * t + 1, g}, {2 * t + 8, g}, {2 * t + 9, g}};
}
std::vector<At> SumOf16x8(int g, int t) {
  return {{g, 2 * t}, {g, 2 * t + 1}, {g + 8, 2 * t}, {g + 8, 2 * t + 1}};
}
// "Matrix Fragments for mma.m16n8k8", .tf32.
std::vector<At> LeftOf16x8x8(int g, int t) {
  return {{g, t}, {g + 8, t}, {g, t + 4}, {g + 8, t + 4}};
}
std::vector<At> RightOf16x8x8(int g, int t) { return {{t, g}, {t + 4, g}}; }
// "Matrix Fragments for mma.m8n8k4", .f64.
std::vector<At> LeftOf8x8x4(int g, int t) { return {{g, t}}; }
std::vector<At> RightOf8x8x4(int g, int t) { return {{t, g}}; }
std::vector<At> SumOf8x8(int g, int t) { return {{g, 2 * t}, {g, 2 * t + 1}}; }

// One of the instructions.
struct Unit {
  const char* name;
  int rows, depth;
  Places left, right, sum;
};
constexpr Unit kBrain = {"bf16",         16,       16, LeftOf16x8x16,
                         RightOf16x8x16, SumOf16x8};
constexpr Unit kHalf = {"f16",          16,       16, LeftOf16x8x16,
                        RightOf16x8x16, SumOf16x8};
constexpr Unit kTf32 = {"tf32", 16, 8, LeftOf16x8x8, RightOf16x8x8, SumOf16x8};
constexpr Unit kDouble = {"double", 8, 4, LeftOf8x8x4, RightOf8x8x4, SumOf8x8};

template <typename T>
std::vector<T> FragmentsOf(const Matrix& m, int columns, Places places) {
  std::vector<T> all;
  for (int lane = 0; lane < 32; ++lane) {
    for (const At at : places(lane / 4, lane % 4)) {
      all.push_back(T(static_cast<ComputeType<T>>(
          m[static_cast<size_t>(at.row * columns + at.column)])));
    }
  }
  return all;
}

std::string TextOf(const Unit& unit) {
  const char kText[] = R"(
HK_GLOBAL HK_BOUNDS(32) mma(M::Sum* d, const M::Word* a, const M::Word* b,
                            const M::Sum* c) {
  M::Word left[M::kLeft], right[M::kRight];
  M::Sum sum[M::kSums];
  for (u32 i = 0; i < M::kLeft; ++i) {
    left[i] = Load(a + HK_TID * M::kLeft + i);
  }
  for (u32 i = 0; i < M::kRight; ++i) {
    right[i] = Load(b + HK_TID * M::kRight + i);
  }
  for (u32 i = 0; i < M::kSums; ++i) sum[i] = Load(c + HK_TID * M::kSums + i);
  WarpMma<T>(sum, left, right);
  for (u32 i = 0; i < M::kSums; ++i) Store(d + HK_TID * M::kSums + i, sum[i]);
}
)";
  return absl::StrReplaceAll(
      kText, {{"M::", absl::StrCat("Mma<", unit.name, ">::")},
              {"WarpMma<T>", absl::StrCat("WarpMma<", unit.name, ">")}});
}

// a * b + c on a warp. F: an element of the factors, W: a word, S: a sum.
template <typename F, typename W, typename S>
Matrix Multiply(const Unit& unit, const Matrix& a, const Matrix& b,
                const Matrix& c, const std::string& text) {
  Bench bench;
  const auto words = [&](const Matrix& m, int columns, Places places) {
    const auto f = FragmentsOf<F>(m, columns, places);
    std::vector<W> w(f.size() * sizeof(F) / sizeof(W));
    std::memcpy(w.data(), f.data(), w.size() * sizeof(W));
    return bench.Put(w);
  };
  const auto as = words(a, unit.depth, unit.left);
  const auto bs = words(b, 8, unit.right);
  const auto cs = bench.Put(FragmentsOf<S>(c, 8, unit.sum));
  const auto ds = bench.Make<S>(cs.size);
  bench.Launch(bench.Kernel(text, "mma"), {.threads = 32},
               {ds.Write(), as.Read(), bs.Read(), cs.Read()});
  const auto d = bench.Get(ds);
  EXPECT_EQ(bench.status(), absl::OkStatus());
  Matrix result(static_cast<size_t>(unit.rows * 8));
  size_t next = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (const At at : unit.sum(lane / 4, lane % 4)) {
      result[static_cast<size_t>(at.row * 8 + at.column)] = d[next++];
    }
  }
  return result;
}

Matrix Integers(int size, int most, std::mt19937& random) {
  Matrix m(static_cast<size_t>(size));
  for (double& x : m) {
    x = static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most;
  }
  return m;
}

Matrix Exact(const Unit& unit, const Matrix& a, const Matrix& b, Matrix c) {
  for (int i = 0; i < unit.rows; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < unit.depth; ++k) {
        c[static_cast<size_t>(i * 8 + j)] +=
            a[static_cast<size_t>(i * unit.depth + k)] *
            b[static_cast<size_t>(k * 8 + j)];
      }
    }
  }
  return c;
}

template <typename F, typename W, typename S>
void ExpectExactSums(const Unit& unit, int most) {
  SCOPED_TRACE(unit.name);
  std::mt19937 random(5);
  for (int turn = 0; turn < 4; ++turn) {
    const Matrix a = Integers(unit.rows * unit.depth, most, random);
    const Matrix b = Integers(unit.depth * 8, most, random);
    const Matrix c = Integers(unit.rows * 8, 1000, random);
    EXPECT_EQ((Multiply<F, W, S>(unit, a, b, c, TextOf(unit))),
              Exact(unit, a, b, c));
  }
}

// Integers of as many bits as factors have.
TEST(WarpMma, EveryElementIsTheExactSum) {
  ExpectExactSums<BFloat16, uint32_t, float>(kBrain, 255);
  ExpectExactSums<Half, uint32_t, float>(kHalf, 512);
  ExpectExactSums<float, uint32_t, float>(kTf32, 1023);
  ExpectExactSums<double, double, double>(kDouble, 1 << 20);
}

// Each product alone: which element goes with which.
TEST(WarpMma, EveryProductGoesToItsPlace) {
  for (int k = 0; k < 16; ++k) {
    Matrix a(16 * 16), b(16 * 8);
    for (int i = 0; i < 16; ++i) a[static_cast<size_t>(i * 16 + k)] = i + 1;
    for (int j = 0; j < 8; ++j) b[static_cast<size_t>(k * 8 + j)] = j + 1;
    const Matrix none(16 * 8);
    EXPECT_EQ((Multiply<BFloat16, uint32_t, float>(kBrain, a, b, none,
                                                   TextOf(kBrain))),
              Exact(kBrain, a, b, none))
        << k;
  }
}

// The host's order is stated: 2^24 comes first and takes no 1 any more.
TEST(WarpMma, OnTheHostAddsInOrder) {
  Matrix a(16 * 16, 1), b(16 * 8, 1);
  const Matrix large(16 * 8, 0x1p24), none(16 * 8);
  const std::string text = TextOf(kBrain);
  EXPECT_EQ((Multiply<BFloat16, uint32_t, float>(kBrain, a, b, large, text)),
            large);
  // Behind 15 ones it is rounded once.
  for (int i = 0; i < 16; ++i) a[static_cast<size_t>(i * 16 + 15)] = 0x1p24;
  EXPECT_EQ((Multiply<BFloat16, uint32_t, float>(kBrain, a, b, none, text)),
            Matrix(16 * 8, 0x1p24 + 16));
}

TEST(WarpMma, KeepsWhatIsNoNumberToItsRowsAndColumns) {
  const double inf = std::numeric_limits<double>::infinity();
  Matrix a(16 * 16, 1), b(16 * 8, 1);
  a[0] = inf;
  a[static_cast<size_t>(3 * 16 + 5)] = std::nan("");
  b[static_cast<size_t>(0 * 8 + 2)] = 0;
  const Matrix d = Multiply<Half, uint32_t, float>(kHalf, a, b, Matrix(16 * 8),
                                                   TextOf(kHalf));
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      const double x = d[static_cast<size_t>(i * 8 + j)];
      if (i == 3 || (i == 0 && j == 2)) {
        EXPECT_TRUE(std::isnan(x)) << i << " " << j;
      } else {
        EXPECT_EQ(x, i == 0 ? inf : j == 2 ? 15 : 16) << i << " " << j;
      }
    }
  }
}

TEST(WarpMma, WantsTheWholeWarp) {
  Bench bench;
  const std::string text = absl::StrReplaceAll(
      TextOf(kDouble), {{"  WarpMma", "  if (HK_TID < 31) WarpMma"}});
  const auto x = bench.Put(std::vector<double>(64, 1));
  const auto d = bench.Make<double>(64);
  bench.Launch(bench.Kernel(text, "mma"), {.threads = 32},
               {d.Write(), x.Read(), x.Read(), x.Read()});
  EXPECT_TRUE(absl::StrContains(bench.status().message(), "divergent warp"))
      << bench.status();
}

// To 10 bits of the fraction, ties away from zero.
TEST(RoundToTf32, KeepsTenBitsOfTheFraction) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1,
                                1 + 0x1p-11f,
                                -1 - 0x1p-11f,
                                1 + 0x1p-11f - 0x1p-23f,
                                2 - 0x1p-23f,
                                0x1p-149f,
                                0x1p-137f,
                                inf,
                                -inf,
                                -0.0f};
  const std::vector<float> want = {1, 1 + 0x1p-10f, -1 - 0x1p-10f, 1,    2,
                                   0, 0x1p-136f,    inf,           -inf, -0.0f};
  Bench bench;
  const auto xs = bench.Put(x);
  const auto ys = bench.Make<uint32_t>(xs.size);
  bench.Launch(
      bench.Kernel("HK_GLOBAL rounded(u32* y, const float* x) {\n"
                   "  if (HK_TID < 10) {\n"
                   "    Store(y + HK_TID, RoundToTf32(Load(x + HK_TID)));\n"
                   "  }\n}",
                   "rounded"),
      {.threads = 32}, {ys.Write(), xs.Read()});
  const auto y = bench.Get(ys);
  EXPECT_EQ(bench.status(), absl::OkStatus());
  std::vector<uint32_t> bits(want.size());
  std::memcpy(bits.data(), want.data(), want.size() * sizeof(float));
  EXPECT_EQ(y, bits);
}

}  // namespace
}  // namespace hawser::testing
