// Portable artifacts of StableHLO, as an op tree.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_READER_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// True if the bytes begin as MLIR's bytecode does.
bool IsArtifact(absl::string_view bytes);

// Reads an artifact of StableHLO 0.9 to 1.20. The bytes must outlive the tree,
// which then says what the text would have said: attributes by their names,
// ops without versions. Memory stays in proportion to the bytes.
// Errors, all with "byte N: " in front: kInvalidArgument for what is no
// artifact, is cut short, or claims more than it carries; kUnimplemented for
// one of a newer format or StableHLO.
absl::StatusOr<Tree> ReadArtifact(absl::string_view bytes);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_READER_H_
