#include "kernels/cpu/butterflies/roots.h"

#include <cmath>
#include <complex>

#include "gtest/gtest.h"

namespace hawser::cpu {
namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;

// In units of the last place of the number it should be.
double ErrorOf(double got, long double want) {
  if (std::abs(want) < 1e-18L) return got == 0 ? 0 : HUGE_VAL;
  const double unit =
      std::ldexp(1.0, std::ilogb(static_cast<double>(want)) - 52);
  return static_cast<double>(std::abs(got - want)) / unit;
}

// The sine of that part of a quarter; C's with 64 bits is off by 1/2048 of a
// unit.
long double Sine(int64_t m, int64_t n) {
  return std::sin(kPi / 2 * static_cast<long double>(m) /
                  static_cast<long double>(n));
}

TEST(RootsTest, AreRoundedOnce) {
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 1009, 4096,
                          65536, 99991, 1 << 20}) {
    const Roots roots(n);
    double most = 0;
    const int64_t step = n < 5000 ? 1 : n / 4999;
    for (int64_t m = 0; m < n; m += step) {
      const int64_t quarter = 4 * m / n, rest = 4 * m % n;
      long double x = Sine(n - rest, n), y = Sine(rest, n);
      for (int64_t q = 0; q < quarter; ++q) {
        const long double turned = x;
        x = -y;
        y = turned;
      }
      most = std::max(most, ErrorOf(roots.At(m).real(), x));
      most = std::max(most, ErrorOf(roots.At(m).imag(), -y));
    }
    EXPECT_LT(most, 0.51) << n;
  }
}

TEST(RootsTest, QuartersAreExact) {
  for (const int64_t n : {4, 12, 64, 1 << 20}) {
    const Roots roots(n);
    EXPECT_EQ(roots.At(0), std::complex<double>(1, 0));
    EXPECT_EQ(roots.At(n / 4), std::complex<double>(0, -1));
    EXPECT_EQ(roots.At(n / 2), std::complex<double>(-1, 0));
    EXPECT_EQ(roots.At(3 * n / 4), std::complex<double>(0, 1));
    for (const int64_t m : {int64_t{0}, n / 4, n / 2}) {
      EXPECT_FALSE(std::signbit(roots.At(m).real()) && roots.At(m).real() == 0);
      EXPECT_FALSE(std::signbit(roots.At(m).imag()) && roots.At(m).imag() == 0);
    }
  }
}

TEST(RootsTest, MirrorEachOther) {
  for (const int64_t n : {8, 24, 40, 1000, 1 << 16}) {
    const Roots roots(n);
    for (int64_t m = 1; m < n / 2; ++m) {
      EXPECT_EQ(roots.At(n - m), std::conj(roots.At(m)));
      EXPECT_EQ(roots.At(m + n / 2), -roots.At(m));
      const auto turned = roots.At((m + n / 4) % n);
      EXPECT_EQ(turned.real(), roots.At(m).imag());
      EXPECT_EQ(turned.imag(), -roots.At(m).real());
    }
  }
}

}  // namespace
}  // namespace hawser::cpu
