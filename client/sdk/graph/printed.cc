#include "client/sdk/graph/printed.h"

namespace hawser::sdk {

void AppendTensors(absl::Span<const Printed> printed, std::vector<Tensor>* to) {
  for (const Printed& p : printed) {
    to->push_back(p.value);
    if (p.turns.has_value()) to->push_back(*p.turns);
  }
}

size_t ReplaceTensors(absl::Span<const Tensor> with,
                      std::vector<Printed>* printed) {
  size_t next = 0;
  for (Printed& p : *printed) {
    p.value = with[next++];
    if (p.turns.has_value()) p.turns = with[next++];
  }
  return next;
}

}  // namespace hawser::sdk
