#include "client/formats/safetensors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/formats/mapped_array.h"
#include "client/formats/quoted.h"
#include "client/formats/safetensors_header.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr int64_t kLengthBytes = 8;

// The header's length, little-endian; the file has at least those 8 bytes.
uint64_t HeaderLength(const FileBytes& file) {
  uint64_t length = 0;
  for (int64_t i = kLengthBytes - 1; i >= 0; --i) {
    length = length << 8 | static_cast<uint8_t>(file.data.get()[i]);
  }
  return length;
}

std::string LengthBytes(uint64_t length) {
  std::string bytes;
  for (int i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>(length >> 8 * i));
  }
  return bytes;
}

}  // namespace

bool LooksLikeSafetensors(const FileBytes& file) {
  if (file.size <= kLengthBytes || file.data.get()[kLengthBytes] != '{') {
    return false;
  }
  // An IDX file may look like one that was cut short.
  const bool maybe_idx = file.StartsWith(absl::string_view("\0\0", 2));
  const int64_t most =
      maybe_idx ? file.size - kLengthBytes : kMaxSafetensorsHeader;
  return HeaderLength(file) <= static_cast<uint64_t>(most);
}

absl::StatusOr<NamedArrays> ParseSafetensors(const FileBytes& file) {
  if (file.size < kLengthBytes) {
    return InvalidArgument("ends within the length of its header");
  }
  const uint64_t length = HeaderLength(file);
  const int64_t most =
      std::min(kMaxSafetensorsHeader, file.size - kLengthBytes);
  if (length > static_cast<uint64_t>(most)) {
    return InvalidArgument("header length is ", length, ", at most ", most,
                           " bytes of it are there");
  }
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<SafetensorsEntry> entries,
      ParseSafetensorsHeader({file.data.get() + kLengthBytes, length}));
  if (entries.empty()) return InvalidArgument("holds no arrays");
  const int64_t front = kLengthBytes + static_cast<int64_t>(length);
  if (file.size - front != entries.back().end) {
    return InvalidArgument("arrays take ", entries.back().end,
                           " bytes, behind the header are ", file.size - front);
  }
  NamedArrays arrays;
  for (const SafetensorsEntry& entry : entries) {
    absl::StatusOr<Literal> value = MappedArray(
        entry.shape, file.Part(front + entry.begin, entry.end - entry.begin));
    if (!value.ok())
      return Annotate(value.status(),
                      absl::StrCat("array ", Quoted(entry.name)));
    arrays.push_back({entry.name, *std::move(value)});
  }
  return arrays;
}

absl::Status WriteSafetensors(const std::string& path,
                              absl::Span<const NamedArray> arrays) {
  std::vector<const NamedArray*> order;
  for (const NamedArray& array : arrays) {
    if (!array.value.valid()) {
      return InvalidArgument(path, ": array ", Quoted(array.name),
                             " has no value");
    }
    order.push_back(&array);
  }
  if (order.empty()) return InvalidArgument(path, ": there are no arrays");
  const auto place = [](const NamedArray* array) {
    return std::pair(-ByteWidth(array->value.shape().dtype()),
                     absl::string_view(array->name));
  };
  std::sort(order.begin(), order.end(),
            [&](const auto* a, const auto* b) { return place(a) < place(b); });
  std::vector<SafetensorsEntry> entries;
  std::vector<absl::Span<const char>> parts(2);
  int64_t end = 0;
  for (const NamedArray* array : order) {
    const int64_t begin = std::exchange(end, end + array->value.bytes().size());
    entries.push_back({array->name, array->value.shape(), begin, end});
    parts.push_back(array->value.bytes());
  }
  absl::StatusOr<std::string> header = SafetensorsHeaderOf(entries);
  if (!header.ok()) return Annotate(header.status(), path);
  const std::string length = LengthBytes(header->size());
  parts[0] = length;
  parts[1] = *header;
  return ReplaceFile(path, parts);
}

}  // namespace hawser
