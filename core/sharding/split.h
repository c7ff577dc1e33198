// Split: makes partial values of contractions over axes that are cut, and
// combines them.
#ifndef HAWSER_CORE_SHARDING_SPLIT_H_
#define HAWSER_CORE_SHARDING_SPLIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/sharding/cuts.h"

namespace hawser {

// A value that goes between tasks: the result of a contraction over some parts
// of the axes it contracts, or a value that later stages need again.
struct Partial {
  struct Of {
    int axis_class;
    int part;
    friend bool operator==(const Of&, const Of&) = default;
  };
  ValueId value;  // in the split module
  // In the module that was split, a value with the same axes.
  ValueId whole;
  std::vector<Of> of;  // which parts: one of each class, or none
  int cells;           // how many such partial values there are
};

struct SplitModule {
  Module module;
  std::vector<Partial> partials;
  // For each value the one of the module that was split, or kNoValue.
  std::vector<ValueId> whole;
  // For each value its stage: how many exchanges are on the longest way to it.
  std::vector<int> stage;
};

// Returns the same function, in which each of the cuts' contractions is split
// by the rule of its op. It has ordinary instructions only. The two give the
// same, except that floats may be summed in another order. Computations that
// instructions call stay as they are. `cuts` are of `module`.
absl::StatusOr<SplitModule> Split(const Module& module, const Cuts& cuts);

// Adds to the partial values those values that tasks of later stages need too,
// if computing them again takes longer than sending them.
void AddRepeated(SplitModule& split);

// Returns that function in stages: its partial values are results after its
// own, and parameters after its own, from which all others of later stages take
// them.
absl::StatusOr<Module> Staged(const SplitModule& split);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_SPLIT_H_
