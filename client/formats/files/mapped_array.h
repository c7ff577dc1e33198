// Elements that lie in a file as hawser keeps them.
#ifndef HAWSER_CLIENT_FORMATS_FILES_MAPPED_ARRAY_H_
#define HAWSER_CLIENT_FORMATS_FILES_MAPPED_ARRAY_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/literal.h"

namespace hawser {

// All of `bytes` as the elements of `shape`, row-major and little-endian. They
// stay where they are; those at an address where their dtype must not lie are
// copied. Errors: as CheckBytes.
absl::StatusOr<Literal> MappedArray(const Shape& shape, const FileBytes& bytes);

// A file that is nothing but the elements of `shape`: raw bytes, as
// numpy.ndarray.tofile and C programs write them.
// Errors: what the file system says; kInvalidArgument for another size. All
// name the path.
absl::StatusOr<Literal> ReadRaw(const std::string& path, const Shape& shape);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_MAPPED_ARRAY_H_
