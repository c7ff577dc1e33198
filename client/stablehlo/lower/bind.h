// Binding: the arguments that a program brings along, on a client.
#ifndef HAWSER_CLIENT_STABLEHLO_LOWER_BIND_H_
#define HAWSER_CLIENT_STABLEHLO_LOWER_BIND_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/stablehlo/body/program.h"
#include "core/runtime/client.h"

namespace hawser::stablehlo {

// Constants are themselves; arrays of datasets are opened, and nothing of them
// crosses the wire. May block to ask. Errors: those of Datasets::Open;
// kInvalidArgument for an array of another shape than the program says.
absl::StatusOr<std::vector<runtime::Argument>> Bind(
    const std::vector<BoundArgument>& bound, runtime::Client& client);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_LOWER_BIND_H_
