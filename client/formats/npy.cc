#include "client/formats/npy.h"

#include <algorithm>

#include "client/formats/element_order.h"
#include "client/formats/npy_header.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// The elements as they lie in the file, which the result then keeps mapped.
// Files by other writers may have them at an odd place: those are copied.
absl::StatusOr<Literal> AsTheyLie(const Shape& shape,
                                  absl::Span<const char> elements,
                                  const FileBytes& file) {
  const auto address = reinterpret_cast<uintptr_t>(elements.data());
  if (address % ByteWidth(shape.dtype()) != 0) {
    return Literal::FromBytes(shape, elements);
  }
  return Literal::Adopt(shape, file.At(elements.data() - file.data.get()));
}

absl::StatusOr<Literal> Converted(const NpyHeader& header,
                                  absl::Span<const char> elements) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(header.shape));
  const auto bytes = value.mutable_bytes();
  if (header.column_major) {
    FromColumnMajor(header.shape, elements, bytes);
  } else {
    std::copy(elements.begin(), elements.end(), bytes.begin());
  }
  if (header.big_endian) SwapElementBytes(header.shape.dtype(), bytes);
  return value;
}

}  // namespace

absl::StatusOr<Literal> ParseNpy(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(
      NpyHeader header, ParseNpyHeader(absl::string_view(
                            file.data.get(), static_cast<size_t>(file.size))));
  const auto elements =
      file.span().subspan(static_cast<size_t>(header.data_offset));
  const absl::Status fits = CheckBytes(header.shape, elements);
  if (!fits.ok()) return Annotate(fits, "behind the header");
  // Below rank 2 the two orders are one.
  const bool row_major = !header.column_major || header.shape.rank() < 2;
  return row_major && !header.big_endian
             ? AsTheyLie(header.shape, elements, file)
             : Converted(header, elements);
}

absl::StatusOr<Literal> ReadNpy(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(FileBytes file, MapFile(path));
  absl::StatusOr<Literal> value = ParseNpy(file);
  if (!value.ok()) return Annotate(value.status(), path);
  return value;
}

absl::Status WriteNpy(const std::string& path, const Literal& value) {
  if (!value.valid()) return InvalidArgument(path, ": there is no value");
  absl::StatusOr<std::string> header = NpyHeaderOf(value.shape());
  if (!header.ok()) return Annotate(header.status(), path);
  return ReplaceFile(path, {absl::MakeConstSpan(*header), value.bytes()});
}

}  // namespace hawser
