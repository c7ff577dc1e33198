#include "kernels/plan/buffers.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/ir/leaves.h"
#include "kernels/plan/arena.h"

namespace hawser::plan {
namespace {

class BufferPlanner {
 public:
  BufferPlanner(const Computation& c, absl::Span<const Region> regions,
                absl::Span<const int64_t> scratch, const Target& target)
      : c_(c), regions_(regions), scratch_(scratch), target_(target) {}

  BufferPlan Plan() {
    plan_.values.resize(c_.num_values());
    FindOwners();
    FindLastUses();
    WriteInPlace();
    FindKinds();
    Lay();
    FindDonations();
    for (ValueId v = 0; v < c_.num_values(); ++v) Resolve(v);
    return std::move(plan_);
  }

 private:
  const Instruction& InstructionOf(ValueId v) const {
    return c_.instructions()[c_.producer(v)];
  }
  Place& at(ValueId v) { return plan_.values[v]; }

  // Operands have smaller numbers, so an owner is known before its views.
  void FindOwners() {
    for (size_t k = 0; k < c_.instructions().size(); ++k) {
      const Instruction& i = c_.instructions()[k];
      for (int r = 0; r < i.num_results; ++r) {
        const ValueId v = i.first_result + r;
        Place& p = at(v);
        p.bytes = c_.shape(v).byte_size();
        p.first = p.last = static_cast<int>(k);
        p.owner =
            regions_[k].kind == RegionKind::kView ? at(i.operands[0]).owner : v;
      }
    }
  }

  void FindLastUses() {
    end_ = static_cast<int>(c_.instructions().size());
    for (int k = 0; k < end_; ++k) {
      for (const ValueId v : c_.instructions()[k].operands) {
        at(v).last = k;
        Place& owner = at(at(v).owner);
        owner.last = std::max(owner.last, k);
      }
    }
    result_of_.assign(c_.num_values(), -1);
    for (size_t r = 0; r < c_.results().size(); ++r) {
      const ValueId owner = at(c_.results()[r]).owner;
      at(c_.results()[r]).last = at(owner).last = end_;
      const bool ours = InstructionOf(owner).op != &kParameter &&
                        InstructionOf(owner).op != &kConstant;
      if (ours && result_of_[owner] < 0) {
        result_of_[owner] = static_cast<int>(r);
      } else {
        plan_.aliased_results.push_back(static_cast<int>(r));
      }
    }
  }

  // Whether result `r` of step `k` may be written over all operands that are
  // bytes of `owner`.
  bool MayOverwrite(int k, int r, ValueId owner) {
    const Instruction& i = c_.instructions()[k];
    const Region& region = regions_[k];
    const ValueId v = i.first_result + r;
    if (at(owner).bytes != at(v).bytes || at(owner).last != k) return false;
    if (region.kind == RegionKind::kUpdate) {
      int uses = 0;
      for (const ValueId o : i.operands) uses += at(o).owner == owner;
      return uses == 1 && at(i.operands[r]).owner == owner;
    }
    // Rows of no reduced loop are read by more than the lane that stores.
    const bool by_element =
        region.kind == RegionKind::kLoop ||
        (region.kind == RegionKind::kRow &&
         region.num_kept < static_cast<int>(region.domain.size()));
    if (!by_element || region.splits > 1) return false;
    const Access* store = nullptr;
    for (const Access& a : region.accesses) {
      if (a.result == r) store = &a;
    }
    if (region.points[store->point].per_result !=
        (region.num_kept == static_cast<int>(region.domain.size()))) {
      return false;
    }
    for (const Access& a : region.accesses) {
      if (a.operand < 0 || at(i.operands[a.operand]).owner != owner) continue;
      const DType read = c_.shape(i.operands[a.operand]).dtype();
      if (a.offset != store->offset ||
          ByteWidth(read) != ByteWidth(c_.shape(v).dtype())) {
        return false;
      }
    }
    return true;
  }

  bool IsOurs(ValueId owner) const {
    const OpDef* op = InstructionOf(owner).op;
    return op != &kParameter && op != &kConstant;
  }

  // Whether `v`, result `r` of step `k`, leaves and may be written over an
  // argument that no other result was promised. Who gives that away needs no
  // other memory, however many temporary values die with the step.
  bool AwaitsDonation(int k, int r, ValueId v) {
    if (result_of_[v] < 0) return false;
    for (const ValueId o : c_.instructions()[k].operands) {
      const ValueId owner = at(o).owner;
      if (InstructionOf(owner).op == &kParameter && MayOverwrite(k, r, owner) &&
          promised_.insert(owner).second) {
        return true;
      }
    }
    return false;
  }

  // A result takes over the memory of an operand that dies with the step.
  void WriteInPlace() {
    for (int k = 0; k < end_; ++k) {
      const Instruction& i = c_.instructions()[k];
      if (regions_[k].kind == RegionKind::kView) {
        at(i.first_result).owner = at(i.operands[0]).owner;
        continue;
      }
      absl::InlinedVector<ValueId, 2> taken;
      for (int r = 0; r < i.num_results; ++r) {
        const ValueId v = i.first_result + r;
        if (AwaitsDonation(k, r, v)) continue;
        for (const ValueId o : i.operands) {
          const ValueId owner = at(o).owner;
          if (!IsOurs(owner) || !MayOverwrite(k, r, owner) ||
              std::find(taken.begin(), taken.end(), owner) != taken.end()) {
            continue;
          }
          taken.push_back(owner);
          TakeOver(v, owner);
          break;
        }
      }
    }
  }

