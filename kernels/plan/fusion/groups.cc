#include "kernels/plan/fusion/groups.h"

#include <algorithm>
#include <utility>

#include "core/ir/leaves.h"

namespace hawser::plan {
namespace {

// Groups looked at before MayReach gives up.
constexpr int kReachBudget = 4096;
// Most groups have so many points.
constexpr size_t kUsualPoints = 7;
// Groups have at least so many members on average: few computations have
// smaller ones.
constexpr size_t kFewMembers = 4;

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
  }
}

void Groups::AddAlone(int instruction) {
  const GroupId g = size();
  groups_.emplace_back();
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

bool Groups::MayReach(absl::Span<const GroupId> from, GroupId to,
                      GroupId except) {
  seen_.resize(groups_.size(), 0);
  ++reach_calls_;
  open_.clear();
  const auto open = [this](GroupId g) {
    if (seen_[g] != reach_calls_) open_.push_back(g);
    seen_[g] = reach_calls_;
  };
  int budget = kReachBudget;
  for (const GroupId g : from) {
    if (g == except) continue;
    if (g == to) return true;
    open(g);
  }
  while (!open_.empty()) {
    const GroupId g = open_.back();
    open_.pop_back();
    for (const ValueId v : groups_[g].outputs) {
      for (const GroupId reader : readers_[v]) {
        if (reader == to) return true;
        if (--budget < 0) return true;
        open(reader);
      }
    }
  }
  return false;
}

}  // namespace hawser::plan
