#include "client/sdk/probes/print.h"

#include <string>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/probes/probes.h"

namespace hawser {

Tensor Print(const Operand& x, absl::string_view label) {
  const sdk::OpScope s("Print", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  sdk::Show({value, std::string(label), s.where()});
  return value;
}

}  // namespace hawser
