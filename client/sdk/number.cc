#include "client/sdk/number.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/rounding.h"

namespace hawser {
namespace {

// True if T can hold the whole number `value`, which may be signed.
template <typename T, typename V>
bool Fits(V value) {
  if constexpr (std::is_signed_v<V>) {
    if (value < 0) {
      return std::is_signed_v<T> &&
             value >= static_cast<int64_t>(std::numeric_limits<T>::min());
    }
  }
  return static_cast<uint64_t>(value) <=
         static_cast<uint64_t>(std::numeric_limits<T>::max());
}

// A real number is an integer's value when it has no fraction and is in range.
template <typename T>
bool IsWhole(long double value) {
  const auto low = static_cast<long double>(std::numeric_limits<T>::min());
  const long double high = std::ldexp(1.0L, std::numeric_limits<T>::digits);
  return std::trunc(value) == value && value >= low && value < high;
}

template <typename T>
bool Convert(bool value, T* out) {
  *out = T(value);
  return true;
}
template <typename T, typename V>
  requires std::is_integral_v<V>
bool Convert(V value, T* out) {
  if constexpr (std::is_same_v<T, bool>) {
    *out = value != 0;
    return value == 0 || value == 1;
  } else if constexpr (kIsInteger<T>) {
    *out = static_cast<T>(value);
    return Fits<T>(value);
  } else if constexpr (kIsComplex<T>) {
    *out = T(static_cast<typename T::value_type>(value));
    return true;
  } else {
    *out = RoundedTo<T>(value);
    return true;
  }
}
template <typename T>
bool Convert(long double value, T* out) {
  if constexpr (std::is_same_v<T, bool>) {
    *out = value != 0;
    return value == 0 || value == 1;
  } else if constexpr (kIsInteger<T>) {
    if (!IsWhole<T>(value)) return false;
    *out = static_cast<T>(value);
    return true;
  } else if constexpr (kIsComplex<T>) {
    *out = T(static_cast<typename T::value_type>(value));
    return true;
  } else {
    *out = RoundedTo<T>(value);
    return true;
  }
}
template <typename T>
bool Convert(std::complex<double> value, T* out) {
  if constexpr (kIsComplex<T>) {
    *out = T(value);
    return true;
  } else {
    return false;
  }
}

}  // namespace

Number::Kind Number::kind() const {
  constexpr Kind kKinds[] = {Kind::kBool, Kind::kInteger, Kind::kInteger,
                             Kind::kFloat, Kind::kComplex};
  return kKinds[value_.index()];
}

std::string Number::ToString() const {
  return std::visit(
      [](auto value) {
        using T = decltype(value);
        if constexpr (std::is_same_v<T, bool>) {
          return std::string(value ? "true" : "false");
        } else if constexpr (std::is_same_v<T, long double>) {
          return ElementToString(Literal::Scalar(static_cast<double>(value)),
                                 0);
        } else {
          return ElementToString(Literal::Scalar(value), 0);
        }
      },
      value_);
}

std::optional<Absence> Number::FindAbsence() const {
  if (const auto* integer = std::get_if<int64_t>(&value_)) {
    return hawser::FindAbsence(*integer, 0);
  }
  // Such sizes are above -2^31, where floats are 128 apart.
  const auto* real = std::get_if<long double>(&value_);
  if (real == nullptr || !(std::abs(*real) < 0x1p31L)) return std::nullopt;
  return hawser::FindAbsence(static_cast<int64_t>(*real), 64);
}

absl::StatusOr<Literal> Number::ToLiteral(DType dtype) const {
  return VisitDType(dtype, [&](auto tag) -> absl::StatusOr<Literal> {
    using T = typename decltype(tag)::type;
    T converted{};
    if (!std::visit([&](auto v) { return Convert<T>(v, &converted); },
                    value_)) {
      return InvalidArgument("the number ", ToString(), " does not fit ",
                             DTypeName(dtype));
    }
    return Literal::Scalar<T>(converted);
  });
}

}  // namespace hawser
