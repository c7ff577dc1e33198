// Reading an array from a file of whichever format it is in.
#ifndef HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_
#define HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/formats/file_bytes.h"
#include "core/base/literal.h"

namespace hawser {

// The array of an npy or IDX (plain or gzipped) file. The first bytes decide,
// never the name.
// Errors: as ReadNpy and ReadIdx; kInvalidArgument naming the file and how it
// begins when it is neither.
absl::StatusOr<Literal> ReadArray(const std::string& path);
// The same of bytes in memory; errors name no file.
absl::StatusOr<Literal> ParseArray(const FileBytes& file);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_ARRAY_FILE_H_
