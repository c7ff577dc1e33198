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
        mapped_(from_.num_values(), kNoValue),
        member_of_(from_.instructions().size(), -1),
        inside_(from_.num_values(), kNoValue) {}

  absl::StatusOr<int> Run() {
    for (int k = 0; k < from_.num_parameters(); ++k) {
      HAWSER_RETURN_IF_ERROR(Copy(k));
    }
    HAWSER_ASSIGN_OR_RETURN(const std::vector<GroupId> order, Order());
    const size_t size = from_.num_parameters() + order.size();
    to_.Reserve(size, size);
    for (const GroupId g : order) HAWSER_RETURN_IF_ERROR(Emit(g));
    std::vector<ValueId> results;
    for (const ValueId v : from_.results()) results.push_back(mapped_[v]);
    HAWSER_RETURN_IF_ERROR(to_.SetResults(results));
    return module_.Add(std::move(to_));
  }

 private:
  // What a group reads from others, each once, ascending.
  std::vector<ValueId> Inputs(GroupId g) {
    const Group& group = groups_.group(g);
    for (const int m : group.members) member_of_[m] = g;
    std::vector<ValueId> inputs;
    inputs.reserve(group.reads.size());
    for (const ValueId v : group.reads) {
      if (member_of_[from_.producer(v)] != g) inputs.push_back(v);
    }
    std::sort(inputs.begin(), inputs.end());
    return inputs;
  }

  // Makers before readers; of those that are ready, the one whose last
  // instruction stood first.
  absl::StatusOr<std::vector<GroupId>> Order() {
    const int count = groups_.size();
    std::vector<int> missing(count, 0);
    std::vector<std::vector<GroupId>> readers(count);
    inputs_.resize(count);
    for (GroupId g = 0; g < count; ++g) {
      inputs_[g] = Inputs(g);
      for (const ValueId v : inputs_[g]) {
        const GroupId maker = groups_.MakerOf(v);
        if (maker < 0) continue;  // a parameter
        readers[maker].push_back(g);
        ++missing[g];
      }
    }
    using Entry = std::pair<int, GroupId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
    const auto add = [&](GroupId g) {
      ready.push({groups_.group(g).members.front(), g});
    };
    for (GroupId g = 0; g < count; ++g) {
      if (missing[g] == 0) add(g);
    }
    std::vector<GroupId> order;
    while (!ready.empty()) {
      const GroupId g = ready.top().second;
      ready.pop();
      order.push_back(g);
      for (const GroupId reader : readers[g]) {
        if (--missing[reader] == 0) add(reader);
      }
    }
    if (static_cast<int>(order.size()) != count) {
      return Internal("fusion groups of computation ", from_.name(),
                      " wait for each other");
    }
    return order;
  }

  absl::Status Emit(GroupId g) {
    const Group& group = groups_.group(g);
    if (group.members.size() == 1) return Copy(group.members[0]);
    HAWSER_ASSIGN_OR_RETURN(const int body, EmitBody(g));
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : inputs_[g]) operands.push_back(mapped_[v]);
    HAWSER_ASSIGN_OR_RETURN(
        ValueId first,
        to_.Append(module_, kFusion, operands,
                   {{"kind", std::string(KindOf(group))}}, {body}));
    for (const ValueId v : group.outputs) mapped_[v] = first++;
    return absl::OkStatus();
  }

  // What the group's fusion calls.
  absl::StatusOr<int> EmitBody(GroupId g) {
    const Group& group = groups_.group(g);
    FusedBody body;
    ValueId next = 0;
    for (const ValueId v : inputs_[g]) {
      inside_[v] = next++;
      body.parameters.push_back(&from_.shape(v));
    }
    body.steps.reserve(group.members.size());
    for (size_t m = group.members.size(); m-- > 0;) {
      const Instruction& i = from_.instructions()[group.members[m]];
      FusedBody::Step& step = body.steps.emplace_back();
      step.like = &i;
      for (const ValueId v : i.operands) step.operands.push_back(inside_[v]);
      step.called = Called(i);
      for (int k = 0; k < i.num_results; ++k) {
        inside_[i.first_result + k] = next++;
      }
    }
    for (const ValueId v : group.outputs) body.results.push_back(inside_[v]);
    return bodies_.Find(body);
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
  std::vector<ValueId> mapped_;  // to `to_`
  std::vector<GroupId> member_of_;  // the last group that was looked at
  std::vector<ValueId> inside_;  // to the body that is made; else anything
  std::vector<std::vector<ValueId>> inputs_;
};

}  // namespace

absl::StatusOr<int> EmitGroups(const Groups& groups,
                               absl::Span<const int> called,
                               FusedBodies* bodies) {
  return Emitter(groups, called, bodies).Run();
}

}  // namespace hawser::plan
