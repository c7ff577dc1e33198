#include "core/sharding/shard.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

std::vector<ShardAxis> AxesOf(const Module& module, const Cuts& cuts) {
  const Computation& entry = module.entry();
  std::vector<ShardAxis> axes(cuts.num_classes());
  for (int i = 0; i < cuts.num_classes(); ++i) {
    const AxisClass& one = cuts.axis_class(i);
    axes[i].size = one.size;
    for (int part = 0; part < one.parts(); ++part) {
      axes[i].sizes.push_back(one.part(part).size());
    }
  }
  for (int i = 0; i < entry.num_parameters(); ++i) {
    for (int axis = 0; axis < entry.shape(i).rank(); ++axis) {
      axes[cuts.ClassOf(i, axis)].parameters.push_back({i, axis});
    }
  }
  for (size_t k = 0; k < entry.results().size(); ++k) {
    const ValueId value = entry.results()[k];
    for (int axis = 0; axis < entry.shape(value).rank(); ++axis) {
      axes[cuts.ClassOf(value, axis)].results.push_back(
          {static_cast<int>(k), axis});
    }
  }
  std::erase_if(axes, [](const ShardAxis& axis) {
    return axis.sizes.size() < 2 ||
           (axis.parameters.empty() && axis.results.empty());
  });
  return axes;
}

std::vector<ShardNote> NotesOf(const ShardSpec& spec, const Cuts& cuts) {
  std::vector<ShardNote> notes;
  for (const AxisCut& cut : spec.parameters) {
    const int number = cuts.ClassOf(cut.value, cut);
    if (cuts.axis_class(number).parts() < 2) continue;
    const Instruction* end = cuts.EndOf(number);
    if (end == nullptr) continue;
    notes.push_back(
        {cut, absl::StrCat("axis ", cut.axis, " of argument ", cut.value,
                           " is whole: ", end->op->name, " takes all of it")});
  }
  return notes;
}

}  // namespace

absl::StatusOr<Sharding> Shard(const Module& module, const ShardSpec& spec) {
  HAWSER_ASSIGN_OR_RETURN(const Cuts cuts, Cuts::Make(module, spec));
  Sharding sharding{.whole = module.signature(),
                    .axes = AxesOf(module, cuts),
                    .notes = NotesOf(spec, cuts),
                    .tasks = {}};
  if (spec.strict && !sharding.notes.empty()) {
    return InvalidArgument(sharding.notes[0].why);
  }
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

std::string Explain(const Sharding& sharding, int tasks) {
  std::set<const Module*> modules;
  for (const ShardTask& task : sharding.tasks) {
    modules.insert(task.module.get());
  }
  std::string text =
      absl::StrCat(sharding.whole.ToString(), ": ", sharding.tasks.size(),
                   " tasks, ", modules.size(), " modules\n");
  const auto names = [](absl::string_view of,
                        const std::vector<ShardAxis::In>& in) {
    std::string list;
    for (const ShardAxis::In& one : in) {
      absl::StrAppend(&list, " ", of, one.value, ".", one.axis);
    }
    return list;
  };
  for (const ShardAxis& axis : sharding.axes) {
    const size_t shown = std::min<size_t>(axis.sizes.size(), 16);
    absl::StrAppend(
        &text, "axis", names("", axis.parameters), names("r", axis.results),
        " = ",
        absl::StrJoin(axis.sizes.begin(), axis.sizes.begin() + shown, "+"),
        shown < axis.sizes.size() ? "+..." : "", "\n");
  }
  for (const ShardNote& note : sharding.notes) {
    absl::StrAppend(&text, "note: ", note.why, "\n");
  }
  for (int t = 0; t < tasks && t < static_cast<int>(sharding.tasks.size());
       ++t) {
    const ShardTask& task = sharding.tasks[t];
    absl::StrAppend(&text, "task ", t, ":");
    for (const Piece& piece : task.takes) {
      absl::StrAppend(&text, " ", piece.value, ToString(piece.box));
    }
    absl::StrAppend(&text, " ->");
    for (const Piece& place : task.gives) {
      absl::StrAppend(&text, " r", place.value, ToString(place.box));
    }
    absl::StrAppend(&text, "\n");
  }
  if (static_cast<int>(sharding.tasks.size()) > tasks) {
    absl::StrAppend(&text, "...\n");
  }
  return text;
}

}  // namespace hawser
