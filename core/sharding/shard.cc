#include "core/sharding/shard.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/sharding/cuts.h"
#include "core/sharding/split.h"

namespace hawser {
namespace {

// Results of fewer bytes are not cut into shares: a piece of some KiB takes as
// long as the message that carries it.
constexpr int64_t kLeastShared = 16 << 10;

// More tasks than any spec allows.
constexpr int64_t kVeryMany = int64_t{1} << 40;

// A direction in which values are cut.
struct Direction {
  static constexpr int kShares = -1;
  int axis_class;  // or kShares: as equal shares as can be of whatever axis
  int number;  // the how manieth of its class in a value; of shares, how many
  friend bool operator==(const Direction&, const Direction&) = default;
};

// What tasks give: a result or a value between them.
struct Member {
  struct Cut {
    Direction direction;
    int axis;  // or -1: it is made by the tasks of that part alone
    int part;
  };
  int result;  // of the function in stages
  Shape shape;
  int level;  // exchanges on the longest way to it
  std::vector<Cut> cuts;
};

// Members of one level that the same tasks give: one task for each combination
// of parts of the directions.
struct Group {
  std::vector<Direction> directions;
  std::vector<int> members;
};

bool AreConnected(const Group& a, const Group& b) {
  return std::any_of(a.directions.begin(), a.directions.end(),
                     [&](const Direction& direction) {
                       return std::find(b.directions.begin(),
                                        b.directions.end(),
                                        direction) != b.directions.end();
                     });
}

Group Joined(Group a, const Group& b) {
  for (const Direction& direction : b.directions) {
    if (std::find(a.directions.begin(), a.directions.end(), direction) ==
        a.directions.end()) {
      a.directions.push_back(direction);
    }
  }
  a.members.insert(a.members.end(), b.members.begin(), b.members.end());
  return a;
}

// What of `own` the boxes in `asked` need, so that each piece lies wholly
// inside or wholly outside of each of them.
std::vector<Box> PiecesOf(const Box& own, const std::set<Box>& asked) {
  std::vector<std::set<int64_t>> at(own.size());
  std::vector<const Box*> met;
  for (const Box& box : asked) {
    bool meets = true;
    for (size_t i = 0; i < own.size(); ++i) {
      meets = meets && box[i].begin < own[i].end && own[i].begin < box[i].end;
    }
    if (!meets) continue;
    met.push_back(&box);
    for (size_t i = 0; i < own.size(); ++i) {
      at[i].insert(std::max(box[i].begin, own[i].begin));
      at[i].insert(std::min(box[i].end, own[i].end));
    }
  }
  if (met.empty()) return {};
  // Axis by axis.
  std::vector<Box> pieces(1);
  for (const std::set<int64_t>& cuts : at) {
    std::vector<Box> longer;
    for (const Box& piece : pieces) {
      for (auto end = std::next(cuts.begin()); end != cuts.end(); ++end) {
        Box next = piece;
        next.push_back({*std::prev(end), *end});
        const bool needed =
            std::any_of(met.begin(), met.end(), [&](const Box* box) {
              return Contains(Box(box->begin(), box->begin() + next.size()),
                              next);
            });
        if (needed) longer.push_back(std::move(next));
      }
    }
    pieces = std::move(longer);
  }
  return pieces;
}

// Which tasks there are: what they give, in groups, level by level. The cuts
// outlive it.
class Plan {
 public:
  static absl::StatusOr<Plan> Make(const Module& module, const Cuts& cuts,
                                   bool split) {
    Plan plan(module, cuts);
    if (split) {
      HAWSER_ASSIGN_OR_RETURN(SplitModule made, Split(module, cuts));
      HAWSER_ASSIGN_OR_RETURN(plan.staged_, Staged(made));
      plan.partials_ = std::move(made.partials);
    } else {
      plan.staged_ = module;
    }
    plan.FindLevels();
    plan.FindMembers();
    plan.FindGroups();
    return plan;
  }

  const std::vector<Partial>& partials() const { return partials_; }
  // At most: those that nothing is asked of are none.
  int64_t num_tasks() const;
  // Fills `between` and `tasks`.
  absl::Status AddTasks(Sharding& sharding) const;

 private:
  using Asked = std::vector<std::set<Box>>;  // of each value between tasks
  // A value's exchanges on the longest way to it, and of how many partial
  // values at most it is made.
  struct Level {
    int number = 0;
    int shares = 1;
  };

