#include "client/formats/safetensors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/formats/files/array_format.h"
#include "client/formats/files/mapped_array.h"
#include "client/formats/files/quoted.h"
#include "client/formats/safetensors_header.h"
#include "client/formats/zip/inflater.h"
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
  // An IDX file, plain or gzipped, may look like a safetensors file that was
  // cut short.
  const bool maybe_idx = file.StartsWith(absl::string_view("\0\0", 2)) ||
                         file.StartsWith(kGzipMagic);
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

absl::StatusOr<ArraysToFill> LayOutSafetensors(
    const std::string& path, absl::Span<const ArrayToFill> arrays) {
  if (arrays.empty()) return InvalidArgument(path, ": there are no arrays");
  std::vector<const ArrayToFill*> order;
  for (const ArrayToFill& array : arrays) order.push_back(&array);
  const auto place = [](const ArrayToFill* array) {
    return std::pair(-ByteWidth(array->shape.dtype()),
                     absl::string_view(array->name));
  };
  std::sort(order.begin(), order.end(),
            [&](const auto* a, const auto* b) { return place(a) < place(b); });
  std::vector<SafetensorsEntry> entries;
  int64_t end = 0;
  for (const ArrayToFill* array : order) {
    const int64_t begin = std::exchange(end, end + array->shape.byte_size());
    entries.push_back({array->name, array->shape, begin, end});
  }
  absl::StatusOr<std::string> header = SafetensorsHeaderOf(entries);
  if (!header.ok()) return Annotate(header.status(), path);
  const std::string front = absl::StrCat(LengthBytes(header->size()), *header);
  HAWSER_ASSIGN_OR_RETURN(
      FileToFill file,
      FileToFill::Create(path, static_cast<int64_t>(front.size()) + end));
  std::copy(front.begin(), front.end(), file.bytes().begin());
  const absl::Span<char> all = file.bytes().subspan(front.size());
  std::vector<absl::Span<char>> elements(arrays.size());
  for (size_t i = 0; i < order.size(); ++i) {
    elements[order[i] - arrays.data()] =
        all.subspan(entries[i].begin, entries[i].end - entries[i].begin);
  }
  return ArraysToFill{std::move(file), std::move(elements)};
}

absl::Status WriteSafetensors(const std::string& path,
                              absl::Span<const NamedArray> arrays) {
  return WriteFilled(path, LayOutSafetensors, arrays);
}

extern constinit const ArrayFormat kSafetensorsFormat = {
    .is_it = LooksLikeSafetensors,
    .parse = ParseSafetensors,
    .suffix = ".safetensors",
    .lay_out = LayOutSafetensors,
    .holds_names = true,
};

}  // namespace hawser
