#include "core/sharding/shard.h"

#include <map>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ir/text/printer.h"
#include "core/sharding/cuts.h"

namespace hawser {
namespace {

// What the task of these parts gives of each result: a result that lacks a
// direction is given by the first part of it.
std::vector<MaybeBox> GivesOf(const Signature& whole, const Cuts& cuts,
                              const std::vector<int>& parts) {
  std::vector<MaybeBox> gives(whole.results.size());
  for (size_t k = 0; k < gives.size(); ++k) {
    const auto axes = cuts.OfResult(static_cast<int>(k));
    std::vector<bool> cut(parts.size(), false);
    Box box = WholeBox(whole.results[k]);
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (axes[axis] < 0) continue;
      const Cuts::Direction& direction = cuts.directions()[axes[axis]];
      box[axis] = cuts.axis_class(direction.axis_class).part(parts[axes[axis]]);
      cut[axes[axis]] = true;
    }
    bool here = true;
    for (size_t d = 0; d < parts.size(); ++d) {
      here = here && (cut[d] || parts[d] == 0);
    }
    if (here) gives[k] = std::move(box);
  }
  return gives;
}

}  // namespace

absl::StatusOr<Sharding> Shard(const Module& module, const ShardSpec& spec) {
  HAWSER_ASSIGN_OR_RETURN(const Cuts cuts, Cuts::Make(module, spec));
  Sharding sharding{.whole = module.signature(), .tasks = {}};
  std::map<std::string, std::shared_ptr<const Module>> modules;
  std::vector<int> parts(cuts.directions().size(), 0);
  for (bool more = true; more;) {
    const std::vector<MaybeBox> gives = GivesOf(sharding.whole, cuts, parts);
    ShardTask task;
    for (size_t k = 0; k < gives.size(); ++k) {
      if (!gives[k].has_value()) continue;
      task.gives.push_back({static_cast<int>(k), *gives[k]});
    }
    if (!task.gives.empty()) {
      HAWSER_ASSIGN_OR_RETURN(PartModule part, PartOf(module, gives));
      task.takes = std::move(part.takes);
      task.offsets = std::move(part.offsets);
      auto& known = modules[Print(part.module)];
      if (known == nullptr) {
        known = std::make_shared<const Module>(std::move(part.module));
      }
      task.module = known;
      sharding.tasks.push_back(std::move(task));
    }
    more = false;
    for (size_t d = parts.size(); d > 0 && !more; --d) {
      const int axis_class = cuts.directions()[d - 1].axis_class;
      more = ++parts[d - 1] < cuts.axis_class(axis_class).parts();
      if (!more) parts[d - 1] = 0;
    }
  }
  return sharding;
}

}  // namespace hawser
