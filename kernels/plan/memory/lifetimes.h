// Lifetimes: which value's memory each value is in, and from which step to
// which step that memory is in use.
#ifndef HAWSER_KERNELS_PLAN_MEMORY_LIFETIMES_H_
#define HAWSER_KERNELS_PLAN_MEMORY_LIFETIMES_H_

#include <vector>

#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::plan {

// The values of one computation. Invariants: an owner owns itself; an owner's
// `last` is that of all values in its memory that have been taken over or are
// views; a result of the computation lasts beyond the last step.
class Lifetimes {
 public:
  struct Life {
    int64_t bytes = 0;
    ValueId owner = kNoValue;  // itself, or the value whose memory it is in
    int first = 0;             // the step that writes it
    int last = 0;              // the last step that reads it
    int result = -1;           // of an owner: the result it leaves as
  };

  // `computation` and `regions`, one for each instruction, outlive this object.
  Lifetimes(const Computation& computation, const Regions& regions);

  const Computation& computation() const { return c_; }
  int num_steps() const { return static_cast<int>(regions_.size()); }
  const Life& at(ValueId v) const { return lives_[v]; }
  ValueId OwnerOf(ValueId v) const { return lives_[v].owner; }
  // Results that are the bytes of another result, an argument or a constant.
  const std::vector<int>& aliased_results() const { return aliased_results_; }

  const Instruction& MakerOf(ValueId v) const {
    return c_.instructions()[c_.producer(v)];
  }
  // True if the plan gives the value memory: neither an argument nor a
  // constant.
  bool IsPlanned(ValueId owner) const;
  // True if result `result` of step `step` may be written over all operands
  // that are in the memory of `owner`, which the step is the last to read.
  bool MayOverwrite(int step, int result, ValueId owner) const;

  // Writes results over operands that die with their step, where they may be
  // written over. A result that may take the memory of an argument that the
  // caller gives away is left alone: with such a donation it needs no memory
  // at all, however many temporary values die with the step.
  void WriteInPlace();

 private:
  void FindOwners();
  void FindLastUses();
  void TakeOver(ValueId v, ValueId owner);

  const Computation& c_;
  const Regions& regions_;
  std::vector<Life> lives_;  // by ValueId
  std::vector<int> aliased_results_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_MEMORY_LIFETIMES_H_
