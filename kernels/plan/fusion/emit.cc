#include "kernels/plan/fusion/emit.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"

namespace hawser::plan {
namespace {

absl::string_view KindOf(const Group& group) {
  return group.is_dot ? "dot" : group.reduction ? "reduction" : "loop";
}

// The values that each group reads from others, each once, ascending.
class GroupInputs {
 public:
  explicit GroupInputs(const Groups& groups) {
    const Computation& c = groups.computation();
    std::vector<GroupId> member_of(c.instructions().size(), -1);  // the last
    begins_.reserve(groups.size() + 1);
    values_.reserve(2 * groups.size());
    for (GroupId g = 0; g < groups.size(); ++g) {
      const Group& group = groups.group(g);
      const size_t begin = values_.size();
      begins_.push_back(begin);
      for (const int m : group.members) member_of[m] = g;
      for (const ValueId v : group.reads) {
        if (member_of[c.producer(v)] != g) values_.push_back(v);
      }
      std::sort(values_.begin() + begin, values_.end());
    }
    begins_.push_back(values_.size());
  }

  absl::Span<const ValueId> Of(GroupId g) const {
    return absl::MakeConstSpan(values_).subspan(begins_[g],
                                                begins_[g + 1] - begins_[g]);
  }

 private:
  std::vector<ValueId> values_;  // group by group
  std::vector<size_t> begins_;   // of each group's
};

// Makers before readers; of those that are ready, the one whose last
// instruction stood first.
absl::StatusOr<std::vector<GroupId>> OrderOf(const Groups& groups,
                                             const GroupInputs& inputs) {
  const int count = groups.size();
  std::vector<int> missing(count, 0);
  using Entry = std::pair<int, GroupId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  const auto add = [&](GroupId g) {
    ready.push({groups.group(g).members.front(), g});
  };
  for (GroupId g = 0; g < count; ++g) {
    for (const ValueId v : inputs.Of(g)) {
      if (groups.MakerOf(v) >= 0) ++missing[g];  // else a parameter
    }
    if (missing[g] == 0) add(g);
  }
  std::vector<GroupId> order;
  order.reserve(count);
  while (!ready.empty()) {
    const GroupId g = ready.top().second;
    ready.pop();
    order.push_back(g);
    for (const ValueId v : groups.group(g).outputs) {
      for (const GroupId reader : groups.ReadersOf(v)) {
        if (--missing[reader] == 0) add(reader);
      }
    }
  }
  if (static_cast<int>(order.size()) == count) return order;
  return Internal("fusion groups of computation ", groups.computation().name(),
                  " wait for each other");
}

class Emitter {
 public:
  Emitter(const Groups& groups, absl::Span<const int> called,
          FusedBodies* bodies)
      : groups_(groups),
        from_(groups.computation()),
        called_(called),
        bodies_(*bodies),
        module_(bodies->module()),
        to_(from_.name()),
        inputs_(groups),
        mapped_(from_.num_values(), kNoValue),
        inside_(from_.num_values(), kNoValue) {}

  absl::StatusOr<int> Run() {
    for (int k = 0; k < from_.num_parameters(); ++k) {
      HAWSER_RETURN_IF_ERROR(Copy(k));
    }
    HAWSER_ASSIGN_OR_RETURN(const std::vector<GroupId> order,
                            OrderOf(groups_, inputs_));
    const size_t size = from_.num_parameters() + order.size();
    to_.Reserve(size, size);
    for (const GroupId g : order) HAWSER_RETURN_IF_ERROR(Emit(g));
    std::vector<ValueId> results;
    for (const ValueId v : from_.results()) results.push_back(mapped_[v]);
    HAWSER_RETURN_IF_ERROR(to_.SetResults(results));
    return module_.Add(std::move(to_));
  }

 private:
  absl::Status Emit(GroupId g) {
    const Group& group = groups_.group(g);
    if (group.members.size() == 1) return Copy(group.members[0]);
    HAWSER_ASSIGN_OR_RETURN(const int body, EmitBody(g));
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : inputs_.Of(g)) operands.push_back(mapped_[v]);
    Attributes kind;
    kind.Set("kind", std::string(KindOf(group)));
    HAWSER_ASSIGN_OR_RETURN(
        ValueId first,
        to_.Append(module_, kFusion, operands, std::move(kind), {body}));
    for (const ValueId v : group.outputs) mapped_[v] = first++;
    return absl::OkStatus();
  }

  // Makes the computation that the group's fusion calls.
  absl::StatusOr<int> EmitBody(GroupId g) {
    const Group& group = groups_.group(g);
    body_.parameters.clear();
    body_.steps.clear();
    body_.results.clear();
    ValueId next = 0;
    for (const ValueId v : inputs_.Of(g)) {
      inside_[v] = next++;
      body_.parameters.push_back(&from_.shape(v));
    }
    for (size_t m = group.members.size(); m-- > 0;) {
      const Instruction& i = from_.instructions()[group.members[m]];
      FusedBody::Step& step = body_.steps.emplace_back();
      step.like = &i;
      for (const ValueId v : i.operands) step.operands.push_back(inside_[v]);
      step.called = Called(i);
      for (int k = 0; k < i.num_results; ++k) {
        inside_[i.first_result + k] = next++;
      }
    }
    for (const ValueId v : group.outputs) body_.results.push_back(inside_[v]);
    return bodies_.Find(body_);
  }

  absl::InlinedVector<int, 1> Called(const Instruction& i) const {
    absl::InlinedVector<int, 1> called;
    for (const int c : i.called) called.push_back(called_[c]);
    return called;
  }

  absl::Status Copy(int instruction) {
    const Instruction& i = from_.instructions()[instruction];
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : i.operands) operands.push_back(mapped_[v]);
    HAWSER_ASSIGN_OR_RETURN(
        const ValueId first,
        to_.Append(module_, *i.op, operands, i.attributes, Called(i)));
    for (int k = 0; k < i.num_results; ++k) {
      mapped_[i.first_result + k] = first + k;
    }
    return absl::OkStatus();
  }

  const Groups& groups_;
  const Computation& from_;
  absl::Span<const int> called_;
  FusedBodies& bodies_;
  Module& module_;
  Computation to_;
  const GroupInputs inputs_;
  std::vector<ValueId> mapped_;  // to `to_`
  std::vector<ValueId> inside_;  // to the body that is made; else anything
  FusedBody body_;               // of the group at hand
};

}  // namespace

absl::StatusOr<int> EmitGroups(const Groups& groups,
                               absl::Span<const int> called,
                               FusedBodies* bodies) {
  return Emitter(groups, called, bodies).Run();
}

}  // namespace hawser::plan