  Plan(const Module& module, const Cuts& cuts)
      : whole_(module.entry()), cuts_(cuts) {}
  void FindLevels();
  void FindMembers();
  // Members of a level whose directions are connected are one group; those that
  // have none go with the first one.
  void FindGroups();
  void CutLike(ValueId whole, Member& member) const;
  void CutIntoShares(int shares, Member& member) const;
  int PartsOf(const Direction& direction) const {
    return direction.axis_class == Direction::kShares
               ? direction.number
               : cuts_.axis_class(direction.axis_class).parts();
  }
  Interval PartOf(const Direction& direction, int64_t size, int i) const {
    if (direction.axis_class != Direction::kShares) {
      return cuts_.axis_class(direction.axis_class).part(i);
    }
    const int64_t least = size / direction.number;
    const int64_t more = size % direction.number;
    const auto begin = [&](int64_t at) {
      return at * least + std::min(at, more);
    };
    return {begin(i), begin(i + 1)};
  }
  // The next combination of the directions' parts.
  bool Next(const Group& group, std::vector<int>& parts) const;
  MaybeBox BoxOf(const Member& member, const Group& group,
                 const std::vector<int>& parts) const;
  std::vector<Piece> GivesOf(const Group& group, const std::vector<int>& parts,
                             const Asked& asked) const;
  int num_results() const { return static_cast<int>(whole_.results().size()); }

