// Inline: a finished computation, replayed where the caller is.
#ifndef HAWSER_CLIENT_SDK_GRAPH_BUILD_INLINE_H_
#define HAWSER_CLIENT_SDK_GRAPH_BUILD_INLINE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// The region's results of these arguments, as instructions of the current
// trace, or recorded, that some result needs. `arguments` have the parameters'
// shapes. Tensors are made where its places say, else at `where`, by
// `function`.
std::vector<Tensor> Inline(absl::string_view function, const RegionDef& region,
                           absl::Span<const Tensor> arguments,
                           SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_BUILD_INLINE_H_
