#include "kernels/plan/memory/buffers.h"

#include <numeric>

#include "core/ir/leaves.h"
#include "kernels/plan/memory/arena.h"
#include "kernels/plan/memory/lifetimes.h"

namespace hawser::plan {
namespace {

// Returns where an owner lives, but for its offset.
Place PlaceOfOwner(const Lifetimes& lifetimes, ValueId v) {
  const Lifetimes::Life& life = lifetimes.at(v);
  Place place{.kind = Place::kArena,
              .bytes = life.bytes,
              .owner = v,
              .first = life.first,
              .last = life.last};
  const OpDef* op = lifetimes.MakerOf(v).op;
  if (op == &kParameter || op == &kConstant) {
    place.kind = op == &kParameter ? Place::kArgument : Place::kConstant;
    place.index = lifetimes.computation().producer(v);
  } else if (life.result >= 0) {
    place.kind = Place::kResult;
    place.index = life.result;
  }
  return place;
}

// Owners in the arena by the step that is the last to read them, ascending.
class DyingValues {
 public:
  DyingValues(absl::Span<const Place> values, int num_steps)
      : begins_(num_steps + 1, 0) {
    for (const Place& p : values) {
      if (p.kind == Place::kArena) ++begins_[p.last + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    values_.resize(begins_.back());
    std::vector<int> at = begins_;
    for (const Place& p : values) {
      if (p.kind == Place::kArena) values_[at[p.last]++] = p.owner;
    }
  }

  absl::Span<const ValueId> In(int step) const {
    return absl::MakeConstSpan(values_).subspan(
        begins_[step], begins_[step + 1] - begins_[step]);
  }

 private:
  std::vector<ValueId> values_;  // step by step
  std::vector<int> begins_;      // of each step's
};

// Gives each owner in the arena, and each step's scratch memory, an offset.
void LayOutArena(const Computation& c, absl::Span<const int64_t> scratch,
                 int64_t alignment, BufferPlan* plan) {
  Arena arena(alignment);
  const int num_steps = static_cast<int>(c.instructions().size());
  plan->scratch.assign(num_steps, -1);
  const DyingValues dying(plan->values, num_steps);
  for (int k = 0; k < num_steps; ++k) {
    const Instruction& i = c.instructions()[k];
    for (int r = 0; r < i.num_results; ++r) {
      Place& p = plan->values[i.first_result + r];
      if (p.kind == Place::kArena) p.offset = arena.Allocate(p.bytes);
    }
    if (scratch[k] > 0) {
      plan->scratch[k] = arena.Allocate(scratch[k]);
      arena.Free(plan->scratch[k], scratch[k]);
    }
    for (const ValueId v : dying.In(k)) {
      arena.Free(plan->values[v].offset, plan->values[v].bytes);
    }
  }
  plan->arena_bytes = arena.size();
}

}  // namespace

BufferPlan PlanBuffers(const Computation& computation,
                       const Regions& regions,
                       absl::Span<const int64_t> scratch_bytes,
                       const Target& target) {
  Lifetimes lifetimes(computation, regions);
  lifetimes.WriteInPlace();
  BufferPlan plan;
  plan.aliased_results = lifetimes.aliased_results();
  plan.donations = FindDonations(lifetimes);
  plan.values.resize(computation.num_values());
  for (ValueId v = 0; v < computation.num_values(); ++v) {
    if (lifetimes.OwnerOf(v) != v) continue;
    Place& place = plan.values[v];
    place = PlaceOfOwner(lifetimes, v);
    if (place.kind == Place::kArena) plan.temporary_bytes += place.bytes;
  }
  LayOutArena(computation, scratch_bytes, target.alignment, &plan);
  // Views, and what was written in place, are where their owners are.
  for (ValueId v = 0; v < computation.num_values(); ++v) {
    const Lifetimes::Life& life = lifetimes.at(v);
    if (life.owner == v) continue;
    Place& place = plan.values[v];
    place = plan.values[life.owner];
    place.bytes = life.bytes;
    place.first = life.first;
    place.last = life.last;
  }
  return plan;
}

}  // namespace hawser::plan
