#include "client/formats/csv/csv_number.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "core/base/status.h"
#include "core/base/values/rounding.h"

namespace hawser {
namespace {

// The text after a "+" that may stand in front: "+5" is a number, "+-5" is not.
absl::string_view WithoutPlus(absl::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1)
                                                             : text;
}

template <typename T>
bool ParseInteger(absl::string_view text, T* value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *value);
  return rest == end && error == std::errc();
}

template <typename T>
bool ParseFloat(absl::string_view text, T* value) {
  if (absl::StrContains(text, 'x') || absl::StrContains(text, 'X')) {
    return false;  // hexadecimal
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = absl::from_chars(text.data(), end, *value);
  if (rest != end) return false;
  if (error == std::errc()) return true;
  // A number too near to zero is rounded to it; one too large is an error.
  return error == std::errc::result_out_of_range && std::abs(*value) < 1;
}

// Rounds once, to the nearest half.
template <typename T>
bool ParseHalf(absl::string_view text, T* value) {
  double wide;
  if (!ParseFloat(text, &wide)) return false;
  *value = T(OddFloatOf(text, wide));
  return std::isfinite(static_cast<float>(*value)) == std::isfinite(wide);
}

bool ParseBool(absl::string_view text, bool* value) {
  *value = text == "1" || absl::EqualsIgnoreCase(text, "true");
  return *value || text == "0" || absl::EqualsIgnoreCase(text, "false");
}

template <typename T>
bool Store(absl::string_view text, char* to) {
  T* value = reinterpret_cast<T*>(to);
  if constexpr (std::is_same_v<T, bool>) {
    return ParseBool(text, value);
  } else if constexpr (kIsHalf<T>) {
    return ParseHalf(WithoutPlus(text), value);
  } else if constexpr (kIsFloat<T>) {
    return ParseFloat(WithoutPlus(text), value);
  } else {
    return ParseInteger(WithoutPlus(text), value);
  }
}

}  // namespace

absl::StatusOr<StoreNumber> NumberStore(DType dtype) {
  return VisitDType(dtype, [&](auto tag) -> absl::StatusOr<StoreNumber> {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      return InvalidArgument("CSV has no ", DTypeName(dtype));
    } else {
      return &Store<T>;
    }
  });
}

void StoreNan(DType dtype, char* to) {
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      *reinterpret_cast<T*>(to) =
          T(std::numeric_limits<ComputeType<T>>::quiet_NaN());
    }
  });
}

}  // namespace hawser
