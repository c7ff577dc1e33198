// Inline: a finished module, replayed where the caller is.
#ifndef HAWSER_CLIENT_SDK_GRAPH_BUILD_INLINE_H_
#define HAWSER_CLIENT_SDK_GRAPH_BUILD_INLINE_H_

#include <vector>

#include "absl/types/span.h"
#include "client/sdk/tensor.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// The results of the module's entry of these arguments, as instructions of the
// current trace, or recorded. `arguments` have the parameters' shapes.
std::vector<Tensor> Inline(const Module& module,
                           absl::Span<const Tensor> arguments,
                           SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_BUILD_INLINE_H_
