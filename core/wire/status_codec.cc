#include <string>

#include "absl/strings/escaping.h"
#include "core/wire/codec.h"
#include "google/protobuf/stubs/common.h"

namespace hawser {
namespace {

constexpr size_t kMaxMessageBytes = 8192;

// proto3 strings are UTF-8; a message may quote a user's bytes.
std::string AsUtf8(absl::string_view text) {
  if (google::protobuf::internal::IsStructurallyValidUTF8(
          text.data(), static_cast<int>(text.size()))) {
    return std::string(text);
  }
  return absl::CEscape(text);
}

// At most kMaxMessageBytes, not ending inside a character.
absl::string_view Cut(absl::string_view text) {
  if (text.size() <= kMaxMessageBytes) return text;
  size_t size = kMaxMessageBytes;
  while (size > 0 && (text[size] & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

void ToProto(const absl::Status& status, v1::StatusProto* proto) {
  proto->set_code(static_cast<int>(status.code()));
  // Cut before escaping, which may be long work, and after, since it grows.
  const std::string message = AsUtf8(Cut(status.message()));
  const absl::string_view cut = Cut(message);
  proto->set_message(cut.data(), cut.size());
}

absl::Status FromProto(const v1::StatusProto& proto) {
  const int code = proto.code();
  const bool known =
      code >= 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return absl::Status(
      known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
      proto.message());
}

}  // namespace hawser
