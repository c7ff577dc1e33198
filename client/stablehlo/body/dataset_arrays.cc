#include "client/stablehlo/body/dataset_arrays.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

namespace hawser::stablehlo {

DatasetArrays::DatasetArrays(const Tree& tree, const Functions& functions)
    : functions_(functions),
      has_any_(absl::StrContains(tree.source.text(), kDatasetTarget)) {}

const std::vector<const Op*>& DatasetArrays::In(const Region& region) {
  const auto [known, is_new] = in_.try_emplace(&region);
  if (!is_new || !has_any_) return known->second;
  absl::flat_hash_set<const Region*> seen = {&region};
  std::vector<const Region*> left = {&region};
  while (!left.empty()) {
    const Region* const next = left.back();
    left.pop_back();
    for (const Op& op : next->ops) {
      if (IsDatasetArray(op)) known->second.push_back(&op);
      for (const Region& inner : op.regions) left.push_back(&inner);
      const Op* const callee = functions_.Find(CalleeOf(op));
      if (callee != nullptr && seen.insert(&callee->regions[0]).second) {
        left.push_back(&callee->regions[0]);
      }
    }
  }
  return known->second;
}

ValueId DatasetArrays::Find(const ComputationBuilder& builder,
                            const Op& op) const {
  const auto values = values_.find(&builder);
  if (values == values_.end()) return kNoValue;
  const auto found = values->second.find(&op);
  return found == values->second.end() ? kNoValue : found->second;
}

void DatasetArrays::Set(const ComputationBuilder& builder, const Op& op,
                        ValueId value) {
  values_[&builder][&op] = value;
}

void DatasetArrays::Forget(const ComputationBuilder& builder) {
  values_.erase(&builder);
}

}  // namespace hawser::stablehlo
