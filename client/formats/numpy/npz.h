// NumPy's .npz files: zip archives of npy files.
#ifndef HAWSER_CLIENT_FORMATS_NUMPY_NPZ_H_
#define HAWSER_CLIENT_FORMATS_NUMPY_NPZ_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/file_to_fill.h"
#include "client/formats/files/named_array.h"

namespace hawser {

// Reads the arrays of a file that np.savez or np.savez_compressed wrote, with
// their names. Arrays that are stored uncompressed stay mapped. Every checksum
// is verified, so all bytes are read.
// Errors: kInvalidArgument naming the member: those of ReadZipDirectory,
// UnpackMember and ParseNpy, a member that is no npy file, an archive without
// any. They name no file.
absl::StatusOr<NamedArrays> ParseNpz(const FileBytes& file);

// Creates the file that np.savez writes of such arrays, without their elements.
// It differs in where its members begin (LayOutZip) and in its date,
// 1980-01-01.
// Errors: kInvalidArgument for no arrays, for bf16, which npy cannot express,
// and for names that LayOutZip refuses; those of the file system. All name the
// path.
absl::StatusOr<ArraysToFill> LayOutNpz(const std::string& path,
                                       absl::Span<const ArrayToFill> arrays);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_NUMPY_NPZ_H_
