#include "client/pjrt/objects/program_source.h"

#include <cstdint>

#include "absl/strings/strip.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

// Another one when what follows changes.
constexpr absl::string_view kMagic = "hawser program 1\n";
constexpr size_t kSize = sizeof(uint64_t);

void Append(absl::string_view field, std::string* to) {
  for (size_t i = 0; i < kSize; ++i) {
    to->push_back(static_cast<char>(field.size() >> (8 * i) & 0xFF));
  }
  to->append(field.data(), field.size());
}

bool Take(absl::string_view* from, std::string* field) {
  if (from->size() < kSize) return false;
  uint64_t size = 0;
  for (size_t i = 0; i < kSize; ++i) {
    size |= uint64_t{static_cast<uint8_t>((*from)[i])} << (8 * i);
  }
  from->remove_prefix(kSize);
  if (size > from->size()) return false;
  *field = std::string(from->substr(0, size));
  from->remove_prefix(size);
  return true;
}

}  // namespace

std::string Serialize(const ProgramSource& source) {
  std::string bytes(kMagic);
  Append(source.format, &bytes);
  Append(source.options, &bytes);
  Append(source.code, &bytes);
  return bytes;
}

absl::StatusOr<ProgramSource> ParseSource(absl::string_view bytes) {
  ProgramSource source;
  if (absl::ConsumePrefix(&bytes, kMagic) && Take(&bytes, &source.format) &&
      Take(&bytes, &source.options) && Take(&bytes, &source.code) &&
      bytes.empty()) {
    return source;
  }
  return InvalidArgument("these bytes are no program that hawser serialized");
}

}  // namespace hawser::pjrt
