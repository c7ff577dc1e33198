#include "core/base/values/rounding.h"

#include <array>
#include <cstdio>
#include <string>
#include <tuple>

#include "absl/strings/numbers.h"

namespace hawser {
namespace {

// More than the middle between any two halves has.
constexpr int kDigits = 200;

// A number as 0.DIGITS x 10^exponent, without zeros at either end; 0 has no
// digits. The sign is left out.
struct Decimal {
  std::string digits;
  int64_t exponent = 0;
};

Decimal DecimalOf(absl::string_view text) {
  Decimal decimal;
  bool behind_point = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == 'e' || c == 'E') {
      absl::string_view power = text.substr(i + 1);
      if (!power.empty() && power[0] == '+') power.remove_prefix(1);
      int64_t exponent = 0;
      // A larger exponent was infinite or zero before.
      if (absl::SimpleAtoi(power, &exponent)) decimal.exponent += exponent;
      break;
    }
    if (c == '.') behind_point = true;
    if (c < '0' || c > '9') continue;
    const bool leads = c == '0' && decimal.digits.empty();
    if (!leads) decimal.digits += c;
    if (leads && behind_point) --decimal.exponent;
    if (!leads && !behind_point) ++decimal.exponent;
  }
  while (!decimal.digits.empty() && decimal.digits.back() == '0') {
    decimal.digits.pop_back();
  }
  return decimal;
}

}  // namespace

float OddFloatOf(absl::string_view decimal, double nearest) {
  const float odd = OddFloat(nearest);
  if (static_cast<double>(odd) != nearest || !std::isfinite(nearest) ||
      nearest == 0) {
    return odd;  // the number stands on the same side as the double
  }
  std::array<char, kDigits + 16> exact;
  std::snprintf(exact.data(), exact.size(), "%.*e", kDigits, nearest);
  const Decimal is = DecimalOf(exact.data()), wanted = DecimalOf(decimal);
  const auto order = std::tie(wanted.exponent, wanted.digits) <=>
                     std::tie(is.exponent, is.digits);
  if (order == 0) return odd;
  const uint32_t bits = std::bit_cast<uint32_t>(odd);
  return std::bit_cast<float>((order < 0 ? bits - 1 : bits) | 1);
}

}  // namespace hawser
