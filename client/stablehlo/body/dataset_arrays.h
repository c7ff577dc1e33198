// DatasetArrays: what ops that give arrays of datasets stand for, by builder.
#ifndef HAWSER_CLIENT_STABLEHLO_BODY_DATASET_ARRAYS_H_
#define HAWSER_CLIENT_STABLEHLO_BODY_DATASET_ARRAYS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/stablehlo/body/functions.h"
#include "client/stablehlo/tree/tree.h"
#include "core/ir/builder.h"

namespace hawser::stablehlo {

// The entry has an array as a parameter, and each region that names it takes it
// from around it. Not thread-safe.
class DatasetArrays {
 public:
  // Both outlive it.
  DatasetArrays(const Tree& tree, const Functions& functions);

  // The ops that give such arrays in a region, in those inside of it and in
  // functions that these call.
  const std::vector<const Op*>& In(const Region& region);
  // The value that such an op stands for in a builder; kNoValue: none yet.
  ValueId Find(const ComputationBuilder& builder, const Op& op) const;
  void Set(const ComputationBuilder& builder, const Op& op, ValueId value);
  // The builder ends.
  void Forget(const ComputationBuilder& builder);

 private:
  const Functions& functions_;
  const bool has_any_;  // perhaps: most programs have none
  absl::flat_hash_map<const Region*, std::vector<const Op*>> in_;
  absl::flat_hash_map<const ComputationBuilder*,
                      absl::flat_hash_map<const Op*, ValueId>>
      values_;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BODY_DATASET_ARRAYS_H_
