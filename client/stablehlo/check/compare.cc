#include "client/stablehlo/check/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"

namespace hawser::stablehlo {
namespace {

// The distance of elements that are not equal by any tolerance.
constexpr double kFar = std::numeric_limits<double>::infinity();

// The number of a float among the floats of its type, both zeros 0.
template <typename T>
int64_t Number(T x) {
  int64_t bits = 0;
  int64_t sign = 0;
  if constexpr (sizeof(T) == 2) {
    bits = x.bits;
    sign = 0x8000;
  } else if constexpr (sizeof(T) == 4) {
    bits = std::bit_cast<uint32_t>(x);
    sign = int64_t{1} << 31;
  } else {
    bits = std::bit_cast<int64_t>(x);
    sign = std::numeric_limits<int64_t>::min();
  }
  return (bits & sign) != 0 ? -(bits & ~sign) : bits;
}

// A double would lose those of f64.
template <typename T>
uint64_t UlpsBetween(T a, T b) {
  const int64_t x = Number(a), y = Number(b);
  const auto least = static_cast<uint64_t>(std::min(x, y));
  return static_cast<uint64_t>(std::max(x, y)) - least;
}

// It is at most 1 if the check holds; else 1 more than how far the elements are
// apart, in what the check counts.
template <typename T>
double FloatDistance(const Check& check, T a, T b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  if (check.kind == Check::kEqual || !std::isfinite(x) || !std::isfinite(y)) {
    return kFar;
  }
  if (check.kind == Check::kClose) {
    const uint64_t ulps = UlpsBetween(a, b);
    if (ulps <= static_cast<uint64_t>(check.ulps)) return 0.5;
    return 1 + static_cast<double>(ulps);
  }
  const double allowed =
      check.tolerance * std::max(1.0, std::min(std::abs(x), std::abs(y)));
  return std::abs(x - y) <= allowed ? 0.5 : 1 + std::abs(x - y);
}

template <typename T>
double Distance(const Check& check, const T& a, const T& b) {
  if constexpr (kIsComplex<T>) {
    return std::max(FloatDistance(check, a.real(), b.real()),
                    FloatDistance(check, a.imag(), b.imag()));
  } else if constexpr (kIsFloat<T>) {
    return FloatDistance(check, a, b);
  } else {
    return a == b ? 0 : kFar;
  }
}

std::string Describe(const Check& check, double distance) {
  if (check.kind == Check::kEqual || distance == kFar) return "differs";
  if (check.kind == Check::kClose) {
    return absl::StrCat("is ", distance - 1, " ulp off, at most ", check.ulps,
                        " allowed,");
  }
  return absl::StrCat("is ", distance - 1, " off, tolerance ", check.tolerance,
                      ",");
}

}  // namespace

std::string Difference(const Check& check, const Literal& actual,
                       const Literal& expected) {
  HAWSER_CHECK(actual.shape() == expected.shape());
  return VisitDType(actual.shape().dtype(), [&](auto tag) -> std::string {
    using T = typename decltype(tag)::type;
    const auto a = actual.data<T>(), b = expected.data<T>();
    int64_t beyond = 0;
    size_t worst = 0;
    double farthest = 1;
    for (size_t i = 0; i < a.size(); ++i) {
      const double distance = Distance<T>(check, a[i], b[i]);
      if (distance <= 1) continue;
      ++beyond;
      if (distance <= farthest) continue;
      farthest = distance;
      worst = i;
    }
    if (beyond == 0) return "";
    const auto at = static_cast<int64_t>(worst);
    return absl::StrCat(DTypeName(actual.shape().dtype()), " element ", at, " ",
                        Describe(check, farthest), " ",
                        ElementToString(actual, at), " instead of ",
                        ElementToString(expected, at), "; ", beyond, " of ",
                        a.size(), " are beyond");
  });
}

}  // namespace hawser::stablehlo
