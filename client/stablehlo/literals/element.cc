#include "client/stablehlo/literals/element.h"

#include <bit>
#include <limits>
#include <system_error>

#include "absl/strings/charconv.h"
#include "absl/strings/numbers.h"
#include "core/base/values/rounding.h"

namespace hawser::stablehlo {
namespace {

bool IsHex(absl::string_view word) {
  return word.size() > 2 && word[0] == '0' && (word[1] | 0x20) == 'x';
}

// The bits of a word that IsHex; false where there are more than `bits`.
bool ReadBits(absl::string_view word, int bits, uint64_t* value) {
  return absl::SimpleHexAtoi(word, value) &&
         (bits == 64 || (*value >> bits) == 0);
}

template <typename T>
bool ReadDecimal(absl::string_view word, T* value) {
  const char* const end = word.data() + word.size();
  const auto result = absl::from_chars(word.data(), end, *value);
  if (result.ptr != end) return false;
  // from_chars leaves what is out of range infinite, or zero.
  return result.ec == std::errc() ||
         result.ec == std::errc::result_out_of_range;
}

template <typename T>
bool ReadHalf(absl::string_view word, T* element) {
  if (IsHex(word)) {
    uint64_t bits = 0;
    if (!ReadBits(word, 16, &bits)) return false;
    *element = T::FromBits(static_cast<uint16_t>(bits));
    return true;
  }
  double value = 0;
  if (!ReadDecimal(word, &value)) return false;
  *element = T(OddFloatOf(word, value));
  return true;
}

}  // namespace

bool ReadElement(absl::string_view word, bool* element) {
  *element = word == "true" || word == "1" || word == "-1";
  return *element || word == "false" || word == "0";
}

bool ReadElement(absl::string_view word, float* element) {
  if (!IsHex(word)) return ReadDecimal(word, element);
  uint64_t bits = 0;
  if (!ReadBits(word, 32, &bits)) return false;
  *element = std::bit_cast<float>(static_cast<uint32_t>(bits));
  return true;
}

bool ReadElement(absl::string_view word, double* element) {
  if (!IsHex(word)) return ReadDecimal(word, element);
  uint64_t bits = 0;
  if (!ReadBits(word, 64, &bits)) return false;
  *element = std::bit_cast<double>(bits);
  return true;
}

bool ReadElement(absl::string_view word, Half* element) {
  return ReadHalf(word, element);
}

bool ReadElement(absl::string_view word, BFloat16* element) {
  return ReadHalf(word, element);
}

bool ReadInteger(absl::string_view word, bool is_signed, int bits,
                 uint64_t* element) {
  if (IsHex(word)) return ReadBits(word, bits, element);
  if (!is_signed) {
    return absl::SimpleAtoi(word, element) &&
           (bits == 64 || (*element >> bits) == 0);
  }
  int64_t value = 0;
  if (!absl::SimpleAtoi(word, &value)) return false;
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  *element = static_cast<uint64_t>(value);
  return value >= -most - 1 && value <= most;
}

}  // namespace hawser::stablehlo
