// Vectorize: a computation becomes one that computes it for a whole batch of
// arguments at once, made of ordinary instructions.
#ifndef HAWSER_CORE_VECTORIZE_VECTORIZE_H_
#define HAWSER_CORE_VECTORIZE_VECTORIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser {

struct VectorizeOptions {
  // The number of entries in the batch; 0 is one, too.
  int64_t size = 0;
  // For each parameter of the entry, true if each entry of the batch has its
  // own.
  std::vector<bool> batched;
  // The places where the user made each instruction of the entry; may be left
  // out.
  absl::Span<const SourceLocation> where = {};
  // Null, or what is told which instruction of the entry each of the new one
  // comes from; -1: from none.
  std::vector<int>* origins = nullptr;
};

// `module` with another entry, whose batched parameters have a new axis 0 of
// `size`, and so have all results: entry b of them is what the old entry gives
// for entry b of the batched parameters and the others as they are. Results
// that depend on no batched parameter are repeated. Values that depend on none
// are computed once. The result may be transformed again.
//
// A while whose condition differs between entries iterates until it holds for
// none; entries for which it does not keep their state. A case whose index
// differs computes all branches for all entries. Other loops run as often as
// they did, so that those with a known number of iterations stay so.
//
// Errors: kInvalidArgument for options that do not fit the module, and where an
// axis more is more than a shape may have; kUnimplemented naming an op without
// a row in rule_table.cc; both with op and place.
absl::StatusOr<Module> Vectorize(Module module,
                                 const VectorizeOptions& options);

}  // namespace hawser
#endif  // HAWSER_CORE_VECTORIZE_VECTORIZE_H_
