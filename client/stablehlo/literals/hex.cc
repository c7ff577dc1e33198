#include "client/stablehlo/literals/hex.h"

#include <cstdint>
#include <cstring>

namespace hawser::stablehlo {
namespace {

constexpr uint64_t Each(uint8_t byte) {
  return byte * uint64_t{0x0101010101010101};
}

// The top bit of every byte of `x` that is at least `low`; `x` and `low` are
// below 128.
constexpr uint64_t AtLeast(uint64_t x, uint8_t low) {
  return (x | Each(0x80)) - Each(low);
}

// Eight digits are worked on at once: the top bits of the bytes that are not
// hexadecimal.
constexpr uint64_t NotHex(uint64_t x) {
  const uint64_t low = x & Each(0x7f);
  const uint64_t lower = low | Each(0x20);
  const uint64_t digit = AtLeast(low, '0') & ~AtLeast(low, '9' + 1);
  const uint64_t letter = AtLeast(lower, 'a') & ~AtLeast(lower, 'f' + 1);
  return (x | ~(digit | letter)) & Each(0x80);
}

// Four bytes of eight digits, the first digit in the lowest byte of `x`.
constexpr uint32_t FourBytes(uint64_t x) {
  // A letter has bit 6 set, and its low four bits count from 1.
  uint64_t v = (x & Each(0x0f)) + ((x >> 6) & Each(0x01)) * 9;
  v = ((v << 4) | (v >> 8)) & uint64_t{0x00ff00ff00ff00ff};
  v = (v | (v >> 8)) & uint64_t{0x0000ffff0000ffff};
  return static_cast<uint32_t>(v | (v >> 16));
}

}  // namespace

bool DecodeHex(absl::string_view digits, absl::Span<char> bytes) {
  const size_t whole = bytes.size() / 4 * 4;
  uint64_t bad = 0;
  for (size_t i = 0; i < whole; i += 4) {
    uint64_t eight;
    std::memcpy(&eight, digits.data() + 2 * i, sizeof(eight));
    bad |= NotHex(eight);
    const uint32_t four = FourBytes(eight);
    std::memcpy(bytes.data() + i, &four, sizeof(four));
  }
  const size_t left = bytes.size() - whole;
  if (left == 0) return bad == 0;
  uint64_t eight = Each('0');
  std::memcpy(&eight, digits.data() + 2 * whole, 2 * left);
  const uint32_t four = FourBytes(eight);
  std::memcpy(bytes.data() + whole, &four, left);
  return (bad | NotHex(eight)) == 0;
}

}  // namespace hawser::stablehlo
