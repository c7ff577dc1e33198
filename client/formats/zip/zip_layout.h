// Zip archives that are written: stored members, laid out before their bytes
// are there.
#ifndef HAWSER_CLIENT_FORMATS_ZIP_ZIP_LAYOUT_H_
#define HAWSER_CLIENT_FORMATS_ZIP_ZIP_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/formats/files/file_to_fill.h"

namespace hawser {

struct MemberToFill {
  std::string name;
  std::string front;  // its first bytes
  int64_t size = 0;   // of the bytes after them
};

// Creates an archive of these members, in this order and uncompressed. Each
// begins at a multiple of 64 bytes, so that the elements of an npy file in it
// can be mapped. Sizes are written in zip64 fields, which any size fits. The
// elements are the bytes after the fronts; Keep computes the checksums. Errors:
// kInvalidArgument for two members of one name and for a name that
// ReadZipDirectory refuses; those of the file system. All name the path.
absl::StatusOr<ArraysToFill> LayOutZip(const std::string& path,
                                       absl::Span<const MemberToFill> members);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_ZIP_ZIP_LAYOUT_H_
