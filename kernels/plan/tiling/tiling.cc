#include "kernels/plan/tiling/tiling.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "kernels/plan/tiling/tiled_group.h"
#include "kernels/plan/tiling/tiled_loop.h"

namespace hawser::plan {
namespace {

struct TiledGroupLoop {
  TiledGroup group;
  TiledLoop loop;
};

// The loops of groups that are tiled, all of a family or none.
absl::StatusOr<std::vector<TiledGroupLoop>> LoopsOf(
    const Module& module, const Computation& computation,
    const Target& target) {
  std::vector<TiledGroupLoop> loops;
  for (const TiledGroups& groups : FindTiledGroups(computation, target)) {
    std::vector<TiledGroupLoop> family;
    for (const TiledGroup& group : groups) {
      HAWSER_ASSIGN_OR_RETURN(
          auto loop, TiledLoop::Make(module, computation, group, target));
      if (!loop) break;
      family.push_back({group, *std::move(loop)});
    }
    if (family.size() != groups.size()) continue;
    for (TiledGroupLoop& loop : family) loops.push_back(std::move(loop));
  }
  return loops;
}

// Copies one computation. A loop stands before the first reader of what it
// gives, after all that it takes; what is only computed in loops is left out.
class TiledCopy {
 public:
  TiledCopy(const Computation& from, const std::vector<TiledGroupLoop>& loops,
            const std::vector<int>& called, Module* to)
      : from_(from),
        loops_(loops),
        called_(called),
        builder_(to, std::string(from.name())),
        moved_(from.num_values(), kNoValue) {
    for (size_t n = 0; n < loops.size(); ++n) {
      for (const ValueId v : loops[n].group.gives) loop_of_[v] = n;
    }
    made_.resize(from.instructions().size() + loops.size());
  }

  // nullopt: two loops wait for each other.
  absl::StatusOr<std::optional<int>> Finish() {
    for (int k = 0; k < from_.num_parameters(); ++k) {
      moved_[k] = builder_.Parameter(from_.shape(k), SourceLocation{});
    }
    for (const size_t unit : Needed()) {
      HAWSER_ASSIGN_OR_RETURN(const bool made, Make(unit));
      if (!made) return std::nullopt;
    }
    std::vector<ValueId> results;
    for (const ValueId v : from_.results()) results.push_back(moved_[v]);
    return builder_.Finish(results);
  }

 private:
  // An instruction's index, or, from their number on, a loop's.
  size_t UnitOf(ValueId v) const {
    const auto at = loop_of_.find(v);
    return at != loop_of_.end() ? from_.instructions().size() + at->second
                                : static_cast<size_t>(from_.producer(v));
  }
  absl::Span<const ValueId> NeedsOf(size_t unit) const {
    const auto all = from_.instructions();
    if (unit >= all.size()) return loops_[unit - all.size()].group.takes;
    return all[unit].operands;
  }

  // The units that results need, ascending.
  std::vector<size_t> Needed() const {
    std::vector<bool> needed(made_.size());
    std::vector<ValueId> left(from_.results().begin(), from_.results().end());
    while (!left.empty()) {
      const size_t unit = UnitOf(left.back());
      left.pop_back();
      if (needed[unit]) continue;
      needed[unit] = true;
      const auto needs = NeedsOf(unit);
      left.insert(left.end(), needs.begin(), needs.end());
    }
    std::vector<size_t> units;
    for (size_t unit = 0; unit < needed.size(); ++unit) {
      if (needed[unit]) units.push_back(unit);
    }
    return units;
  }

  // Adds a unit after what it needs. False: it needs itself.
  absl::StatusOr<bool> Make(size_t wanted) {
    std::vector<size_t> stack = {wanted};
    while (!stack.empty()) {
      const size_t unit = stack.back();
      if (made_[unit] == State::kMade) {
        stack.pop_back();
        continue;
      }
      const bool again = made_[unit] == State::kWaits;
      made_[unit] = State::kWaits;
      bool waits = false;
      for (const ValueId v : NeedsOf(unit)) {
        const size_t other = UnitOf(v);
        if (made_[other] == State::kMade) continue;
        // What it had to wait for the first time is made by now.
        if (again || made_[other] == State::kWaits) return false;
        stack.push_back(other);
        waits = true;
      }
      if (waits) continue;
      HAWSER_RETURN_IF_ERROR(Add(unit));
      made_[unit] = State::kMade;
      stack.pop_back();
    }
    return true;
  }

  absl::Status Add(size_t unit) {
    const auto all = from_.instructions();
    std::vector<ValueId> operands;
    for (const ValueId v : NeedsOf(unit)) operands.push_back(moved_[v]);
    if (unit >= all.size()) {
      const TiledGroupLoop& loop = loops_[unit - all.size()];
      HAWSER_ASSIGN_OR_RETURN(const std::vector<ValueId> gives,
                              loop.loop.Build(operands, builder_));
      for (size_t k = 0; k < gives.size(); ++k) {
        moved_[loop.group.gives[k]] = gives[k];
      }
      return absl::OkStatus();
    }
    const Instruction& i = all[unit];
    if (i.op == &kParameter) return absl::OkStatus();
    absl::InlinedVector<int, 2> called;
    for (const int callee : i.called) called.push_back(called_[callee]);
    const ValueId first =
        builder_.Add(*i.op, operands, i.attributes, called, SourceLocation{});
    HAWSER_RETURN_IF_ERROR(builder_.status());
    for (int r = 0; r < i.num_results; ++r) {
      // One that a loop gives has its value from there.
      if (loop_of_.contains(i.first_result + r)) continue;
      moved_[i.first_result + r] = first + r;
    }
    return absl::OkStatus();
  }

  enum class State : uint8_t { kNew, kWaits, kMade };

  const Computation& from_;
  const std::vector<TiledGroupLoop>& loops_;
  const std::vector<int>& called_;
  ComputationBuilder builder_;
  std::vector<ValueId> moved_;
  std::vector<State> made_;
  absl::flat_hash_map<ValueId, size_t> loop_of_;
};

}  // namespace

absl::StatusOr<std::optional<Module>> Tiled(const Module& module,
                                            const std::vector<bool>& marked,
                                            const Target& target) {
  std::vector<std::vector<TiledGroupLoop>> loops(marked.size());
  bool any = false;
  for (size_t c = 0; c < marked.size(); ++c) {
    if (!marked[c]) continue;
    HAWSER_ASSIGN_OR_RETURN(
        loops[c],
        LoopsOf(module, module.computation(static_cast<int>(c)), target));
    any |= !loops[c].empty();
  }
  if (!any) return std::nullopt;
  Module to(module.name());
  std::vector<int> called;
  for (size_t c = 0; c < marked.size(); ++c) {
    const Computation& from = module.computation(static_cast<int>(c));
    HAWSER_ASSIGN_OR_RETURN(std::optional<int> copy,
                            TiledCopy(from, loops[c], called, &to).Finish());
    if (!copy) {
      HAWSER_ASSIGN_OR_RETURN(copy, TiledCopy(from, {}, called, &to).Finish());
    }
    called.push_back(*copy);
  }
  return to;
}

}  // namespace hawser::plan
