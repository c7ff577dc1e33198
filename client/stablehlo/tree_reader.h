// ReadTree: a StableHLO program in either form.
#ifndef HAWSER_CLIENT_STABLEHLO_TREE_READER_H_
#define HAWSER_CLIENT_STABLEHLO_TREE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Reads text or a portable artifact, told apart by how the bytes begin. They
// must outlive the tree. Errors: those of ReadText and ReadArtifact.
absl::StatusOr<Tree> ReadTree(absl::string_view program);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TREE_READER_H_
