#include "core/base/digest.h"

// The functions that are deprecated are those without state of the process.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr char kBase32[] = "abcdefghijklmnopqrstuvwxyz234567";
constexpr size_t kBase32Size = 52;  // ceil(256 / 5)

SHA256_CTX* Ctx(std::array<char, 112>& bytes) {
  static_assert(sizeof(SHA256_CTX) <= 112 && alignof(SHA256_CTX) <= 8);
  return reinterpret_cast<SHA256_CTX*>(bytes.data());
}

}  // namespace

absl::StatusOr<Digest> Digest::FromBytes(absl::string_view bytes) {
  if (bytes.size() != kSize) {
    return InvalidArgument("a digest has 32 bytes, got ", bytes.size());
  }
  Digest out;
  std::memcpy(out.bytes_.data(), bytes.data(), kSize);
  return out;
}

std::string Digest::ToHex() const { return absl::BytesToHexString(bytes()); }

absl::StatusOr<Digest> Digest::FromHex(absl::string_view text) {
  bool good = text.size() == 2 * kSize;
  for (char c : text) good = good && absl::ascii_isxdigit(c);
  if (!good) return InvalidArgument("not a hex digest: \"", text, "\"");
  return FromBytes(absl::HexStringToBytes(text));
}

std::string Digest::ToBase32() const {
  std::string out;
  uint32_t buffer = 0;
  int bits = 0;
  for (uint8_t byte : bytes_) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out.push_back(kBase32[(buffer >> bits) & 31]);
    }
  }
  out.push_back(kBase32[(buffer << (5 - bits)) & 31]);  // 256 = 51 * 5 + 1
  return out;
}

absl::StatusOr<Digest> Digest::FromBase32(absl::string_view text) {
  if (text.size() != kBase32Size) {
    return InvalidArgument("a base32 digest has 52 characters, got ",
                           text.size());
  }
  Digest out;
  uint32_t buffer = 0;
  int bits = 0;
  size_t n = 0;
  for (char c : text) {
    const char* at = c == '\0' ? nullptr : std::strchr(kBase32, c);
    if (at == nullptr) {
      return InvalidArgument("not a base32 digest: \"", text, "\"");
    }
    buffer = (buffer << 5) | static_cast<uint32_t>(at - kBase32);
    bits += 5;
    if (bits >= 8 && n < kSize) {
      bits -= 8;
      out.bytes_[n++] = static_cast<uint8_t>(buffer >> bits);
    }
  }
  // The last character carries one bit; its other four must be zero, so that
  // a digest has exactly one spelling.
  if ((buffer & 15) != 0) {
    return InvalidArgument("not a base32 digest: \"", text, "\"");
  }
  return out;
}

Hasher::Hasher() { HAWSER_CHECK(SHA256_Init(Ctx(context_)) == 1); }

Hasher& Hasher::Bytes(absl::Span<const char> bytes) {
  HAWSER_CHECK(SHA256_Update(Ctx(context_), bytes.data(), bytes.size()) == 1);
  return *this;
}

Hasher& Hasher::Integer(uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return Bytes(bytes);
}

Hasher& Hasher::Text(absl::string_view text) {
  Integer(text.size());
  return Bytes(text);
}

Hasher& Hasher::Add(const Digest& digest) { return Bytes(digest.bytes()); }

Digest Hasher::Finish() {
  std::array<uint8_t, Digest::kSize> bytes;
  HAWSER_CHECK(SHA256_Final(bytes.data(), Ctx(context_)) == 1);
  return Digest(bytes);
}

Digest Sha256(absl::Span<const char> bytes) {
  return Hasher().Bytes(bytes).Finish();
}

}  // namespace hawser
