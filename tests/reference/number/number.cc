#include "tests/reference/number/number.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace hawser::reference {
namespace {

// The parts of a float: bits of its fraction with the leading one, and the
// exponents of its least and of its first too large power of two.
struct Format {
  int precision, least, limit;
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {11, -24, 16};
    case DType::kBF16:
      return {8, -133, 128};
    case DType::kF32:
    case DType::kC64:
      return {24, -149, 128};
    default:
      return {53, -1074, 1024};
  }
}

Wide Rounded(Wide x, Format format) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| is in [0.5, 1) * 2 ** exponent
  const int unit = std::max(exponent - format.precision, format.least);
  const Wide rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  if (std::fabs(rounded) < std::ldexp(Wide{1}, format.limit)) return rounded;
  return std::copysign(std::numeric_limits<Wide>::infinity(), x);
}

}  // namespace

Number InDType(const Number& x, DType dtype) {
  if (IsBool(dtype)) return Number::Of(uint64_t{x.bits != 0});
  if (IsInteger(dtype)) {
    const int unused = 64 - BitWidth(dtype);
    const uint64_t high = x.bits << unused;
    return Number::Of(
        IsSigned(dtype)
            ? static_cast<uint64_t>(static_cast<int64_t>(high) >> unused)
            : high >> unused);
  }
  return InDType(WideOf(x), dtype);
}

Number InDType(const WideComplex& x, DType dtype) {
  const auto rounded = [&](Wide part) {
    return static_cast<double>(Rounded(part, FormatOf(dtype)));
  };
  return Number::Of(
      Complex(rounded(x.real()), IsComplex(dtype) ? rounded(x.imag()) : 0.0));
}

Number ReadNumber(const Literal& from, int64_t at) {
  return VisitDType(from.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T x = from.data<T>()[at];
    if constexpr (kIsComplex<T>) {
      return Number::Of(Complex(x.real(), x.imag()));
    } else if constexpr (kIsFloat<T>) {
      return Number::Of(Complex(static_cast<ComputeType<T>>(x), 0));
    } else if constexpr (std::is_signed_v<T>) {
      return Number::Of(static_cast<uint64_t>(int64_t{x}));
    } else {
      return Number::Of(uint64_t{x});
    }
  });
}

void WriteNumber(const Number& x, int64_t at, Literal* to) {
  const Number in = InDType(x, to->shape().dtype());
  VisitDType(to->shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T& place = to->mutable_data<T>()[at];
    if constexpr (kIsComplex<T>) {
      using Part = typename T::value_type;
      place = {static_cast<Part>(in.value.real()),
               static_cast<Part>(in.value.imag())};
    } else if constexpr (kIsFloat<T>) {
      place = static_cast<T>(static_cast<ComputeType<T>>(in.value.real()));
    } else {
      place = static_cast<T>(in.bits);
    }
  });
}

}  // namespace hawser::reference
