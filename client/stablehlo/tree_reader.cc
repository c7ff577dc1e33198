#include "client/stablehlo/tree_reader.h"

#include "client/stablehlo/bytecode/reader.h"
#include "client/stablehlo/text/reader.h"

namespace hawser::stablehlo {

absl::StatusOr<Tree> ReadTree(absl::string_view program) {
  return IsArtifact(program) ? ReadArtifact(program) : ReadText(program);
}

}  // namespace hawser::stablehlo
