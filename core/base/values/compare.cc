#include "core/base/values/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

template <typename T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The distance from |want| to the next larger number of its format.
template <typename T>
double UnitInLastPlace(double want) {
  const int digits = std::is_same_v<T, Half>       ? 11
                     : std::is_same_v<T, BFloat16> ? 8
                     : std::is_same_v<T, float>    ? 24
                                                   : 53;
  const int smallest = std::is_same_v<T, Half>       ? -24
                       : std::is_same_v<T, BFloat16> ? -133
                       : std::is_same_v<T, float>    ? -149
                                                     : -1074;
  int exponent = 0;
  if (want == 0) return std::ldexp(1.0, smallest);
  std::frexp(want, &exponent);
  return std::ldexp(1.0, std::max(exponent - digits, smallest));
}

// Equal, both NaN, or near by one of the two rules. T is the stored format.
template <typename T>
bool NearReal(double got, double want, const Tolerance& t) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  if (!std::isfinite(got) || !std::isfinite(want)) return false;
  const double distance = std::abs(got - want);
  return distance <= t.atol + t.rtol * std::abs(want) ||
         (t.ulp > 0 && distance <= t.ulp * UnitInLastPlace<T>(want));
}

template <typename T>
bool NearComplex(const T& got, const T& want, const Tolerance& t) {
  using R = typename T::value_type;
  const Tolerance by_parts{.ulp = t.ulp};
  if (NearReal<R>(got.real(), want.real(), by_parts) &&
      NearReal<R>(got.imag(), want.imag(), by_parts)) {
    return true;
  }
  const std::complex<double> g(got.real(), got.imag());
  const std::complex<double> w(want.real(), want.imag());
  const double distance = std::abs(g - w);
  return std::isfinite(distance) && distance <= t.atol + t.rtol * std::abs(w);
}

template <typename T>
bool NearInteger(T got, T want, const Tolerance& t) {
  if (got == want) return true;
  const uint64_t a = static_cast<uint64_t>(std::max(got, want));
  const uint64_t b = static_cast<uint64_t>(std::min(got, want));
  return static_cast<double>(a - b) <=
         t.atol + t.rtol * std::abs(static_cast<double>(want));
}

template <typename T>
bool Near(const T& got, const T& want, const Tolerance& t) {
  if (t.bits) return SameBits(got, want);
  if constexpr (std::is_same_v<T, bool>) {
    return got == want;
  } else if constexpr (kIsComplex<T>) {
    return NearComplex(got, want, t);
  } else if constexpr (kIsFloat<T>) {
    return NearReal<T>(static_cast<ComputeType<T>>(got),
                       static_cast<ComputeType<T>>(want), t);
  } else {
    return NearInteger(got, want, t);
  }
}

// The index of element `flat` on each axis: "[1,2]".
std::string IndexToString(const Shape& shape, int64_t flat) {
  Dims index(shape.rank());
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = flat % shape.dim(axis);
    flat /= shape.dim(axis);
  }
  return DimsToString(index);
}

std::string ToleranceToString(const Tolerance& t) {
  if (t.bits) return "the same bits";
  if (t.atol == 0 && t.rtol == 0 && t.ulp == 0) return "equal";
  return absl::StrCat("atol ", t.atol, ", rtol ", t.rtol, ", ulp ", t.ulp);
}

}  // namespace

absl::Status CompareLiterals(const Literal& got, const Literal& want,
                             const Tolerance& tolerance) {
  if (!got.valid() || !want.valid()) {
    return InvalidArgument("got ", got.ToString(), ", want ", want.ToString());
  }
  const Shape& shape = want.shape();
  if (got.shape() != shape) {
    return InvalidArgument("got ", got.shape().ToString(), ", want ",
                           shape.ToString());
  }
  int64_t differing = 0;
  int64_t first = 0;
  VisitDType(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto g = got.data<T>();
    const auto w = want.data<T>();
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      if (Near(g[i], w[i], tolerance)) continue;
      if (differing++ == 0) first = i;
    }
  });
  if (differing == 0) return absl::OkStatus();
  return InvalidArgument(
      differing, " of ", shape.num_elements(), " elements of ",
      shape.ToString(), " differ (", ToleranceToString(tolerance),
      "), the first at ", IndexToString(shape, first), ": got ",
      ElementToString(got, first), ", want ", ElementToString(want, first));
}

}  // namespace hawser
