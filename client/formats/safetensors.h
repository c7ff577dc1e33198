// safetensors files, the format of weights at Hugging Face.
#ifndef HAWSER_CLIENT_FORMATS_SAFETENSORS_H_
#define HAWSER_CLIENT_FORMATS_SAFETENSORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/file_to_fill.h"
#include "client/formats/files/named_array.h"

namespace hawser {

// True if the file begins as a safetensors file does: the format has no magic
// word, but a length of 8 bytes and then "{".
bool LooksLikeSafetensors(const FileBytes& file);

// Reads the arrays: BOOL, U8 to U64, I8 to I64, F16, BF16, F32, F64, C64, and
// C128, which other programs do not know. They are mapped and not read, but for
// bools, which are checked.
// Errors: kInvalidArgument naming array and field: a malformed header, another
// dtype, bytes that overlap, leave gaps or are not those of the shape, a file
// that is shorter or longer than its header says, one without arrays. They
// name no file.
absl::StatusOr<NamedArrays> ParseSafetensors(const FileBytes& file);

// Creates the file that WriteSafetensors writes of such arrays, without their
// elements. Errors: as WriteSafetensors.
absl::StatusOr<ArraysToFill> LayOutSafetensors(
    const std::string& path, absl::Span<const ArrayToFill> arrays);

// Writes the arrays, those with the widest elements first, so that each is
// aligned for its dtype; under another name first, as WriteNpy does. Errors:
// kInvalidArgument for no arrays, two of one name and names that are not
// printable ASCII; those of the file system. All name the path.
absl::Status WriteSafetensors(const std::string& path,
                              absl::Span<const NamedArray> arrays);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_SAFETENSORS_H_
