#include "client/sdk/functions/control_flow.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/probes/control_prints.h"
#include "client/sdk/probes/probes.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"

namespace hawser::sdk {
namespace {

// Both computations get the same parameters in the same order: the second one
// starts with what the first lifted, the first then takes what is new.
void LiftAll(const Tensors& lifted, Trace* trace) {
  for (const Tensor& outer : lifted) trace->Lift(outer);
}

// Each is a value or an error.
absl::Status CheckGiven(absl::Span<const Tensor> results) {
  for (const Tensor& t : results) {
    if (sdk::NodeOf(t) == nullptr) return NoValueError();
  }
  return absl::OkStatus();
}

// An invalid condition is reported by its own trace.
absl::Status CheckCondition(const Tensor& more) {
  if (more.dtype() == DType::kInvalid ||
      more.shape() == Shape::Scalar(DType::kBool)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "the condition gives ", more.shape().ToString(), ", must give bool[]",
      more.rank() == 0 ? "; a comparison does" : "; All or Any of it does");
}

// The body gives the state it takes. Errors name the first that differs.
absl::Status CheckState(const Values& initial, const Values& results) {
  if (results.size() != initial.size()) {
    return InvalidArgument("the body gives ", results.size(),
                           " tensors for a state of ", initial.size());
  }
  for (size_t i = 0; i < initial.size(); ++i) {
    if (results[i].dtype() == DType::kInvalid ||
        results[i].shape() == initial[i].shape()) {
      continue;
    }
    return InvalidArgument("the body gives ", results[i].shape().ToString(),
                           " for state ", i, ", which is ",
                           initial[i].shape().ToString());
  }
  return absl::OkStatus();
}

// All branches give what the first one gives.
absl::Status CheckBranches(const Values& a, const Values& b) {
  if (a.size() != b.size()) {
    return InvalidArgument("the branches give ", a.size(), " and ", b.size(),
                           " results");
  }
  for (size_t i = 0; i < a.size(); ++i) {
    // An invalid result is reported by its own trace.
    if (a[i].dtype() == DType::kInvalid || b[i].dtype() == DType::kInvalid ||
        a[i].shape() == b[i].shape()) {
      continue;
    }
    return InvalidArgument("the branches give ", a[i].shape().ToString(),
                           " and ", b[i].shape().ToString(), " as result ", i);
  }
  return absl::OkStatus();
}

// A branch that has been traced. After its own results it returns the tensors
// of what the branches up to it print, in their order.
struct Branch {
  Values results;
  std::vector<Printed> printed;
  std::unique_ptr<Trace> trace =
      std::make_unique<Trace>("branch", Captures::kLift);
};

// Traces a branch after others.
Branch TraceBranch(absl::FunctionRef<Values()> branch,
                   const std::vector<Branch>& before, SourceLocation where) {
  Branch traced;
  Trace& trace = *traced.trace;
  if (!before.empty()) LiftAll(before.back().trace->lifted(), &trace);
  const Trace::Scope scope(&trace);
  traced.results = branch();
  traced.printed = trace.TakePrinted();
  trace.Return(traced.results, where);
  for (const Branch& other : before) {
    trace.Return(NotPrintedHere(other.printed, where), where);
  }
  trace.Return(PrintedHere(&traced.printed, where), where);
  return traced;
}

// The region of branch i, which gives what all of them print. The last one has
// lifted what any of them uses. Errors: as it was traced.
absl::StatusOr<Region> FinishBranch(std::vector<Branch>* branches, size_t i,
                                    SourceLocation where) {
  Trace& trace = *(*branches)[i].trace;
  LiftAll(branches->back().trace->lifted(), &trace);
  {
    const Trace::Scope scope(&trace);
    for (size_t k = i + 1; k < branches->size(); ++k) {
      trace.Return(NotPrintedHere((*branches)[k].printed, where), where);
    }
  }
  return trace.FinishRegion();
}

enum class BranchOrder { kAsGiven, kReversed };

// Branches are traced as given; `order` is that of their numbers.
Values RunBranches(const OpScope& s, const Tensor& index, BranchOrder order,
                   absl::Span<const absl::FunctionRef<Values()>> functions) {
  std::vector<Branch> branches;
  for (const auto& function : functions) {
    branches.push_back(TraceBranch(function, branches, s.where()));
  }
  const Values& results = branches[0].results;
  const auto fail = [&](const Tensor& error) {
    return Values(results.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  std::vector<Region> regions;
  for (size_t i = 0; i < branches.size(); ++i) {
    const absl::Status given = CheckGiven(branches[i].results);
    if (!given.ok()) return fail(s.Fail(given));
    auto region = FinishBranch(&branches, i, s.where());
    if (!region.ok()) return fail(s.Keep(region.status()));
    const absl::Status same = CheckBranches(results, branches[i].results);
    if (!same.ok()) return fail(s.Fail(same));
    regions.push_back(*std::move(region));
  }
  if (order == BranchOrder::kReversed)
    std::reverse(regions.begin(), regions.end());
  Tensors operands = {index};
  const Tensors& lifted = branches.back().trace->lifted();
  operands.insert(operands.end(), lifted.begin(), lifted.end());
  std::vector<Printed> printed;
  for (const Branch& branch : branches) {
    printed.insert(printed.end(), branch.printed.begin(), branch.printed.end());
  }
  const Values given = ResultsOf(s.Add(kCase, operands, {}, regions),
                                 results.size() + 2 * printed.size());
  ReplaceTensors(absl::MakeConstSpan(given).subspan(results.size()), &printed);
  for (Printed& p : printed) Show(std::move(p));
  return Values(given.begin(), given.begin() + results.size());
}

// Adds a loop that has been traced and checked.
Values AddLoop(const OpScope& s, PrintingLoop loop) {
  if (loop.prints()) return AddPrintingLoop(s, std::move(loop));
  Values operands = loop.initial;
  operands.insert(operands.end(), loop.lifted.begin(), loop.lifted.end());
  const Region called[] = {loop.condition, loop.body};
  return ResultsOf(
      s.Add(kWhile, operands,
            {{"num_invariant", static_cast<int64_t>(loop.lifted.size())}},
            called),
      loop.initial.size());
}

// Entries are along axis 0 of each.
absl::Status CheckEntries(const Values& xs) {
  if (xs.empty()) return InvalidArgument("there are no entries");
  for (const Tensor& x : xs) {
    if (x.rank() == 0 || x.shape().dim(0) != xs[0].shape().dim(0)) {
      return InvalidArgument("entries are along axis 0 of ",
                             xs[0].shape().ToString(), " and ",
                             x.shape().ToString(), ", which must be of one size");
    }
  }
  return absl::OkStatus();
}

Dims WithoutFirst(const Tensor& x) {
  Dims dims = x.shape().dims();
  if (!dims.empty()) dims.erase(dims.begin());
  return dims;
}

Tensor EntryOf(const Tensor& x, const Tensor& i) {
  return Reshape(SliceAlongAxis(x, i, 1, 0), WithoutFirst(x));
}

Tensor WithEntry(const Tensor& stack, const Tensor& i, const Tensor& y) {
  Dims dims = y.shape().dims();
  std::vector<Operand> starts(dims.size() + 1, Operand(0));
  starts[0] = Operand(i);
  dims.insert(dims.begin(), 1);
  return PutSlice(stack, starts, Reshape(y, dims));
}

// Returns the tensors that one iteration stacks, in a trace of its own, which
// is thrown away: only their shapes are used.
Values StackedBy(ScanBody body, const Values& initial, const Values& xs,
                 SourceLocation where) {
  Trace probe("scan", Captures::kLift);
  const Values state = probe.Parameters(initial, where);
  Values entry;
  for (const Tensor& x : xs) {
    entry.push_back(
        probe.Parameter(Shape::Of(x.dtype(), WithoutFirst(x)), where));
  }
  const Trace::Scope scope(&probe);
  Values stacked = body(state, entry).second;
  probe.TakePrinted();
  return stacked;
}

}  // namespace

Values TensorsOf(const Flat& flat, SourceLocation where) {
  Values out;
  for (const Leaf& leaf : flat.leaves) out.push_back(ToTensor(leaf, where));
  return out;
}

Values RunWhile(const Values& initial,
                absl::FunctionRef<Tensor(const Values&)> condition,
                absl::FunctionRef<Values(const Values&)> body,
                SourceLocation where) {
  const OpScope s("While", where, initial);
  const auto fail = [&](const Tensor& error) {
    return Values(initial.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  Trace condition_trace("condition", Captures::kLift);
  Trace body_trace("body", Captures::kLift);
  PrintingLoop loop{.initial = initial};
  Tensor more;
  {
    const Values state = condition_trace.Parameters(initial, where);
    const Trace::Scope scope(&condition_trace);
    more = condition(state);
    loop.in_condition = condition_trace.TakePrinted();
    Values given = {more};
    AppendTensors(loop.in_condition, &given);
    condition_trace.Return(given, where);
  }
  Values next;
  {
    const Values state = body_trace.Parameters(initial, where);
    LiftAll(condition_trace.lifted(), &body_trace);
    const Trace::Scope scope(&body_trace);
    next = body(state);
    loop.in_body = body_trace.TakePrinted();
    Values given = next;
    AppendTensors(loop.in_body, &given);
    body_trace.Return(given, where);
  }
  absl::Status given = CheckGiven({&more, 1});
  if (given.ok()) given = CheckGiven(next);
  if (!given.ok()) return fail(s.Fail(given));
  LiftAll(body_trace.lifted(), &condition_trace);
  auto condition_region = condition_trace.FinishRegion();
  if (!condition_region.ok()) return fail(s.Keep(condition_region.status()));
  auto body_region = body_trace.FinishRegion();
  if (!body_region.ok()) return fail(s.Keep(body_region.status()));
  absl::Status fits = CheckCondition(more);
  if (fits.ok()) fits = CheckState(initial, next);
  if (!fits.ok()) return fail(s.Fail(fits));
  loop.lifted = Values(body_trace.lifted().begin(), body_trace.lifted().end());
  loop.condition = *std::move(condition_region);
  loop.body = *std::move(body_region);
  return AddLoop(s, std::move(loop));
}

Values RunFor(int64_t turns, const Values& initial,
              absl::FunctionRef<Values(const Tensor&, const Values&)> body,
              SourceLocation where) {
  const OpScope s("For", where, initial);
  if (s.ok() && turns < 0) {
    return Values(initial.size(),
                  s.Fail(InvalidArgument("there cannot be ", turns, " turns")));
  }
  if (!s.ok()) return Values(initial.size(), s.error());
  const DType count = turns > std::numeric_limits<int32_t>::max()
                          ? DType::kS64
                          : DType::kS32;
  // The counter is after the state, so that errors count states from 0.
  Values state = initial;
  state.push_back(s.ConstantOf(Number(0), count));
  Values results = RunWhile(
      state,
      [&](const Values& v) {
        const OpScope::Formula numbers;
        return Lt(v.back(), turns);
      },
      [&](const Values& v) {
        Values next = body(v.back(), Values(v.begin(), v.end() - 1));
        const OpScope::Formula numbers;
        next.push_back(v.back() + 1);
        return next;
      },
      where);
  results.pop_back();
  return results;
}

Values RunScan(const Values& initial, const Values& xs, ScanBody body,
               SourceLocation where) {
  Values given = initial;
  given.insert(given.end(), xs.begin(), xs.end());
  const OpScope s("Scan", where, given);
  const Values like = StackedBy(body, initial, xs, where);
  const auto fail = [&](const Tensor& error) {
    return Values(initial.size() + like.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  const absl::Status fits = CheckEntries(xs);
  if (!fits.ok()) return fail(s.Fail(fits));
  const int64_t turns = xs[0].shape().dim(0);
  Values all = initial;
  for (const Tensor& y : like) {
    if (!y.status().ok()) return fail(s.Keep(y.status()));
    Dims dims = y.shape().dims();
    dims.insert(dims.begin(), turns);
    all.push_back(s.BroadcastTo(s.ConstantOf(Number(0), y.dtype()), dims));
  }
  if (turns == 0) return all;  // there is no entry that an iteration could take
  return RunFor(
      turns, all,
      [&](const Tensor& i, const Values& now) {
        Values entry;
        for (const Tensor& x : xs) entry.push_back(EntryOf(x, i));
        const auto stacks = now.begin() + static_cast<int64_t>(initial.size());
        auto [next, ys] = body(Values(now.begin(), stacks), entry);
        if (ys.size() != like.size() || next.size() != initial.size()) {
          return next;  // which says so
        }
        for (size_t k = 0; k < ys.size(); ++k) {
          next.push_back(WithEntry(stacks[static_cast<int64_t>(k)], i, ys[k]));
        }
        return next;
      },
      where);
}

Values RunCond(const Operand& predicate, absl::FunctionRef<Values()> then_fn,
               absl::FunctionRef<Values()> else_fn) {
  const OpScope s("Cond", {&predicate});
  const absl::FunctionRef<Values()> branches[] = {then_fn, else_fn};
  Tensor index = s.ok() ? s.As(predicate) : s.error();
  if (index.rank() != 0) {
    index =
        s.Fail(InvalidArgument("the predicate is ", index.shape().ToString(),
                               ", must be a scalar; All or Any of it is, and "
                               "Select chooses by element"));
  }
  if (s.ok()) index = s.Convert(s.Convert(index, DType::kBool), DType::kS32);
  // Number 0 is the else, so that the predicate as a number names the branch.
  return RunBranches(s, index, BranchOrder::kReversed, branches);
}

Values RunSwitch(const Operand& index,
                 absl::Span<const absl::FunctionRef<Values()>> branches) {
  const OpScope s("Switch", {&index});
  const DType dtype = DTypeOf(index);
  Tensor value = s.ok() ? s.As(index) : s.error();
  if (s.ok() && !IsInteger(dtype)) {
    value = s.Fail(InvalidArgument("the index must be an integer, not ",
                                   DTypeName(dtype)));
  } else if (s.ok() && (BitWidth(dtype) > 32 || dtype == DType::kU32)) {
    // Brought in range before it is narrowed: what is out of it names the last.
    const OpScope::Formula numbers;
    const auto last = static_cast<int64_t>(branches.size()) - 1;
    value = Select(value < 0, last, Minimum(value, last));
  }
  return RunBranches(s, s.Convert(value, DType::kS32), BranchOrder::kAsGiven,
                     branches);
}

}  // namespace hawser::sdk
