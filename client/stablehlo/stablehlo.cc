#include "client/stablehlo/stablehlo.h"

#include "client/stablehlo/body/functions.h"
#include "client/stablehlo/tree_reader.h"
#include "core/base/status.h"

namespace hawser::stablehlo {

absl::StatusOr<Lowered> ReadProgram(absl::string_view program) {
  HAWSER_ASSIGN_OR_RETURN(const Tree tree, ReadTree(program));
  const Functions functions(tree);
  const bool only = functions.all().size() == 1;
  return Lower(tree, only ? NameOf(*functions.all()[0]) : "main");
}

}  // namespace hawser::stablehlo
