// ProgramSource: what a program was compiled of, and its bytes in a file.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_PROGRAM_SOURCE_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_PROGRAM_SOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser::pjrt {

// A program as the host gives it. load_program.h says what the fields hold in
// the format of hawser's own.
struct ProgramSource {
  std::string format;   // "mlir"
  std::string code;     // StableHLO: an artifact or text
  std::string options;  // a serialized CompileOptionsProto of XLA
};

// The bytes of a source: it is compiled again where they are read.
std::string Serialize(const ProgramSource& source);

// Reads such bytes back. Errors: kInvalidArgument for others.
absl::StatusOr<ProgramSource> ParseSource(absl::string_view bytes);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_PROGRAM_SOURCE_H_
