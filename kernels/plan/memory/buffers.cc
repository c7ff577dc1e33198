#include "kernels/plan/memory/buffers.h"

#include "core/ir/leaves.h"
#include "kernels/plan/memory/arena.h"
#include "kernels/plan/memory/lifetimes.h"

namespace hawser::plan {
namespace {

// Where an owner lives, but for its offset.
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

// Gives each owner in the arena, and each step's scratch memory, an offset.
void LayOutArena(const Computation& c, absl::Span<const int64_t> scratch,
                 int64_t alignment, BufferPlan* plan) {
  Arena arena(alignment);
  const int num_steps = static_cast<int>(c.instructions().size());
  plan->scratch.assign(num_steps, -1);
  std::vector<std::vector<ValueId>> dying(num_steps);
  for (const Place& p : plan->values) {
    if (p.kind == Place::kArena) dying[p.last].push_back(p.owner);
  }
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
    for (const ValueId v : dying[k]) {
      arena.Free(plan->values[v].offset, plan->values[v].bytes);
    }
  }
  plan->arena_bytes = arena.size();
}

}  // namespace

BufferPlan PlanBuffers(const Computation& computation,
                       absl::Span<const Region> regions,
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
