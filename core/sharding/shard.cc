#include "core/sharding/shard.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "core/sharding/cuts.h"
#include "core/sharding/stages.h"

namespace hawser {
namespace {

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

// Errors: kInvalidArgument for a contraction that the spec refuses.
absl::Status CheckContractions(const Module& module, const Cuts& cuts,
                               const ShardSpec& spec) {
  if (spec.contracted != ShardSpec::Contracted::kRefuse) {
    return absl::OkStatus();
  }
  const Computation& entry = module.entry();
  for (const Cuts::Contraction& one : cuts.Contractions()) {
    const Instruction& instruction = entry.instructions()[one.instruction];
    const std::vector<int>& axes = one.axes[0].axes;
    for (size_t n = 0; n < axes.size(); ++n) {
      if (axes[n] < 0) continue;
      return InvalidArgument(instruction.op->name, " needs all of axis ",
                             axes[n], " of its operand ", n, ", ",
                             entry.shape(instruction.operands[n]).ToString(),
                             ", which is cut: the spec refuses that");
    }
  }
  return absl::OkStatus();
}

// The cells of the contraction that has most of them.
int64_t MostCells(const Cuts& cuts) {
  int64_t most = 1;
  for (const Cuts::Contraction& one : cuts.Contractions()) {
    most = std::max(most, one.cells);
  }
  return most;
}

absl::StatusOr<Sharding> ShardAs(const Module& module, const ShardSpec& spec,
                                 const Cuts& cuts, const Stages& stages) {
  Sharding sharding{.whole = module.signature(),
                    .between = {},
                    .axes = AxesOf(module, cuts),
                    .notes = NotesOf(module, spec, cuts, stages.partials()),
                    .tasks = {}};
  if (spec.strict && !sharding.notes.empty()) {
    return InvalidArgument(sharding.notes[0].why);
  }
  HAWSER_RETURN_IF_ERROR(stages.AddTasks(sharding));
  return sharding;
}

}  // namespace

absl::StatusOr<Sharding> Shard(const Module& module, const ShardSpec& spec) {
  const bool split = spec.contracted == ShardSpec::Contracted::kSplit;
  // Neighbours of every index are joined until there are few enough tasks.
  for (int64_t neighbours = 1;; neighbours *= 2) {
    HAWSER_ASSIGN_OR_RETURN(const Cuts cuts,
                            Cuts::Make(module, spec, neighbours));
    HAWSER_RETURN_IF_ERROR(CheckContractions(module, cuts, spec));
    int64_t tasks = split ? MostCells(cuts) : 1;
    if (tasks <= spec.max_tasks) {
      HAWSER_ASSIGN_OR_RETURN(const Stages stages,
                              Stages::Make(module, cuts, split));
      tasks = stages.num_tasks();
      if (tasks <= spec.max_tasks) return ShardAs(module, spec, cuts, stages);
    }
    if (!cuts.CutAtEveryIndex()) {
      return InvalidArgument("the cuts make ", tasks, " tasks, at most ",
                             spec.max_tasks,
                             " are wanted: cut fewer axes, or into fewer "
                             "parts");
    }
  }
}

Exchange ExchangeOf(const Sharding& sharding) {
  const size_t parameters = sharding.whole.parameters.size();
  const size_t results = sharding.whole.results.size();
  std::vector<int> stages(sharding.between.size(), 0);  // that give it
  Exchange exchange;
  for (const ShardTask& task : sharding.tasks) {
    int before = 0;
    for (const Piece& piece : task.takes) {
      if (piece.value < static_cast<int>(parameters)) continue;
      const size_t between = piece.value - parameters;
      before = std::max(before, stages[between]);
      exchange.bytes +=
          ShapeOf(sharding.between[between], piece.box).byte_size();
    }
    for (const Piece& piece : task.gives) {
      if (piece.value < static_cast<int>(results)) continue;
      int& stage = stages[piece.value - results];
      stage = std::max(stage, before + 1);
    }
    exchange.stages = std::max(exchange.stages, before + 1);
    exchange.stage_of.push_back(before);
  }
  return exchange;
}

std::string Explain(const Sharding& sharding, int tasks) {
  std::set<const Module*> modules;
  for (const ShardTask& task : sharding.tasks) {
    modules.insert(task.module.get());
  }
  std::string text =
      absl::StrCat(sharding.whole.ToString(), ": ", sharding.tasks.size(),
                   " tasks, ", modules.size(), " modules");
  if (const Exchange exchange = ExchangeOf(sharding); exchange.stages > 1) {
    absl::StrAppend(&text, ", ", exchange.stages, " stages, ", exchange.bytes,
                    " bytes between tasks");
  }
  text += "\n";
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
    // The value is of the whole function, or between tasks: "b".
    const auto add = [&](absl::string_view of, size_t count,
                         const Piece& piece) {
      const int between = piece.value - static_cast<int>(count);
      absl::StrAppend(&text, " ", between < 0 ? of : "b",
                      between < 0 ? piece.value : between, ToString(piece.box));
    };
    for (const Piece& piece : task.takes) {
      add("", sharding.whole.parameters.size(), piece);
    }
    absl::StrAppend(&text, " ->");
    for (const Piece& piece : task.gives) {
      add("r", sharding.whole.results.size(), piece);
    }
    absl::StrAppend(&text, "\n");
  }
  if (static_cast<int>(sharding.tasks.size()) > tasks) {
    absl::StrAppend(&text, "...\n");
  }
  return text;
}

}  // namespace hawser
