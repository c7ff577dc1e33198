// Printed: a value on its way to stderr.
#ifndef HAWSER_CLIENT_SDK_GRAPH_PRINTED_H_
#define HAWSER_CLIENT_SDK_GRAPH_PRINTED_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// A value to be written out, which is called `label`.
struct Printed {
  Tensor value;
  std::string label;
  SourceLocation where;
  // For a value in a loop or a branch, s64[1 + loops]: 0, then the iteration of
  // each loop around it, outermost first, in which it came last; all -1: it did
  // not.
  std::optional<Tensor> turns = {};
};

// Appends the tensors of each: its value, then its turns if it has any.
void AppendTensors(absl::Span<const Printed> printed, std::vector<Tensor>* to);
// Puts others in their place, in that order. Returns how many.
size_t ReplaceTensors(absl::Span<const Tensor> with,
                      std::vector<Printed>* printed);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_PRINTED_H_
