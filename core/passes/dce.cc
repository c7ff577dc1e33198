#include "core/passes/dce.h"

#include <utility>
#include <vector>

#include "core/ir/leaves.h"
#include "core/passes/rewrite/rewriter.h"

namespace hawser {
namespace {

struct Liveness {
  std::vector<bool> reached;                   // computations
  std::vector<std::vector<bool>> needed;       // their instructions
  bool everything = true;
};

std::vector<bool> NeededInstructions(const Computation& c) {
  std::vector<bool> needed(c.instructions().size());
  for (ValueId r : c.results()) needed[c.producer(r)] = true;
  for (int n = static_cast<int>(needed.size()) - 1; n >= 0; --n) {
    const Instruction& i = c.instructions()[n];
    if (i.op == &kParameter) needed[n] = true;
    if (!needed[n]) continue;
    for (ValueId v : i.operands) needed[c.producer(v)] = true;
  }
  return needed;
}

// Callers come after callees, so one walk backwards is enough.
Liveness Analyse(const Module& module) {
  const int count = static_cast<int>(module.computations().size());
  Liveness live{std::vector<bool>(count),
                std::vector<std::vector<bool>>(count)};
  live.reached[count - 1] = true;
  for (int c = count - 1; c >= 0; --c) {
    if (!live.reached[c]) {
      live.everything = false;
      continue;
    }
    const Computation& computation = module.computation(c);
    live.needed[c] = NeededInstructions(computation);
    for (size_t n = 0; n < live.needed[c].size(); ++n) {
      if (!live.needed[c][n]) {
        live.everything = false;
        continue;
      }
      for (int callee : computation.instructions()[n].called) {
        live.reached[callee] = true;
      }
    }
  }
  return live;
}

}  // namespace

absl::StatusOr<Module> EliminateDeadCode(Module module, bool* changed) {
  if (module.empty()) return module;
  const Liveness live = Analyse(module);
  if (live.everything) return module;
  *changed = true;
  Module to(module.name());
  std::vector<int> called(live.reached.size(), -1);
  for (size_t c = 0; c < live.reached.size(); ++c) {
    if (!live.reached[c]) continue;
    const Computation& from = module.computation(static_cast<int>(c));
    Rewriter rewriter(from, to, called);
    for (size_t n = 0; n < live.needed[c].size(); ++n) {
      if (!live.needed[c][n]) continue;
      HAWSER_RETURN_IF_ERROR(rewriter.Keep(from.instructions()[n]));
    }
    HAWSER_ASSIGN_OR_RETURN(Computation rebuilt, rewriter.Finish());
    called[c] = to.Add(std::move(rebuilt));
  }
  return to;
}

}  // namespace hawser
