// StableHLO's text, generic or pretty, as an op tree.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_READER_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Reads a file of ops, of which nothing is checked that the grammar does not
// say. Memory stays in proportion to the text, and constants are decoded to
// where they stay. `text` must outlive the tree.
// Errors (kInvalidArgument): "line:column: expected ..., got ..."; brackets or
// regions nested deeper than 200 levels.
absl::StatusOr<Tree> ReadText(absl::string_view text);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_READER_H_
