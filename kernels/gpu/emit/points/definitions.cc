#include "kernels/gpu/emit/points/definitions.h"

#include <algorithm>

namespace hawser::gpu {

const ValueText* Definitions::Find(plan::PointId id) const {
  for (size_t n = levels_.size(); n-- > 0;) {
    const auto at = levels_[n].values.find(id);
    if (at != levels_[n].values.end()) return &at->second;
  }
  return nullptr;
}

const std::string* Definitions::FindScope(plan::ScopeId scope) const {
  for (const Level& level : levels_) {
    const auto at = level.scopes.find(scope);
    if (at != level.scopes.end()) return &at->second;
  }
  return nullptr;
}

bool Definitions::HasSymbol(int symbol) const {
  return std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
    return level.symbols.count(symbol) > 0;
  });
}

}  // namespace hawser::gpu
