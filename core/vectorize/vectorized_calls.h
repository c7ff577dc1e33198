// VectorizedCalls: a module's computations for a batch, each made once.
#ifndef HAWSER_CORE_VECTORIZE_VECTORIZED_CALLS_H_
#define HAWSER_CORE_VECTORIZE_VECTORIZED_CALLS_H_

#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"
#include "core/ops/expression.h"
#include "core/vectorize/batch_rule.h"

namespace hawser::vectorize {

// Grows the module as it goes. Nothing recurses but the nesting of called
// computations.
class VectorizedCalls {
 public:
  VectorizedCalls(Module* module, int64_t size)
      : module_(module), size_(size) {}

  // Returns which results of a computation are batched if these parameters are.
  // Errors: kUnimplemented naming an op without a row.
  absl::StatusOr<Flags> Flow(int computation, const Flags& batched);
  // The computation for a batch: of `batched` parameters and of `gives`
  // results, which must be among the latter what Flow says or more, each with
  // a new axis 0. Errors: naming op and place, of rules.
  absl::StatusOr<int> Find(int computation, const Flags& batched,
                           const Flags& gives);
  // Find of the entry, with places and origins as of VectorizeOptions.
  absl::StatusOr<int> Make(int computation, const Flags& batched,
                           const Flags& gives,
                           absl::Span<const SourceLocation> where,
                           std::vector<int>* origins);

  Module* module() const { return module_; }
  Monoids& monoids() { return monoids_; }

 private:
  Module* const module_;
  const int64_t size_;
  Monoids monoids_;
  absl::flat_hash_map<std::pair<int, Flags>, Flags> flows_;
  absl::flat_hash_map<std::tuple<int, Flags, Flags>, int> known_;
};

}  // namespace hawser::vectorize
#endif  // HAWSER_CORE_VECTORIZE_VECTORIZED_CALLS_H_
