#include "client/stablehlo/text/reader.h"

#include "client/stablehlo/text/op_reader.h"

namespace hawser::stablehlo {

absl::StatusOr<Tree> ReadText(absl::string_view text) {
  return OpReader(Source(text)).ReadFile();
}

}  // namespace hawser::stablehlo
