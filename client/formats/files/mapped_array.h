// Elements that lie in a file as hawser keeps them.
#ifndef HAWSER_CLIENT_FORMATS_FILES_MAPPED_ARRAY_H_
#define HAWSER_CLIENT_FORMATS_FILES_MAPPED_ARRAY_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/values/literal.h"

namespace hawser {

// A literal of all of `bytes`, the elements of `shape`, row-major and
// little-endian. They stay where they are unless the dtype's alignment forbids
// their address: then they are copied. Errors: as CheckBytes.
absl::StatusOr<Literal> MappedArray(const Shape& shape, const FileBytes& bytes);

// Reads a file that holds the elements of `shape` and nothing else, as
// numpy.ndarray.tofile and C programs write them. Errors: those of the file
// system; kInvalidArgument for another size. All name the path.
absl::StatusOr<Literal> ReadRaw(const std::string& path, const Shape& shape);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_MAPPED_ARRAY_H_
