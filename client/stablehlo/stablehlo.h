// StableHLO programs as hawser modules.
#ifndef HAWSER_CLIENT_STABLEHLO_STABLEHLO_H_
#define HAWSER_CLIENT_STABLEHLO_STABLEHLO_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/lower/lower.h"

namespace hawser::stablehlo {

// Reads a program, text (generic or pretty) or a portable artifact, and lowers
// its function "main", or the only one there is. The bytes need not outlive the
// module. Errors: those of ReadTree and Lower, all with "line:column: " or
// "byte N: " in front.
//
// If the program is for several partitions, it also reads how arguments and
// results lie on them; then there are the errors of TilingsOf, too.
absl::StatusOr<Lowered> ReadProgram(absl::string_view program,
                                    int partitions = 1);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_STABLEHLO_H_
