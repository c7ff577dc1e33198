// BufferPlan: where every value of a planned computation lives.
// FIXED: engines are written over this header; fields may be added.
#ifndef HAWSER_KERNELS_PLAN_MEMORY_BUFFERS_H_
#define HAWSER_KERNELS_PLAN_MEMORY_BUFFERS_H_

#include <cstdint>
#include <vector>

#include "core/ir/module.h"
#include "kernels/plan/memory/donations.h"
#include "kernels/plan/region/region.h"

namespace hawser::plan {

// The memory in which one value lives. The schedule is the order of the
// instructions.
struct Place {
  enum Kind : uint8_t {
    kArgument,  // the caller's: argument `index`
    kConstant,  // of instruction `index`, put in place once per executable
    kArena,     // at `offset` of the arena
    kResult,    // memory of its own, given to the caller: result `index`
    kUnused,    // no step reads it
  };
  Kind kind = kUnused;
  int index = -1;
  int64_t offset = 0;  // in bytes
  int64_t bytes = 0;
  // The value whose memory it is: itself, or the operand a view looks at or a
  // step writes over. A chain is resolved: the owner owns itself.
  ValueId owner = kNoValue;
  int first = 0;  // the step that writes it, as an instruction's number
  int last = 0;   // the last step that reads it
};

struct BufferPlan {
  std::vector<Place> values;  // by ValueId
  // Scratch memory of each instruction: partial results of a split reduction,
  // the arenas of called computations. Offsets into the arena; -1: none.
  std::vector<int64_t> scratch;
  int64_t arena_bytes = 0;
  int64_t temporary_bytes = 0;  // of all values in the arena, added up
  std::vector<Donation> donations;
  // Result k is the bytes of another result, argument or constant; its owner
  // says whose. The engine shares or copies.
  std::vector<int> aliased_results;
};

// `regions[i]` belongs to instruction i. `scratch_bytes[i]` is what instruction
// i needs for itself while it runs.
BufferPlan PlanBuffers(const Computation& computation,
                       const Regions& regions,
                       absl::Span<const int64_t> scratch_bytes,
                       const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_MEMORY_BUFFERS_H_
