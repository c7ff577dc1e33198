#include "client/stablehlo/bytecode/dialects/cursor.h"

#include <bit>

#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

constexpr char kPadding = '\xCB';

uint64_t LittleEndian(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

}  // namespace

absl::StatusOr<uint8_t> Cursor::Byte() {
  if (rest_.empty()) return Invalid("the bytes end too early");
  const auto byte = static_cast<uint8_t>(rest_[0]);
  rest_.remove_prefix(1);
  return byte;
}

absl::StatusOr<uint64_t> Cursor::Number() {
  if (rest_.empty()) return Invalid("the bytes end too early");
  const auto first = static_cast<uint8_t>(rest_[0]);
  if ((first & 1) != 0) {
    rest_.remove_prefix(1);
    return first >> 1;
  }
  const auto more = static_cast<size_t>(std::countr_zero(first));  // 0: 8
  if (rest_.size() <= more) return Invalid("the bytes end within a number");
  const uint64_t value =
      first == 0 ? LittleEndian(rest_.substr(1, 8))
                 : LittleEndian(rest_.substr(0, more + 1)) >> (more + 1);
  rest_.remove_prefix(more + 1);
  return value;
}

absl::StatusOr<int64_t> Cursor::Signed() {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t value, Number());
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

absl::StatusOr<size_t> Cursor::Count() {
  const char* const begin = at();
  HAWSER_ASSIGN_OR_RETURN(const uint64_t count, Number());
  if (count <= left()) return static_cast<size_t>(count);
  return source_->Invalid(begin, "a list of ", count, " in the last ", left(),
                          " bytes of what holds it");
}

absl::StatusOr<size_t> Cursor::Index(size_t end, absl::string_view what) {
  const char* const begin = at();
  HAWSER_ASSIGN_OR_RETURN(const uint64_t index, Number());
  if (index < end) return static_cast<size_t>(index);
  return source_->Invalid(begin, "number ", index, " of ", end, " ", what);
}

absl::StatusOr<absl::string_view> Cursor::Take(uint64_t bytes) {
  if (bytes > rest_.size()) {
    return Invalid(bytes, " bytes are to follow, there are ", rest_.size());
  }
  const absl::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

absl::Status Cursor::Align(uint64_t to) {
  if (to == 0 || (to & (to - 1)) != 0) return Invalid("aligned to ", to);
  while ((static_cast<uint64_t>(at() - source_->text().data()) & (to - 1)) !=
         0) {
    if (rest_.empty() || rest_[0] != kPadding) {
      return Invalid("the bytes are not aligned to ", to);
    }
    rest_.remove_prefix(1);
  }
  return absl::OkStatus();
}

}  // namespace hawser::stablehlo
