#include "core/passes/fold.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/movement/shape.h"
#include "core/passes/rewrite/rewriter.h"

namespace hawser {
namespace {

constexpr int64_t kMaxInputBytes = 64 << 10;  // work stays in microseconds
constexpr int64_t kMaxResultBytes = 4 << 10;  // larger constants are arguments
constexpr int64_t kAlwaysSmall = 64;          // a wash on the wire

// Facts about a computation before it runs.
struct Known {
  std::vector<bool> constant;  // instructions that are constants
  std::vector<bool> folded;    // instructions to be folded
  std::vector<bool> wanted;    // their values that others need
  bool any = false;            // any is folded
  bool calls = false;          // any of these has a computation
};

bool SizesAllowFolding(const Computation& c, const Instruction& i) {
  int64_t in = 0;
  int64_t out = 0;
  for (ValueId v : i.operands) in += c.shape(v).byte_size();
  for (int k = 0; k < i.num_results; ++k) {
    out += c.shape(i.first_result + k).byte_size();
  }
  return in <= kMaxInputBytes && out <= kMaxResultBytes &&
         out <= std::max(in, kAlwaysSmall);
}

bool IsFoldable(const Computation& c, const Instruction& i, const Known& known,
                const std::vector<bool>& endless) {
  if (i.operands.empty() || i.op->Is(kControlFlow)) return false;
  // One element, repeated, fuses; an array is read.
  if (i.op == &kBroadcastInDim && c.shape(i.operands[0]).num_elements() == 1 &&
      c.shape(i.first_result).num_elements() > 1) {
    return false;
  }
  for (ValueId v : i.operands) {
    const int n = c.producer(v);
    if (!known.constant[n] && !known.folded[n]) return false;
  }
  for (int callee : i.called) {
    if (endless[callee]) return false;
  }
  return SizesAllowFolding(c, i);
}

Known Analyse(const Computation& c, const std::vector<bool>& endless) {
  const size_t count = c.instructions().size();
  Known known{std::vector<bool>(count), std::vector<bool>(count),
              std::vector<bool>(c.num_values())};
  for (size_t n = 0; n < count; ++n) {
    const Instruction& i = c.instructions()[n];
    known.constant[n] = i.op == &kConstant;
    known.folded[n] = IsFoldable(c, i, known, endless);
    if (known.folded[n]) {
      known.any = true;
      known.calls = known.calls || !i.called.empty();
    } else {
      for (ValueId v : i.operands) {
        known.wanted[v] = known.folded[c.producer(v)];
      }
    }
  }
  for (ValueId v : c.results()) known.wanted[v] = known.folded[c.producer(v)];
  return known;
}

// Finds the computations that have control flow, themselves or by a call.
std::vector<bool> Endless(const Module& module) {
  std::vector<bool> endless;
  for (const Computation& c : module.computations()) {
    bool any = false;
    for (const Instruction& i : c.instructions()) {
      any = any || i.op->Is(kControlFlow);
      for (int callee : i.called) any = any || endless[callee];
    }
    endless.push_back(any);
  }
  return endless;
}

// A computation without parameters that gives the wanted values, in order.
absl::StatusOr<Computation> FoldedPart(const Computation& c, const Known& known,
                                       const Module& module,
                                       absl::Span<const int> called) {
  Rewriter rewriter(c, module, called);
  std::vector<ValueId> results;
  for (size_t n = 0; n < known.folded.size(); ++n) {
    if (!known.constant[n] && !known.folded[n]) continue;
    HAWSER_RETURN_IF_ERROR(rewriter.Keep(c.instructions()[n]));
  }
  for (ValueId v = 0; v < c.num_values(); ++v) {
    if (known.wanted[v]) results.push_back(rewriter.Mapped(v));
  }
  return rewriter.FinishWith(results);
}

// `c` with constants in the place of the wanted values.
absl::StatusOr<Computation> WithValues(const Computation& c, const Known& known,
                                       absl::Span<const Literal> values,
                                       const Module& module,
                                       absl::Span<const int> called) {
  Rewriter rewriter(c, module, called);
  for (size_t n = 0; n < known.folded.size(); ++n) {
    const Instruction& i = c.instructions()[n];
    if (!known.folded[n]) {
      HAWSER_RETURN_IF_ERROR(rewriter.Keep(i));
      continue;
    }
    absl::InlinedVector<ValueId, 1> constants(i.num_results, kNoValue);
    for (int k = 0; k < i.num_results; ++k) {
      const ValueId v = i.first_result + k;
      if (!known.wanted[v]) continue;
      if (values.empty() || values[0].shape() != c.shape(v)) {
        return Internal("the evaluator did not give ", c.shape(v).ToString(),
                        " for ", i.op->name);
      }
      HAWSER_ASSIGN_OR_RETURN(
          constants[k], rewriter.Append(kConstant, {}, {{"value", values[0]}}));
      values.remove_prefix(1);
    }
    rewriter.Replace(i, constants);
  }
  return rewriter.Finish();
}

}  // namespace

absl::StatusOr<Module> FoldConstants(Module module,
                                     const ConstantEvaluator& evaluate,
                                     bool* changed) {
  const std::vector<bool> endless = Endless(module);
  std::vector<Known> known;
  bool any = false;
  bool calls = false;
  for (const Computation& c : module.computations()) {
    known.push_back(Analyse(c, endless));
    any = any || known.back().any;
    calls = calls || known.back().calls;
  }
  if (!any) return module;

  std::vector<int> same(module.computations().size());
  std::iota(same.begin(), same.end(), 0);
  // The folded parts run in this module: what they call keeps its number.
  Module scratch = calls ? module : Module(module.name());
  Module to(module.name());
  bool folded = false;
  for (size_t n = 0; n < known.size(); ++n) {
    const Computation& c = module.computation(static_cast<int>(n));
    if (known[n].any) {
      HAWSER_ASSIGN_OR_RETURN(Computation part,
                              FoldedPart(c, known[n], scratch, same));
      const auto values = evaluate(scratch, scratch.Add(std::move(part)));
      if (values.ok()) {
        HAWSER_ASSIGN_OR_RETURN(Computation rebuilt,
                                WithValues(c, known[n], *values, to, same));
        to.Add(std::move(rebuilt));
        folded = true;
        continue;
      }
    }
    to.Add(c);
  }
  if (!folded) return module;
  *changed = true;
  return to;
}

}  // namespace hawser
