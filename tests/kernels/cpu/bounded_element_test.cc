// Elements of remainder and of integer powers take a number of operations that
// does not grow with their values, and give the bits they always gave.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/base/values/half.h"
#include "gtest/gtest.h"
#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/element_loops.h"
#include "kernels/cpu/elements/remainder.h"

namespace hawser::cpu {
namespace {

template <typename T>
using RawBits =
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

template <typename T>
std::vector<T> FloatEdges() {
  using Limits = std::numeric_limits<ComputeType<T>>;
  std::vector<T> edges;
  for (double x : {0.0,    1.0,      1.5,     0.7,     3.0,      1e10,
                   1e30,   3.1e38,   1e200,   1e300,   1.7e308,  1e-10,
                   1e-37,  1e-39,    1.4e-45, 1e-200,  2.3e-308, 1e-310,
                   5e-324, 1.5e-323, 6e-8,    65504.0, 6e-5,     HUGE_VAL}) {
    edges.push_back(T(static_cast<ComputeType<T>>(x)));
    edges.push_back(T(static_cast<ComputeType<T>>(-x)));
  }
  for (ComputeType<T> x :
       {Limits::min(), Limits::max(), Limits::epsilon(), Limits::denorm_min(),
        Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    edges.push_back(T(x));
    edges.push_back(T(-x));
  }
  return edges;
}

// What the op gave before: the library's fmod, rounded once.
template <typename T>
void ExpectAsFmod(T a, T b) {
  const T want(static_cast<T>(std::fmod(Widen(a), Widen(b))));
  const T got(static_cast<T>(Remainder::Apply(Widen(a), Widen(b))));
  ASSERT_EQ(std::bit_cast<RawBits<T>>(got), std::bit_cast<RawBits<T>>(want))
      << std::hexfloat << static_cast<double>(Widen(a)) << " by "
      << static_cast<double>(Widen(b));
}

template <typename T>
void ExpectRandomPairsAsFmod(int count) {
  std::mt19937_64 random(20261122);
  auto any = [&] { return static_cast<RawBits<T>>(random()); };
  for (int i = 0; i < count; ++i) {
    const RawBits<T> a = any();
    RawBits<T> b = any();
    if (i % 4 == 1) b = static_cast<RawBits<T>>(b >> random() % 32);
    if (i % 4 == 2) b = static_cast<RawBits<T>>(b << random() % 32);
    if (i % 4 == 3) b = static_cast<RawBits<T>>(a - b % 4096);
    ExpectAsFmod(std::bit_cast<T>(a), std::bit_cast<T>(b));
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <typename T>
class FloatRemainderTest : public testing::Test {};
using Floats = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(FloatRemainderTest, Floats);

TYPED_TEST(FloatRemainderTest, HasTheBitsOfFmodAtEdges) {
  for (TypeParam a : FloatEdges<TypeParam>()) {
    for (TypeParam b : FloatEdges<TypeParam>()) ExpectAsFmod(a, b);
  }
}

TYPED_TEST(FloatRemainderTest, HasTheBitsOfFmodOfMillions) {
  ExpectRandomPairsAsFmod<TypeParam>(1'000'000);
}

// Multiples, and one unit in the last place beside them.
TYPED_TEST(FloatRemainderTest, HasTheBitsOfFmodNearMultiples) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const auto b =
        std::bit_cast<TypeParam>(static_cast<RawBits<TypeParam>>(random()));
    const TypeParam a(Widen(b) * static_cast<float>(random() % 3000));
    const auto bits = std::bit_cast<RawBits<TypeParam>>(a);
    for (int beside : {-1, 0, 1}) {
      ExpectAsFmod(std::bit_cast<TypeParam>(
                       static_cast<RawBits<TypeParam>>(bits + beside)),
                   b);
    }
    if (this->HasFatalFailure()) return;
  }
}

int operations = 0;

// An unsigned number that counts what is done to it.
template <typename U>
struct Counting {
  U value;
  constexpr explicit Counting(uint64_t v) : value(static_cast<U>(v)) {}
  explicit operator uint64_t() const { return static_cast<uint64_t>(value); }
  static Counting Counted(U value) {
    ++operations;
    Counting c(0);
    c.value = value;
    return c;
  }
  Counting operator*(Counting o) const { return Counted(value * o.value); }
  Counting operator%(Counting o) const { return Counted(value % o.value); }
  Counting operator+(Counting o) const { return Counted(value + o.value); }
  Counting operator-(Counting o) const { return Counted(value - o.value); }
  Counting operator/(Counting o) const { return Counted(value / o.value); }
  Counting operator&(Counting o) const { return Counted(value & o.value); }
  Counting operator|(Counting o) const { return Counted(value | o.value); }
  Counting operator<<(int n) const { return Counted(value << n); }
  Counting operator>>(int n) const { return Counted(value >> n); }
  Counting operator~() const { return Counted(~value); }
  Counting& operator*=(Counting o) { return *this = *this * o; }
  Counting& operator>>=(int n) { return *this = *this >> n; }
  bool operator==(const Counting&) const = default;
};

// A bit at a time took 2,045 turns.
TEST(BoundedElementTest, ARemainderTakesSeventeenOperationsAtMost) {
  using Wide = Counting<unsigned __int128>;
  for (int apart : {12, 64, 300, 1024, 2045}) {
    operations = 0;
    const uint64_t rest = ScaledRemainder<Wide, 5, uint64_t>(
        (uint64_t{1} << 53) - 1, apart, (uint64_t{1} << 52) + 1);
    EXPECT_LE(operations, 17) << apart;
    EXPECT_LT(rest, (uint64_t{1} << 52) + 1);
  }
}

uint64_t PowerBitByBit(uint64_t base, uint64_t n) {
  uint64_t power = 1;
  for (; n != 0; n >>= 1, base *= base) power *= (n & 1) != 0 ? base : 1;
  return power;
}

TEST(BoundedElementTest, IntegerPowersAreTheSameBits) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2'000'000; ++i) {
    const uint64_t base = random() >> random() % 64;
    const uint64_t n = random() >> random() % 64;
    const uint64_t want = PowerBitByBit(base, n);
    ASSERT_EQ(Power::Apply(base, n), want) << base << " to the " << n;
    const auto small = static_cast<uint32_t>(n);
    ASSERT_EQ(Power::Apply(static_cast<uint32_t>(base), small),
              static_cast<uint32_t>(PowerBitByBit(base, small)));
  }
}

TEST(BoundedElementTest, IntegerPowersAtEdges) {
  for (uint64_t base : {0ull, 1ull, 2ull, 3ull, 6ull, ~0ull, 1ull << 63}) {
    for (uint64_t n : {0ull, 1ull, 2ull, 65535ull, 65536ull, 65537ull,
                       131072ull, 196608ull, ~0ull, 1ull << 63}) {
      EXPECT_EQ(Power::Apply(base, n), PowerBitByBit(base, n));
    }
  }
}

// A bit at a time took 64 squarings and as many products.
TEST(BoundedElementTest, AnIntegerPowerTakesAHundredOperationsAtMost) {
  using U = Counting<uint64_t>;
  for (uint64_t base : {2ull, 3ull, ~0ull}) {
    operations = 0;
    WrappingPower(U(base), U(~0ull));
    EXPECT_LE(operations, 100) << base;
  }
}

}  // namespace
}  // namespace hawser::cpu
