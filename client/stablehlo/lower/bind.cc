#include "client/stablehlo/lower/bind.h"

#include "core/base/status.h"
#include "core/runtime/datasets.h"

namespace hawser::stablehlo {

absl::StatusOr<std::vector<runtime::Argument>> Bind(
    const std::vector<BoundArgument>& bound, runtime::Client& client) {
  std::vector<runtime::Argument> arguments;
  for (const BoundArgument& one : bound) {
    if (const auto* constant = std::get_if<Literal>(&one)) {
      arguments.emplace_back(*constant);
      continue;
    }
    const auto& array = std::get<DatasetArray>(one);
    HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr opened,
                            client.datasets().Open(array.part, {}));
    if (opened->shape() != array.shape) {
      return InvalidArgument(DescribeArray(array.part.token, array.part.array),
                             " is ", opened->shape().ToString(),
                             ", the program says ", array.shape.ToString());
    }
    arguments.emplace_back(std::move(opened));
  }
  return arguments;
}

}  // namespace hawser::stablehlo
