#include "kernels/plan/fusion/groups.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/ir/leaves.h"

namespace hawser::plan {
namespace {

// Reach gives up after so many readers.
constexpr int kReachBudget = 1024;
// Most groups have so many points.
constexpr size_t kUsualPoints = 7;
// Groups have at least so many members on average: few computations have
// smaller ones.
constexpr size_t kFewMembers = 4;
// Labels of groups that follow each other leave room for others.
constexpr int64_t kLabelGap = int64_t{1} << 24;

}  // namespace

Groups::Groups(const Computation& computation, const Target& target)
    : c_(computation),
      target_(target),
      readers_(computation.num_values()),
      is_result_(computation.num_values(), false),
      maker_(computation.num_values(), -1) {
  for (const ValueId v : computation.results()) is_result_[v] = true;
  rows_.reserve(computation.instructions().size());
  groups_.reserve(computation.instructions().size() / kFewMembers);
  for (const Instruction& i : computation.instructions()) {
    rows_.push_back(&NodeOf(computation, i));
  }
}

absl::InlinedVector<GroupId, 2> Groups::ReadersOf(const Instruction& i) const {
  if (i.num_results == 1) return readers_[i.first_result];
  absl::InlinedVector<GroupId, 2> found;
  for (int k = 0; k < i.num_results; ++k) {
    for (const GroupId g : readers_[i.first_result + k]) {
      if (std::find(found.begin(), found.end(), g) == found.end()) {
        found.push_back(g);
      }
    }
  }
  return found;
}

bool Groups::ReadsWhole(GroupId g, int instruction) const {
  const auto& whole = groups_[g].whole;
  return std::any_of(whole.begin(), whole.end(),
                     [&](ValueId v) { return c_.producer(v) == instruction; });
}

bool Groups::IsScalarConstant(ValueId value) const {
  const Instruction& i = c_.instructions()[c_.producer(value)];
  return i.op == &kConstant && c_.shape(value).num_elements() == 1;
}

void Groups::Read(ValueId value, GroupId g) {
  readers_[value].push_back(g);
  groups_[g].reads.push_back(value);
  if (!IsScalarConstant(value)) ++groups_[g].num_reads;
}

// The group evaluates the instruction's results from now on.
void Groups::Forget(int instruction, GroupId g) {
  const Instruction& i = c_.instructions()[instruction];
  for (int k = 0; k < i.num_results; ++k) {
    auto& readers = readers_[i.first_result + k];
    // From the back, where a walk over all readers leaves off.
    const auto at = std::find(readers.rbegin(), readers.rend(), g);
    if (at == readers.rend()) continue;
    readers.erase(std::next(at).base());
    if (!IsScalarConstant(i.first_result + k)) --groups_[g].num_reads;
  }
}

void Groups::Write(int instruction, GroupId g) {
  const Instruction& i = c_.instructions()[instruction];
  for (int k = 0; k < i.num_results; ++k) {
    const ValueId v = i.first_result + k;
    if (readers_[v].empty() && !is_result_[v]) continue;
    groups_[g].outputs.push_back(v);
    maker_[v] = g;
    Reach(readers_[v], g, /*except=*/g);
    if (!reached_.empty()) order_.MoveBehind(g, reached_);
  }
}

void Groups::AddAlone(int instruction) {
  const GroupId g = size();
  groups_.emplace_back();
  order_.AddFirst();
  groups_[g].members.push_back(instruction);
  Write(instruction, g);
  for (const ValueId v : c_.instructions()[instruction].operands) {
    const auto& readers = readers_[v];
    if (readers.empty() || readers.back() != g) Read(v, g);
  }
}

GroupId Groups::AddOwn(int instruction) {
  const GroupId g = size();
  const Instruction& i = c_.instructions()[instruction];
  groups_.emplace_back();
  order_.AddFirst();
  Group& group = groups_[g];
  if (row(instruction).node == NodeClass::kReduce) {
    group.reduction = AxesOfReduce(c_, i);
    group.points = std::make_unique<PointGraph>(
        c_, group.reduction->Domain(),
        static_cast<int>(group.reduction->kept.size()));
  } else {
    const Dims& dims = c_.shape(i.first_result).dims();
    group.points =
        std::make_unique<PointGraph>(c_, dims, static_cast<int>(dims.size()));
  }
  group.points->Reserve(kUsualPoints);
  Write(instruction, g);
  for (int k = 0; k < i.num_results; ++k) {
    const ValueId v = i.first_result + k;
    if (maker_[v] != g) continue;
    const MapId m =
        group.points->AddMap(IndexMap::Identity(c_.shape(v).dims()));
    group.points->Demand(v, m, 0, -1);
  }
  Inline(instruction, g);
  return g;
}

GroupId Groups::AddDot(int exit) {
  const GroupId g = AddOwn(exit);
  groups_[g].is_dot = true;
  return g;
}

void Groups::Inline(int instruction, GroupId g) {
  Forget(instruction, g);
  groups_[g].members.push_back(instruction);
  demanded_.clear();
  groups_[g].points->Expand(instruction, &demanded_);
  for (const ValueId v : demanded_) {
    const auto& whole = groups_[g].whole;
    if (std::find(whole.begin(), whole.end(), v) == whole.end()) Read(v, g);
  }
  // Factors of a product, and what the result does not depend on at all.
  const Instruction& i = c_.instructions()[instruction];
  Group& group = groups_[g];
  for (const ValueId v : i.operands) {
    const bool known = group.points->Demanded(v);
    if (known && row(instruction).node != NodeClass::kDot) continue;
    const bool again = std::find(group.whole.begin(), group.whole.end(), v) !=
                       group.whole.end();
    if (again) continue;
    group.whole.push_back(v);
    if (!known) Read(v, g);
  }
}

void Groups::Host(int instruction, GroupId g) {
  Forget(instruction, g);
  Write(instruction, g);
  Inline(instruction, g);
}

void Groups::Adopt(int instruction, GroupId g, const IndexMap& map) {
  const Instruction& i = c_.instructions()[instruction];
  PointGraph& points = *groups_[g].points;
  for (int k = 0; k < i.num_results; ++k) {
    points.Demand(i.first_result + k, points.AddMap(map), 0, -1);
  }
  Host(instruction, g);
}

void Groups::MakeReduction(GroupId g, const ReduceAxes& axes,
                           absl::Span<const IndexExpr> back) {
  groups_[g].points->ChangeDomain(axes.Domain(),
                                  static_cast<int>(axes.kept.size()), back);
  groups_[g].reduction = axes;
}

void Groups::Join(absl::Span<const GroupId> into) {
  std::vector<GroupId> number(groups_.size());
  std::vector<Group> joined;
  for (GroupId g = 0; g < size(); ++g) {
    Group& group = groups_[g];
    if (into[g] == g) {
      number[g] = static_cast<GroupId>(joined.size());
      joined.push_back(std::move(group));
      continue;
    }
    number[g] = number[into[g]];
    Group& to = joined[number[g]];
    const auto append = [](const auto& more, auto& all) {
      for (const auto& one : more) {
        if (!absl::c_linear_search(all, one)) all.push_back(one);
      }
    };
    append(group.members, to.members);
    absl::c_sort(to.members, std::greater<int>());
    append(group.outputs, to.outputs);
    absl::c_sort(to.outputs);
    append(group.reads, to.reads);
    append(group.whole, to.whole);
  }
  groups_ = std::move(joined);
  for (GroupId& maker : maker_) {
    if (maker >= 0) maker = number[maker];
  }
  for (ValueId v = 0; v < c_.num_values(); ++v) {
    auto& readers = readers_[v];
    absl::InlinedVector<GroupId, 2> renumbered;
    for (const GroupId g : readers) {
      const bool evaluates = absl::c_binary_search(
          groups_[number[g]].members, c_.producer(v), std::greater<int>());
      if (!evaluates && !absl::c_linear_search(renumbered, number[g])) {
        renumbered.push_back(number[g]);
      }
    }
    readers = std::move(renumbered);
  }
}

bool Groups::HasRoom(int instruction, GroupId g, bool writes) const {
  const Group& group = groups_[g];
  const Instruction& i = c_.instructions()[instruction];
  const bool chooses = i.operands.size() > 1 && i.op->Is(kDataMovement);
  int fresh = 0;
  size_t points = 0;
  int depth = 0;
  for (int k = 0; k < i.num_results; ++k) {
    const ValueId v = i.first_result + k;
    const size_t here = group.points->PointsOf(v).size();
    points += here;
    if (chooses) depth = std::max(depth, group.points->ScopeDepth(v));
    const size_t own = here > 0 ? 1 : 0;
    if (own > 0) --fresh;
    if (writes && (is_result_[v] || readers_[v].size() > own)) ++fresh;
  }
  for (const ValueId v : i.operands) {
    if (!group.points->Demanded(v) && !IsScalarConstant(v)) ++fresh;
  }
  const size_t grown =
      group.points->points().size() + points * i.operands.size();
  return static_cast<int>(group.members.size()) < target_.max_instructions &&
         grown <= static_cast<size_t>(target_.max_points) &&
         (fresh <= 0 ||
          group.num_reads + static_cast<int>(group.outputs.size()) + fresh <=
              target_.max_buffers) &&
         (!chooses || depth < target_.max_predicates);
}

bool Groups::MayHost(int instruction, GroupId g,
                     absl::Span<const GroupId> readers) {
  return HasRoom(instruction, g, /*writes=*/true) &&
         !MayReach(readers, g, /*except=*/g);
}

GroupId Groups::FirstOf(absl::Span<const GroupId> groups) const {
  return *absl::c_min_element(
      groups, [this](GroupId a, GroupId b) { return order_.IsBefore(a, b); });
}

bool Groups::MayReach(absl::Span<const GroupId> from, GroupId to,
                      GroupId except) {
  return !Reach(from, to, except);
}

bool Groups::Reach(absl::Span<const GroupId> from, GroupId to, GroupId except) {
  seen_.resize(groups_.size(), 0);
  ++reach_calls_;
  reached_.clear();
  int budget = kReachBudget;
  // What stands behind `to` does not lead to it.
  const auto add = [&](absl::Span<const GroupId> groups) {
    for (const GroupId g : groups) {
      if (g == except) continue;
      if (g == to || --budget < 0) return false;
      if (order_.IsBefore(g, to) && seen_[g] != reach_calls_) {
        seen_[g] = reach_calls_;
        reached_.push_back(g);
      }
    }
    return true;
  };
  if (!add(from)) return false;
  except = -1;
  for (size_t n = 0; n < reached_.size(); ++n) {
    for (const ValueId v : groups_[reached_[n]].outputs) {
      if (!add(readers_[v])) return false;
    }
  }
  return true;
}

// ---- the order --------------------------------------------------------------

void GroupOrder::AddFirst() {
  const auto g = static_cast<GroupId>(places_.size());
  const int64_t label = first_ < 0 ? 0 : places_[first_].label - kLabelGap;
  places_.push_back({label, -1, first_});
  if (first_ >= 0) places_[first_].before = g;
  first_ = g;
}

void GroupOrder::MoveBehind(GroupId g, std::vector<GroupId>& moved) {
  absl::c_sort(moved, [this](GroupId a, GroupId b) { return IsBefore(a, b); });
  const auto count = static_cast<int64_t>(moved.size());
  for (const GroupId m : moved) Unlink(m);
  const GroupId behind = places_[g].behind;
  const int64_t begin = places_[g].label;
  const int64_t end =
      behind < 0 ? begin + (count + 1) * kLabelGap : places_[behind].label;
  const int64_t step = (end - begin) / (count + 1);
  GroupId last = g;
  int64_t label = begin;
  for (const GroupId m : moved) {
    places_[m] = {label += step, last, behind};
    places_[last].behind = m;
    last = m;
  }
  if (behind >= 0) places_[behind].before = last;
  if (step == 0) Relabel();
}

void GroupOrder::Unlink(GroupId g) {
  const auto [label, before, behind] = places_[g];
  if (before >= 0) places_[before].behind = behind;
  if (behind >= 0) places_[behind].before = before;
  if (first_ == g) first_ = behind;
}

void GroupOrder::Relabel() {
  int64_t label = 0;
  for (GroupId g = first_; g >= 0; g = places_[g].behind) {
    places_[g].label = label += kLabelGap;
  }
}

}  // namespace hawser::plan
