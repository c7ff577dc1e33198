// NumPy's .npy files.
#ifndef HAWSER_CLIENT_FORMATS_NUMPY_NPY_H_
#define HAWSER_CLIENT_FORMATS_NUMPY_NPY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/file_to_fill.h"
#include "core/base/values/literal.h"

namespace hawser {

// Reads the array of an npy file: format 1, 2 or 3; bool, u1-u8, i1-i8, f2, f4,
// f8, c8, c16. A row-major little-endian file is mapped, not read: the Literal
// is there at once and its pages come as they are used. Column-major (Fortran)
// and big-endian files are converted.
// Errors: kNotFound and the like from the file system; kInvalidArgument naming
// the file and the field for a malformed header, another dtype, a file that is
// shorter or longer than its header says, a bool that is neither 0 nor 1.
absl::StatusOr<Literal> ReadNpy(const std::string& path);
// The same for bytes in memory; errors name no file.
absl::StatusOr<Literal> ParseNpy(const FileBytes& file);

// Creates the file that np.save writes of such an array, row-major and
// little-endian, without its elements. Errors: kInvalidArgument for bf16, which
// npy cannot express; those of the file system. All name the path.
absl::StatusOr<ArraysToFill> LayOutNpy(const std::string& path,
                                       const Shape& shape);

// Writes the file that np.save writes, row-major and little-endian, under
// another name first, so that `path` never holds half an array. Errors:
// kInvalidArgument for bf16, which npy cannot express, and for a literal
// without a value; those of the file system. All name the path.
absl::Status WriteNpy(const std::string& path, const Literal& value);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_NUMPY_NPY_H_
