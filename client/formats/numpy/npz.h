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

// The arrays of what np.savez and np.savez_compressed write, each named as
// there. Those that are stored uncompressed stay mapped. Every checksum is
// verified, so all bytes are read.
// Errors: kInvalidArgument naming the member: those of ReadZipDirectory,
// UnpackMember and ParseNpy, a member that is no npy file, an archive without
// any. They name no file.
absl::StatusOr<NamedArrays> ParseNpz(const FileBytes& file);

// The file that np.savez would write of such arrays, stored uncompressed, but
// for where its members begin (LayOutZip) and its date, 1980-01-01; without
// their elements.
// Errors: kInvalidArgument for no arrays, bf16, which npy cannot say, and names
// as of LayOutZip; what the file system says. All name the path.
absl::StatusOr<ArraysToFill> LayOutNpz(const std::string& path,
                                       absl::Span<const ArrayToFill> arrays);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_NUMPY_NPZ_H_
