// One element of a literal, as StableHLO writes it.
#ifndef HAWSER_CLIENT_STABLEHLO_LITERALS_ELEMENT_H_
#define HAWSER_CLIENT_STABLEHLO_LITERALS_ELEMENT_H_

#include <cstdint>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "core/base/values/dtype.h"

namespace hawser::stablehlo {

// Each reads a word of decimal digits, or the bits as 0x and hexadecimal
// digits, rounding once to nearest even. False: the word is no element of the
// type, or does not fit it.
bool ReadElement(absl::string_view word, bool* element);
bool ReadElement(absl::string_view word, float* element);
bool ReadElement(absl::string_view word, double* element);
bool ReadElement(absl::string_view word, Half* element);
bool ReadElement(absl::string_view word, BFloat16* element);
// An integer of `bits`, stored in its low ones.
bool ReadInteger(absl::string_view word, bool is_signed, int bits,
                 uint64_t* element);

template <typename T>
requires kIsInteger<T>
bool ReadElement(absl::string_view word, T* element) {
  uint64_t value = 0;
  if (!ReadInteger(word, std::is_signed_v<T>, 8 * sizeof(T), &value)) {
    return false;
  }
  *element = static_cast<T>(value);
  return true;
}

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_LITERALS_ELEMENT_H_
