#include "client/formats/numpy/npy.h"

#include <algorithm>
#include <utility>

#include "client/formats/files/array_format.h"
#include "client/formats/files/element_order.h"
#include "client/formats/files/mapped_array.h"
#include "client/formats/numpy/npy_header.h"
#include "core/base/status.h"

namespace hawser {
namespace {

absl::StatusOr<Literal> Converted(const NpyHeader& header,
                                  absl::Span<const char> elements) {
  HAWSER_RETURN_IF_ERROR(CheckBytes(header.shape, elements));
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

bool IsNpy(const FileBytes& file) { return file.StartsWith(kNpyMagic); }

absl::StatusOr<ArraysToFill> LayOutOne(const std::string& path,
                                       absl::Span<const ArrayToFill> arrays) {
  if (arrays.size() == 1) return LayOutNpy(path, arrays[0].shape);
  return InvalidArgument(path, ": an npy file holds one array, not ",
                         arrays.size());
}

}  // namespace

absl::StatusOr<Literal> ParseNpy(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(
      NpyHeader header, ParseNpyHeader(absl::string_view(
                            file.data.get(), static_cast<size_t>(file.size))));
  const FileBytes elements =
      file.Part(header.data_offset, file.size - header.data_offset);
  // Below rank 2 both orders are the same.
  const bool row_major = !header.column_major || header.shape.rank() < 2;
  absl::StatusOr<Literal> value = row_major && !header.big_endian
                                      ? MappedArray(header.shape, elements)
                                      : Converted(header, elements.span());
  if (!value.ok()) return Annotate(value.status(), "behind the header");
  return value;
}

absl::StatusOr<Literal> ReadNpy(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(FileBytes file, MapFile(path));
  absl::StatusOr<Literal> value = ParseNpy(file);
  HAWSER_RETURN_IF_ERROR(file.CheckUnchanged());
  if (!value.ok()) return Annotate(value.status(), path);
  return value;
}

absl::StatusOr<ArraysToFill> LayOutNpy(const std::string& path,
                                       const Shape& shape) {
  absl::StatusOr<std::string> header = NpyHeaderOf(shape);
  if (!header.ok()) return Annotate(header.status(), path);
  HAWSER_ASSIGN_OR_RETURN(
      FileToFill file,
      FileToFill::Create(
          path, static_cast<int64_t>(header->size()) + shape.byte_size()));
  std::copy(header->begin(), header->end(), file.bytes().begin());
  const absl::Span<char> elements = file.bytes().subspan(header->size());
  return ArraysToFill{std::move(file), {elements}};
}

absl::Status WriteNpy(const std::string& path, const Literal& value) {
  if (!value.valid()) return InvalidArgument(path, ": there is no value");
  HAWSER_ASSIGN_OR_RETURN(ArraysToFill npy, LayOutNpy(path, value.shape()));
  std::copy(value.bytes().begin(), value.bytes().end(),
            npy.elements[0].begin());
  return npy.file.Keep();
}

extern constinit const ArrayFormat kNpyFormat = {
    .is_it = IsNpy,
    .parse = ParseOne<ParseNpy>,
    .suffix = ".npy",
    .lay_out = LayOutOne,
};

}  // namespace hawser
