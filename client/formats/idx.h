// IDX files, the format of MNIST and its kin, plain or gzipped.
#ifndef HAWSER_CLIENT_FORMATS_IDX_H_
#define HAWSER_CLIENT_FORMATS_IDX_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/values/literal.h"

namespace hawser {

// Reads the array of an IDX file: u8, s8, s16, s32, f32 or f64, big-endian in
// the file. Bytes of a plain file are mapped, not read. A gzipped file is
// unpacked into exactly the memory that its header asks for, and its checksum
// is verified.
// Errors: kNotFound and the like from the file system; kInvalidArgument naming
// the file and what is wrong: magic, type, sizes, a file that ends early or
// goes on after its last element, damaged gzip data.
absl::StatusOr<Literal> ReadIdx(const std::string& path);
// The same for bytes in memory; errors name no file.
absl::StatusOr<Literal> ParseIdx(const FileBytes& file);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_IDX_H_
