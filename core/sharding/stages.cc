#include "core/sharding/stages.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/sharding/part/part_module.h"
#include "core/sharding/part/part_plan.h"

namespace hawser {
namespace {

// Results of fewer bytes are not cut into shares: a piece of some KiB takes as
// long as the message that carries it.
constexpr int64_t kLeastShared = 16 << 10;

// More tasks than any spec allows.
constexpr int64_t kVeryMany = int64_t{1} << 40;

bool AreConnected(const Stages::Group& a, const Stages::Group& b) {
  return std::any_of(a.directions.begin(), a.directions.end(),
                     [&](const Stages::Direction& direction) {
                       return std::find(b.directions.begin(),
                                        b.directions.end(),
                                        direction) != b.directions.end();
                     });
}

Stages::Group Joined(Stages::Group a, const Stages::Group& b) {
  for (const Stages::Direction& direction : b.directions) {
    if (std::find(a.directions.begin(), a.directions.end(), direction) ==
        a.directions.end()) {
      a.directions.push_back(direction);
    }
  }
  a.members.insert(a.members.end(), b.members.begin(), b.members.end());
  return a;
}

// Returns the pieces of `own` that the boxes in `asked` need; each piece lies
// wholly inside or wholly outside of each of them.
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

}  // namespace

absl::StatusOr<Stages> Stages::Make(const Module& module, const Cuts& cuts,
                                    bool split) {
  Stages stages(module, cuts);
  if (split) {
    HAWSER_ASSIGN_OR_RETURN(SplitModule made, Split(module, cuts));
    AddRepeated(made);
    HAWSER_ASSIGN_OR_RETURN(stages.staged_, Staged(made));
    for (ValueId value : made.module.entry().results()) {
      stages.stage_.push_back(made.stage[value]);
    }
    for (const Partial& partial : made.partials) {
      stages.stage_.push_back(made.stage[partial.value]);
    }
    stages.partials_ = std::move(made.partials);
  } else {
    stages.staged_ = module;
    stages.stage_.resize(module.entry().results().size(), 0);
  }
  HAWSER_RETURN_IF_ERROR(stages.FindMembers());
  stages.FindGroups();
  return stages;
}

int Stages::PartsOf(const Direction& direction) const {
  return direction.axis_class == Direction::kShares
             ? direction.number
             : cuts_.axis_class(direction.axis_class).parts();
}

Interval Stages::IntervalOf(const Direction& direction, int64_t size,
                            int i) const {
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

// The axes of a value of the whole function that are cut.
void Stages::CutLike(ValueId whole, Member& member) const {
  std::map<int, int> met;
  for (int axis = 0; axis < member.shape.rank(); ++axis) {
    const int number = cuts_.ClassOf(whole, axis);
    if (cuts_.axis_class(number).parts() < 2) continue;
    member.cuts.push_back({{number, met[number]++}, axis, 0});
  }
}

absl::StatusOr<Stages::Taken> Stages::TakenBetween(int result,
                                                   const Box& box) const {
  std::vector<MaybeBox> gives(staged_.entry().results().size());
  gives[result] = box;
  const int entry = static_cast<int>(staged_.computations().size()) - 1;
  HAWSER_ASSIGN_OR_RETURN(const auto asks, AsksOf(staged_, entry, gives));
  Taken taken;
  for (size_t i = 0; i < partials_.size(); ++i) {
    const MaybeBox& asked = asks[whole_.num_parameters() + i];
    if (!asked.has_value()) continue;
    taken.elements += ElementsOf(*asked);
    taken.cells = std::max(taken.cells, partials_[i].cells);
  }
  return taken;
}

// A result of partial values that is whole: its longest axis, in as many shares
// as there are of those, unless each share would need most of them.
absl::Status Stages::CutIntoShares(Member& member) const {
  if (member.stage == 0 || member.shape.byte_size() < kLeastShared) {
    return absl::OkStatus();
  }
  Box box = WholeBox(member.shape);
  HAWSER_ASSIGN_OR_RETURN(const Taken all, TakenBetween(member.result, box));
  const Dims dims = member.shape.dims();
  const auto longest = std::max_element(dims.begin(), dims.end());
  if (all.cells < 2 || *longest < all.cells) return absl::OkStatus();
  const int axis = static_cast<int>(longest - dims.begin());
  const Direction direction{Direction::kShares, all.cells};
  box[axis] = IntervalOf(direction, *longest, 0);
  HAWSER_ASSIGN_OR_RETURN(const Taken own, TakenBetween(member.result, box));
  if (4 * own.elements > 3 * all.elements) return absl::OkStatus();
  member.cuts.push_back({direction, axis, 0});
  return absl::OkStatus();
}

absl::Status Stages::FindMembers() {
  const Computation& entry = staged_.entry();
  for (int k = 0; k < static_cast<int>(entry.results().size()); ++k) {
    Member& member = members_.emplace_back(
        Member{k, entry.shape(entry.results()[k]), stage_[k], {}});
    if (k < num_results()) {
      CutLike(whole_.results()[k], member);
      if (member.cuts.empty()) HAWSER_RETURN_IF_ERROR(CutIntoShares(member));
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
  return absl::OkStatus();
}

void Stages::FindGroups() {
  std::map<int, std::vector<Group>> stages;
  for (int m = 0; m < static_cast<int>(members_.size()); ++m) {
    if (members_[m].cuts.empty()) continue;
    Group own{{}, {m}};
    for (const Member::Cut& cut : members_[m].cuts) {
      own.directions.push_back(cut.direction);
    }
    std::vector<Group>& groups = stages[members_[m].stage];
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
    std::vector<Group>& groups = stages[members_[m].stage];
    if (groups.empty()) groups.emplace_back();
    groups[0].members.push_back(m);
  }
  for (auto& [stage, groups] : stages) {
    for (Group& group : groups) groups_.push_back(std::move(group));
  }
}

int64_t Stages::num_tasks() const {
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

// Returns the box of a member that the task of these parts gives: the first
// part of a direction gives a member that lacks it.
MaybeBox Stages::BoxOf(const Member& member, const Group& group,
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
      box[one.axis] = IntervalOf(one.direction, box[one.axis].end, parts[at]);
    } else if (parts[at] != one.part) {
      return std::nullopt;
    }
  }
  for (size_t d = 0; d < parts.size(); ++d) {
    if (!cut[d] && parts[d] != 0) return std::nullopt;
  }
  return box;
}

std::vector<Piece> Stages::GivesOf(const Group& group,
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

absl::Status Stages::AddTasks(Sharding& sharding) const {
  const Computation& entry = staged_.entry();
  for (size_t i = 0; i < partials_.size(); ++i) {
    sharding.between.push_back(entry.shape(entry.results()[num_results() + i]));
  }
  Asked asked(partials_.size());
  std::map<std::string, std::shared_ptr<const Module>> modules;
  std::vector<std::vector<ShardTask>> tasks(groups_.size());
  // Groups that take come before those that give.
  for (size_t g = groups_.size(); g-- > 0;) {
    std::vector<int> parts(groups_[g].directions.size(), 0);
    do {
      ShardTask task;
      task.gives = GivesOf(groups_[g], parts, asked);
      if (task.gives.empty()) continue;
      HAWSER_ASSIGN_OR_RETURN(PartModule part, PartOf(staged_, task.gives));
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

bool Stages::Next(const Group& group, std::vector<int>& parts) const {
  for (size_t d = parts.size(); d-- > 0;) {
    if (++parts[d] < PartsOf(group.directions[d])) return true;
    parts[d] = 0;
  }
  return false;
}

}  // namespace hawser
