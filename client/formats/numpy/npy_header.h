// The header of an npy file: a Python dictionary in text, after a magic word.
#ifndef HAWSER_CLIENT_FORMATS_NUMPY_NPY_HEADER_H_
#define HAWSER_CLIENT_FORMATS_NUMPY_NPY_HEADER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/values/shape.h"

namespace hawser {

inline constexpr absl::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  Shape shape;
  bool big_endian = false;
  bool column_major = false;  // "fortran_order"
  int64_t data_offset = 0;    // where the elements begin in the file
};

// Reads the header of a file of format 1, 2 or 3; `file` may end after it.
// Checks nothing of the data. Errors: kInvalidArgument naming the wrong field.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view file);

// The header that NumPy writes in front of a row-major little-endian array,
// byte for byte. Errors: kInvalidArgument for bf16, which npy cannot express.
absl::StatusOr<std::string> NpyHeaderOf(const Shape& shape);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_NUMPY_NPY_HEADER_H_
