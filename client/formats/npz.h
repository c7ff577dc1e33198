// NumPy's .npz files: zip archives of npy files.
#ifndef HAWSER_CLIENT_FORMATS_NPZ_H_
#define HAWSER_CLIENT_FORMATS_NPZ_H_

#include "absl/status/statusor.h"
#include "client/formats/file_bytes.h"
#include "client/formats/named_array.h"

namespace hawser {

// The arrays of what np.savez and np.savez_compressed write, each named as
// there. Those that are stored uncompressed stay mapped. Every checksum is
// verified, so all bytes are read.
// Errors: kInvalidArgument naming the member: those of ReadZipDirectory,
// UnpackMember and ParseNpy, a member that is no npy file, an archive without
// any. They name no file.
absl::StatusOr<NamedArrays> ParseNpz(const FileBytes& file);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_NPZ_H_
