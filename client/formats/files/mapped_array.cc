#include "client/formats/files/mapped_array.h"

#include "core/base/status.h"

namespace hawser {

absl::StatusOr<Literal> MappedArray(const Shape& shape,
                                    const FileBytes& bytes) {
  HAWSER_RETURN_IF_ERROR(CheckBytes(shape, bytes.span()));
  const auto address = reinterpret_cast<uintptr_t>(bytes.data.get());
  // A complex number is two numbers.
  if (address % ByteWidth(RealPart(shape.dtype())) != 0) {
    return Literal::FromBytes(shape, bytes.span());
  }
  return Literal::Adopt(shape, bytes.data);
}

absl::StatusOr<Literal> ReadRaw(const std::string& path, const Shape& shape) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  absl::StatusOr<Literal> value = MappedArray(shape, file);
  HAWSER_RETURN_IF_ERROR(file.CheckUnchanged());
  if (!value.ok()) return Annotate(value.status(), path);
  return value;
}

}  // namespace hawser
