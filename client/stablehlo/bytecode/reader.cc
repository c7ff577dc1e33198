#include "client/stablehlo/bytecode/reader.h"

#include <memory>

#include "absl/strings/match.h"
#include "client/stablehlo/bytecode/container.h"
#include "client/stablehlo/bytecode/op_decoder.h"
#include "core/base/status.h"

namespace hawser::stablehlo {

bool IsArtifact(absl::string_view bytes) {
  return absl::StartsWith(bytes, "ML\xEFR");
}

absl::StatusOr<Tree> ReadArtifact(absl::string_view bytes) {
  Tree tree;
  tree.source = Source::OfBytes(bytes);
  tree.strings = std::make_shared<TreeStrings>();
  HAWSER_ASSIGN_OR_RETURN(const Container container,
                          ReadContainer(tree.source, tree.strings.get()));
  OpDecoder decoder(&tree.source, &container, tree.strings.get());
  HAWSER_RETURN_IF_ERROR(decoder.ReadAll(&tree.ops));
  return tree;
}

}  // namespace hawser::stablehlo
