// Places: where the user made what is in a computation.
#ifndef HAWSER_CLIENT_SDK_GRAPH_PLACES_H_
#define HAWSER_CLIENT_SDK_GRAPH_PLACES_H_

#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// The places of one computation and of those it calls: equal computations are
// one in a module, but each call of it was written at its own lines. They stay
// in this process: no part of the graph, its digest or its text.
struct Places {
  using Called = absl::InlinedVector<std::shared_ptr<const Places>, 2>;

  std::vector<SourceLocation> at;  // of each instruction; may be shorter
  // For each instruction that calls computations, in order; may be shorter.
  // Null: not known.
  std::vector<Called> called;
};

// The places of `copy`, each of whose first instructions comes from one of
// `was` by `origins`, or, where that is -1, from none. Instructions that call
// other computations than they did have no places for what they call.
std::shared_ptr<const Places> PlacesBy(absl::Span<const int> origins,
                                       const Places& from,
                                       const Computation& was,
                                       const Computation& copy);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_PLACES_H_
