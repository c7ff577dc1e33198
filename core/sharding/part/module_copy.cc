#include "core/sharding/part/module_copy.h"

#include <utility>

#include "core/base/status.h"

namespace hawser {

absl::StatusOr<int> ModuleCopy::Of(int computation) {
  if (const auto at = known_.find(computation); at != known_.end()) {
    return at->second;
  }
  const Computation& source = from_.computation(computation);
  Computation copy(source.name());
  for (const Instruction& instruction : source.instructions()) {
    absl::InlinedVector<int, 1> called;
    for (int callee : instruction.called) {
      HAWSER_ASSIGN_OR_RETURN(called.emplace_back(), Of(callee));
    }
    HAWSER_RETURN_IF_ERROR(copy.Append(*to_, *instruction.op,
                                       instruction.operands,
                                       instruction.attributes, called)
                               .status());
  }
  HAWSER_RETURN_IF_ERROR(copy.SetResults(source.results()));
  const int index = to_->Add(std::move(copy));
  known_[computation] = index;
  return index;
}

}  // namespace hawser