  const Computation& whole_;
  const Cuts& cuts_;
  Module staged_;  // the function in stages
  std::vector<Partial> partials_;
  std::vector<Level> levels_;
  std::vector<Member> members_;
  std::vector<Group> groups_;  // by level
};

// The axes of a value of the whole function that are cut.
void Plan::CutLike(ValueId whole, Member& member) const {
  std::map<int, int> met;
  for (int axis = 0; axis < member.shape.rank(); ++axis) {
    const int number = cuts_.ClassOf(whole, axis);
    if (cuts_.axis_class(number).parts() < 2) continue;
    member.cuts.push_back({{number, met[number]++}, axis, 0});
  }
}

// A result that is whole, of values between tasks: the longest axis.
void Plan::CutIntoShares(int shares, Member& member) const {
  const Dims dims = member.shape.dims();
  const auto longest = std::max_element(dims.begin(), dims.end());
  if (member.shape.byte_size() < kLeastShared || *longest < shares) return;
  member.cuts.push_back({{Direction::kShares, shares},
                         static_cast<int>(longest - dims.begin()),
                         0});
}

void Plan::FindLevels() {
  const Computation& entry = staged_.entry();
  const int parameters = whole_.num_parameters();
  levels_.resize(entry.num_values());
  for (const Instruction& instruction : entry.instructions()) {
    if (instruction.op == &kParameter) continue;
    Level own;
    for (ValueId operand : instruction.operands) {
      Level& of = levels_[operand];
      if (operand >= parameters && operand < entry.num_parameters()) {
        const int partial = operand - parameters;
        const ValueId made = entry.results()[num_results() + partial];
        of = {levels_[made].number + 1, partials_[partial].cells};
      }
      own = {std::max(own.number, of.number), std::max(own.shares, of.shares)};
    }
    for (int k = 0; k < instruction.num_results; ++k) {
      levels_[instruction.first_result + k] = own;
    }
  }
}

void Plan::FindMembers() {
  const Computation& entry = staged_.entry();
  for (int k = 0; k < static_cast<int>(entry.results().size()); ++k) {
    const ValueId value = entry.results()[k];
    const Level& level = levels_[value];
    Member& member =
        members_.emplace_back(Member{k, entry.shape(value), level.number, {}});
    if (k < num_results()) {
      CutLike(whole_.results()[k], member);
      if (member.cuts.empty() && level.shares > 1) {
        CutIntoShares(level.shares, member);
      }
      continue;
    }
    const Partial& partial = partials_[k - num_results()];
    CutLike(partial.whole, member);
    for (const Partial::Of& of : partial.of) {
      int met = 0;
      for (const Member::Cut& cut : member.cuts) {
        met += cut.direction.axis_class == of.axis_class ? 1 : 0;
      }
      member.cuts.push_back({{of.axis_class, met}, -1, of.part});
    }
  }
}

void Plan::FindGroups() {
  std::map<int, std::vector<Group>> levels;
  for (int m = 0; m < static_cast<int>(members_.size()); ++m) {
    if (members_[m].cuts.empty()) continue;
    Group own{{}, {m}};
    for (const Member::Cut& cut : members_[m].cuts) {
      own.directions.push_back(cut.direction);
    }
    std::vector<Group>& groups = levels[members_[m].level];
    std::vector<Group> apart;
    for (Group& group : groups) {
      if (AreConnected(group, own)) {
        own = Joined(std::move(group), own);
      } else {
        apart.push_back(std::move(group));
      }
    }
    apart.push_back(std::move(own));
    groups = std::move(apart);
  }
  for (int m = 0; m < static_cast<int>(members_.size()); ++m) {
    if (!members_[m].cuts.empty()) continue;
    std::vector<Group>& groups = levels[members_[m].level];
    if (groups.empty()) groups.emplace_back();
    groups[0].members.push_back(m);
  }
  for (auto& [level, groups] : levels) {
    for (Group& group : groups) groups_.push_back(std::move(group));
  }
}

int64_t Plan::num_tasks() const {
  int64_t tasks = 0;
  for (const Group& group : groups_) {
    int64_t product = 1;
    for (const Direction& direction : group.directions) {
      product = std::min(product * PartsOf(direction), kVeryMany);
    }
    tasks += product;
  }
  return tasks;
}

// What the task of these parts gives of a member: one that lacks a direction is
// given by the first part of it.
MaybeBox Plan::BoxOf(const Member& member, const Group& group,
                     const std::vector<int>& parts) const {
  std::vector<bool> cut(parts.size(), false);
  Box box = WholeBox(member.shape);
  for (const Member::Cut& one : member.cuts) {
    const auto& directions = group.directions;
    const auto at =
        std::find(directions.begin(), directions.end(), one.direction) -
        directions.begin();
    cut[at] = true;
    if (one.axis >= 0) {
      box[one.axis] = PartOf(one.direction, box[one.axis].end, parts[at]);
    } else if (parts[at] != one.part) {
      return std::nullopt;
    }
  }
  for (size_t d = 0; d < parts.size(); ++d) {
    if (!cut[d] && parts[d] != 0) return std::nullopt;
  }
  return box;
}

std::vector<Piece> Plan::GivesOf(const Group& group,
                                 const std::vector<int>& parts,
                                 const Asked& asked) const {
  std::vector<Piece> gives;
  for (int m : group.members) {
    const Member& member = members_[m];
    MaybeBox box = BoxOf(member, group, parts);
    if (!box.has_value()) continue;
    if (member.result < num_results()) {
      gives.push_back({member.result, *std::move(box)});
      continue;
    }
    for (Box& piece : PiecesOf(*box, asked[member.result - num_results()])) {
      gives.push_back({member.result, std::move(piece)});
    }
  }
  return gives;
}

absl::Status Plan::AddTasks(Sharding& sharding) const {
  const Computation& entry = staged_.entry();
  for (size_t i = 0; i < partials_.size(); ++i) {
    sharding.between.push_back(entry.shape(entry.results()[num_results() + i]));
  }
  Asked asked(partials_.size());
  std::map<std::string, std::shared_ptr<const Module>> modules;
  std::vector<std::vector<ShardTask>> tasks(groups_.size());
  // Those that take before those that give.
  for (size_t g = groups_.size(); g-- > 0;) {
    std::vector<int> parts(groups_[g].directions.size(), 0);
    do {
      ShardTask task;
      task.gives = GivesOf(groups_[g], parts, asked);
      if (task.gives.empty()) continue;
      HAWSER_ASSIGN_OR_RETURN(PartModule part,
                              hawser::PartOf(staged_, task.gives));
      task.takes = std::move(part.takes);
      task.offsets = std::move(part.offsets);
      for (const Piece& piece : task.takes) {
        const int between = piece.value - whole_.num_parameters();
        if (between >= 0) asked[between].insert(piece.box);
      }
      auto& known = modules[Print(part.module)];
      if (known == nullptr) {
        known = std::make_shared<const Module>(std::move(part.module));
      }
      task.module = known;
      tasks[g].push_back(std::move(task));
    } while (Next(groups_[g], parts));
  }
  for (std::vector<ShardTask>& group : tasks) {
    std::move(group.begin(), group.end(), std::back_inserter(sharding.tasks));
  }
  return absl::OkStatus();
}

bool Plan::Next(const Group& group, std::vector<int>& parts) const {
  for (size_t d = parts.size(); d-- > 0;) {
    if (++parts[d] < PartsOf(group.directions[d])) return true;
    parts[d] = 0;
  }
  return false;
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
                                 const Cuts& cuts, const Plan& plan) {
  Sharding sharding{.whole = module.signature(),
                    .between = {},
                    .axes = AxesOf(module, cuts),
                    .notes = NotesOf(module, spec, cuts, plan.partials()),
                    .tasks = {}};
  if (spec.strict && !sharding.notes.empty()) {
    return InvalidArgument(sharding.notes[0].why);
  }
  HAWSER_RETURN_IF_ERROR(plan.AddTasks(sharding));
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
      HAWSER_ASSIGN_OR_RETURN(const Plan plan, Plan::Make(module, cuts, split));
      tasks = plan.num_tasks();
      if (tasks <= spec.max_tasks) return ShardAs(module, spec, cuts, plan);
    }
    if (!cuts.CutAtEveryIndex()) {
      return InvalidArgument("the cuts make ", tasks, " tasks, at most ",
                             spec.max_tasks, " are wanted");
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
    // Of the whole function, or between tasks: "b".
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
