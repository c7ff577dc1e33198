// StepProgram: a plan as a list of steps over memory, ready for an engine.
#ifndef HAWSER_KERNELS_PLAN_STEPS_STEPS_H_
#define HAWSER_KERNELS_PLAN_STEPS_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ir/module.h"
#include "kernels/plan/memory/donations.h"

namespace hawser::plan {

// Memory by what it is part of: number `base` among a run's addresses.
struct Slot {
  static constexpr int kArena = 0;
  static constexpr int kConstants = 1;
  static constexpr int kFirstArgument = 2;  // then the other arguments, results

  int base = kArena;
  int64_t offset = 0;
  int64_t bytes = 0;

  bool operator==(const Slot&) const = default;
};
inline bool Overlap(const Slot& a, const Slot& b) {
  return a.base == b.base && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

struct Step;
using Steps = std::vector<Step>;

// A piece of the engine's own work.
struct WorkStep {
  int work = 0;  // its number in the engine's table
};
// It does nothing when both are the same memory.
struct CopyStep {
  Slot to, from;
};
// `body` finds its states in place and leaves the next ones there; the
// condition only reads them.
struct LoopStep {
  // Known: the condition is not run. Unset: it leaves a bool at `predicate`.
  std::optional<int64_t> trips;
  Steps condition;
  Slot predicate;
  Steps body;
};
struct CaseStep {
  Slot index;  // s32; out of range: the last branch
  std::vector<Steps> branches;
};
struct Step {
  std::variant<WorkStep, CopyStep, LoopStep, CaseStep> action;
};

// The memory that a result of a run is in.
struct ResultMemory {
  enum Kind : uint8_t { kOwn, kArgument, kResult };
  Kind kind = kOwn;
  int index = -1;  // of the argument or result whose memory it is
};

// Invariant: a slot lies within its base: `arena_bytes`, `constants`, or the
// argument's or result's own bytes. Steps run one after another.
struct StepProgram {
  Signature signature;
  Steps steps;
  std::string constants;  // what stands at Slot::kConstants
  int64_t arena_bytes = 0;
  std::vector<ResultMemory> results;
  std::vector<Donation> donations;
  std::string explanation;  // a line for each note

  int first_result() const {
    return Slot::kFirstArgument + static_cast<int>(signature.parameters.size());
  }
  int num_bases() const {
    return first_result() + static_cast<int>(signature.results.size());
  }
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_STEPS_STEPS_H_
