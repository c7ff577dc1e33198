// SHA-256 digests: the names of chunks, datasets and executables.
#ifndef HAWSER_CORE_BASE_DIGEST_H_
#define HAWSER_CORE_BASE_DIGEST_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser {

// 32 bytes; ordered and hashable. The default is all zeros, which names
// nothing.
class Digest {
 public:
  static constexpr int kSize = 32;
  Digest() = default;
  explicit Digest(const std::array<uint8_t, kSize>& bytes) : bytes_(bytes) {}

  // Errors (kInvalidArgument): not exactly 32 bytes.
  static absl::StatusOr<Digest> FromBytes(absl::string_view bytes);
  absl::string_view bytes() const {
    return {reinterpret_cast<const char*>(bytes_.data()), kSize};
  }
  std::string ToHex() const;     // 64 lower-case digits
  std::string ToBase32() const;  // 52 of a-z2-7 (RFC 4648, no padding)
  static absl::StatusOr<Digest> FromBase32(absl::string_view text);
  static absl::StatusOr<Digest> FromHex(absl::string_view text);

  auto operator<=>(const Digest&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Digest& d) {
    return H::combine(std::move(h), d.bytes_);
  }

 private:
  std::array<uint8_t, kSize> bytes_{};
};

// Incremental SHA-256 (libcrypto, about 2 GB/s a core here), by those of its
// functions that have no state of the process: threads may still hash while it
// ends, and OpenSSL's exit handler has run. Integers go in
// as 8 little-endian bytes and texts with their length in front, so that two
// different sequences of fields never hash the same bytes.
class Hasher {
 public:
  Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Hasher& Bytes(absl::Span<const char> bytes);  // raw, no length
  Hasher& Integer(uint64_t value);
  Hasher& Text(absl::string_view text);
  Hasher& Add(const Digest& digest);
  Digest Finish();  // once

 private:
  alignas(8) std::array<char, 112> context_;  // SHA256_CTX
};

Digest Sha256(absl::Span<const char> bytes);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_DIGEST_H_
