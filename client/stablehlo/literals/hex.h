// Hexadecimal digits as the bytes they stand for.
#ifndef HAWSER_CLIENT_STABLEHLO_LITERALS_HEX_H_
#define HAWSER_CLIENT_STABLEHLO_LITERALS_HEX_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser::stablehlo {

// Writes a byte for every two digits; there are twice as many digits as bytes.
// Returns false where a character is no digit; the bytes then mean nothing.
bool DecodeHex(absl::string_view digits, absl::Span<char> bytes);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_LITERALS_HEX_H_
