// Definitions: the values that the variables of a kernel hold, by the braces
// they are in.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINTS_DEFINITIONS_H_
#define HAWSER_KERNELS_GPU_EMIT_POINTS_DEFINITIONS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/emit/text/value_text.h"
#include "kernels/plan/region/region.h"

namespace hawser::gpu {

// Invariant: there is at least one level; what an inner level defines hides
// what outer levels define.
class Definitions {
 public:
  // A level for each pair of braces that are open.
  void Enter() { levels_.emplace_back(); }
  // Forgets what was defined since the Enter that this call answers.
  void Leave() { levels_.pop_back(); }

  void Define(plan::PointId id, ValueText value) {
    levels_.back().values[id] = std::move(value);
  }
  void DefineScope(plan::ScopeId scope, std::string condition) {
    levels_.back().scopes[scope] = std::move(condition);
  }
  void DefineSymbol(int symbol) { levels_.back().symbols.insert(symbol); }

  // nullptr: not defined.
  const ValueText* Find(plan::PointId id) const;
  const std::string* FindScope(plan::ScopeId scope) const;
  bool HasSymbol(int symbol) const;

 private:
  struct Level {
    std::map<plan::PointId, ValueText> values;
    std::map<plan::ScopeId, std::string> scopes;  // the names of conditions
    std::set<int> symbols;
  };

  std::vector<Level> levels_ = std::vector<Level>(1);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINTS_DEFINITIONS_H_
