#include "client/stablehlo/stablehlo.h"

#include "client/stablehlo/body/functions.h"
#include "client/stablehlo/tree_reader.h"
#include "core/base/status.h"

namespace hawser::stablehlo {

absl::StatusOr<Lowered> ReadProgram(absl::string_view program,
                                    int partitions) {
  HAWSER_ASSIGN_OR_RETURN(const Tree tree, ReadTree(program));
  const Functions functions(tree);
  const bool only = functions.all().size() == 1;
  const absl::string_view name = only ? NameOf(*functions.all()[0]) : "main";
  HAWSER_ASSIGN_OR_RETURN(Lowered lowered, Lower(tree, name));
  if (partitions > 1) {
    HAWSER_ASSIGN_OR_RETURN(
        lowered.tilings,
        TilingsOf(tree, *functions.Find(name), partitions));
  }
  return lowered;
}

}  // namespace hawser::stablehlo
