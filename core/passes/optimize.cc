#include "core/passes/optimize.h"

#include <limits>
#include <string>
#include <utility>

#include "core/base/trace/trace.h"
#include "core/ir/verifier.h"
#include "core/passes/canonicalize.h"
#include "core/passes/cse.h"
#include "core/passes/dce.h"
#include "core/passes/inline_calls.h"

namespace hawser {
namespace {

// A module that still changes then is right all the same. Two or three rounds
// are usual: what one pass frees, the others find in the next round.
constexpr int kMaxRounds = 16;

absl::StatusOr<Module> Fold(Module module, const OptimizeOptions& options,
                            bool* changed) {
  if (!options.evaluate) return module;
  return FoldConstants(std::move(module), options.evaluate, changed);
}

struct Pass {
  absl::string_view name;
  absl::StatusOr<Module> (*run)(Module, const OptimizeOptions&, bool*);
};
constexpr Pass kPasses[] = {
    {"inline",
     [](Module m, const OptimizeOptions&, bool* changed) {
       return InlineCalls(std::move(m), changed);
     }},
    {"canonicalize",
     [](Module m, const OptimizeOptions&, bool* changed) {
       return Canonicalize(std::move(m), changed);
     }},
    {"fold", Fold},
    {"cse",
     [](Module m, const OptimizeOptions&, bool* changed) {
       return EliminateCommonSubexpressions(std::move(m), changed);
     }},
    {"dce",
     [](Module m, const OptimizeOptions&, bool* changed) {
       return EliminateDeadCode(std::move(m), changed);
     }},
};

// The structure alone: a module within any limits may be optimized.
absl::Status VerifyStructure(const Module& module) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  return Verify(module, {.bytes = kAny,
                         .instructions = kAny,
                         .computations = kAny,
                         .operands = kAny,
                         .nesting = std::numeric_limits<int>::max(),
                         .elements = kAny,
                         .constant_bytes = kAny});
}

absl::Status Bug(const Pass& pass, const absl::Status& status) {
  return Internal("pass ", pass.name, ": ", status.message());
}

}  // namespace

absl::StatusOr<Module> Optimize(Module module,
                                const OptimizeOptions& options) {
  TraceSpan span("compile", "optimize");
  span.Add("instructions", module.num_instructions());
  bool changed = !module.empty();
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (const Pass& pass : kPasses) {
      auto result = pass.run(std::move(module), options, &changed);
      if (!result.ok()) return Bug(pass, result.status());
      module = *std::move(result);
      if (!options.verify) continue;
      const absl::Status status = VerifyStructure(module);
      if (!status.ok()) return Bug(pass, status);
    }
  }
  return module;
}

}  // namespace hawser
