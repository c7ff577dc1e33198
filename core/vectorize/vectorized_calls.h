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
#include "core/ops/batch/batch.h"
#include "core/ops/expression.h"

namespace hawser {

// Grows the module as it goes. Nothing recurses but the nesting of called
// computations.
class VectorizedCalls : public BatchCalls {
 public:
  VectorizedCalls(Module* module, int64_t size)
      : module_(module), size_(size) {}

  absl::StatusOr<BatchFlags> Flow(int computation,
                                  const BatchFlags& batched) override;
  absl::StatusOr<int> Find(int computation, const BatchFlags& batched,
                           const BatchFlags& gives) override;
  Module* module() const override { return module_; }
  Monoids& monoids() override { return monoids_; }
  // Find of the entry, with places and origins as of VectorizeOptions.
  absl::StatusOr<int> Make(int computation, const BatchFlags& batched,
                           const BatchFlags& gives,
                           absl::Span<const SourceLocation> where,
                           std::vector<int>* origins);

 private:
  Module* const module_;
  const int64_t size_;
  Monoids monoids_;
  absl::flat_hash_map<std::pair<int, BatchFlags>, BatchFlags> flows_;
  absl::flat_hash_map<std::tuple<int, BatchFlags, BatchFlags>, int> known_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_VECTORIZE_VECTORIZED_CALLS_H_
