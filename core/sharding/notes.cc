#include "core/sharding/notes.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {

std::vector<ShardNote> NotesOf(const Module& module, const ShardSpec& spec,
                               const Cuts& cuts,
                               absl::Span<const Partial> partials) {
  std::vector<bool> split(cuts.num_classes(), false);
  for (const Partial& partial : partials) {
    for (const Partial::Of& of : partial.of) split[of.axis_class] = true;
  }
  std::vector<ShardNote> notes;
  for (const AxisCut& cut : spec.parameters) {
    const int number = cuts.ClassOf(cut.value, cut);
    if (cuts.axis_class(number).parts() < 2) continue;
    const Instruction* end = cuts.EndOf(number, split);
    if (end == nullptr) continue;
    notes.push_back(
        {cut, static_cast<int>(end - module.entry().instructions().data()),
         absl::StrCat("axis ", cut.axis, " of argument ", cut.value,
                      " is whole: ", end->op->name, " takes all of it")});
  }
  return notes;
}

absl::StatusOr<std::vector<ShardNote>> NotesOf(const Module& module,
                                               const ShardSpec& spec) {
  HAWSER_ASSIGN_OR_RETURN(const Cuts cuts, Cuts::Make(module, spec));
  SplitModule made{module, {}};
  if (spec.contracted == ShardSpec::Contracted::kSplit) {
    int64_t cells = 0;
    for (const Cuts::Contraction& one : cuts.Contractions()) {
      cells = std::max(cells, one.cells);
    }
    if (cells > spec.max_tasks) {
      return InvalidArgument("the cuts make ", cells, " tasks, at most ",
                             spec.max_tasks, " are wanted");
    }
    HAWSER_ASSIGN_OR_RETURN(made, Split(module, cuts));
  }
  return NotesOf(module, spec, cuts, made.partials);
}

}  // namespace hawser