  void TakeOver(ValueId v, ValueId owner) {
    at(owner).last = std::max(at(owner).last, at(v).last);
    at(v).owner = owner;
    result_of_[owner] = result_of_[v];
  }

  void FindKinds() {
    for (ValueId v = 0; v < c_.num_values(); ++v) {
      Place& p = at(v);
      if (p.owner != v) continue;
      const Instruction& i = InstructionOf(v);
      if (i.op == &kParameter) {
        p.kind = Place::kArgument;
        p.index = c_.producer(v);
      } else if (i.op == &kConstant) {
        p.kind = Place::kConstant;
        p.index = c_.producer(v);
      } else if (result_of_[v] >= 0) {
        p.kind = Place::kResult;
        p.index = result_of_[v];
      } else {
        p.kind = Place::kArena;
        plan_.temporary_bytes += p.bytes;
      }
    }
  }

  void Lay() {
    Arena arena(target_.alignment);
    plan_.scratch.assign(end_, -1);
    std::vector<std::vector<ValueId>> dying(end_);
    for (const Place& p : plan_.values) {
      if (p.kind == Place::kArena) dying[p.last].push_back(p.owner);
    }
    for (int k = 0; k < end_; ++k) {
      const Instruction& i = c_.instructions()[k];
      for (int r = 0; r < i.num_results; ++r) {
        Place& p = at(i.first_result + r);
        if (p.kind == Place::kArena) p.offset = arena.Allocate(p.bytes);
      }
      if (scratch_[k] > 0) {
        plan_.scratch[k] = arena.Allocate(scratch_[k]);
        arena.Free(plan_.scratch[k], scratch_[k]);
      }
      for (const ValueId v : dying[k]) arena.Free(at(v).offset, at(v).bytes);
    }
    plan_.arena_bytes = arena.size();
  }

  // The argument that result `r` of step `k` may be written over.
  ValueId FindInPlace(int k, int r, const std::set<ValueId>& arguments) {
    for (const ValueId o : c_.instructions()[k].operands) {
      const ValueId owner = at(o).owner;
      if (arguments.count(owner) > 0 && MayOverwrite(k, r, owner)) return owner;
    }
    return kNoValue;
  }

  // One that nobody reads from step `k` on.
  ValueId FindUsedUp(int k, const std::set<ValueId>& arguments) {
    constexpr int kTries = 8;
    int tries = 0;
    for (const ValueId a : arguments) {
      if (at(a).last < k) return a;
      if (++tries == kTries) break;
    }
    return kNoValue;
  }

  // Where a result's memory is first written, and which argument may be that
  // memory: in place first.
  void FindDonations() {
    std::map<int64_t, std::set<ValueId>> free_arguments;  // by bytes
    for (ValueId a = 0; a < c_.num_parameters(); ++a) {
      if (at(a).last < end_ && at(a).bytes > 0) {
        free_arguments[at(a).bytes].insert(a);
      }
    }
    std::vector<ValueId> left;
    const auto donate = [&](ValueId v, ValueId argument, bool in_place) {
      plan_.donations.push_back({.argument = argument,
                                 .result = at(v).index,
                                 .step = at(v).first,
                                 .in_place = in_place});
      free_arguments[at(v).bytes].erase(argument);
    };
    for (const Place& p : plan_.values) {
      if (p.kind != Place::kResult) continue;  // views come later
      const ValueId v = p.owner;
      const int k = p.first;
      const ValueId over = FindInPlace(k, v - c_.instructions()[k].first_result,
                                       free_arguments[at(v).bytes]);
      if (over == kNoValue) {
        left.push_back(v);
      } else {
        donate(v, over, /*in_place=*/true);
      }
    }
    for (const ValueId v : left) {
      const ValueId used_up =
          FindUsedUp(at(v).first, free_arguments[at(v).bytes]);
      if (used_up != kNoValue) donate(v, used_up, /*in_place=*/false);
    }
  }

  // Views and what was written in place get their owner's place.
  void Resolve(ValueId v) {
    Place& p = at(v);
    if (p.owner == v) return;
    const Place& owner = at(p.owner);
    p.kind = owner.kind;
    p.index = owner.index;
    p.offset = owner.offset;
  }

  const Computation& c_;
  absl::Span<const Region> regions_;
  absl::Span<const int64_t> scratch_;
  const Target& target_;
  BufferPlan plan_;
  std::vector<int> result_of_;  // by owner: the result it leaves as, -1
  std::set<ValueId> promised_;  // arguments, each to one result
  int end_ = 0;
};

}  // namespace

BufferPlan PlanBuffers(const Computation& computation,
                       absl::Span<const Region> regions,
                       absl::Span<const int64_t> scratch_bytes,
                       const Target& target) {
  return BufferPlanner(computation, regions, scratch_bytes, target).Plan();
}

}  // namespace hawser::plan
