#include "kernels/plan/memory/lifetimes.h"

#include <algorithm>
#include <set>

#include "core/ir/leaves.h"

namespace hawser::plan {
namespace {

// True if each element of the result is written by the thread that has read the
// same element of the operands. Rows of no reduced loop are read by more lanes
// than the one that stores.
bool WritesByElement(const Region& region) {
  const int rank = static_cast<int>(region.domain.size());
  const bool rows = region.kind == RegionKind::kRow && region.num_kept < rank;
  return (region.kind == RegionKind::kLoop || rows) && region.splits <= 1;
}

const MemoryAccess* StoreOf(const Region& region, int result) {
  const MemoryAccess* store = nullptr;
  for (const MemoryAccess& a : region.accesses) {
    if (a.result == result) store = &a;
  }
  return store;
}

}  // namespace

Lifetimes::Lifetimes(const Computation& computation,
                     const Regions& regions)
    : c_(computation), regions_(regions), lives_(computation.num_values()) {
  FindOwners();
  FindLastUses();
}

// Operands have smaller numbers, so an owner is known before its views.
void Lifetimes::FindOwners() {
  for (int k = 0; k < num_steps(); ++k) {
    const Instruction& i = c_.instructions()[k];
    const bool view = regions_[k].kind == RegionKind::kView;
    for (int r = 0; r < i.num_results; ++r) {
      const ValueId v = i.first_result + r;
      lives_[v] = {.bytes = c_.shape(v).byte_size(),
                   .owner = view ? OwnerOf(i.operands[0]) : v,
                   .first = k,
                   .last = k};
    }
  }
}

void Lifetimes::FindLastUses() {
  for (int k = 0; k < num_steps(); ++k) {
    for (const ValueId v : c_.instructions()[k].operands) {
      lives_[v].last = k;
      Life& owner = lives_[OwnerOf(v)];
      owner.last = std::max(owner.last, k);
    }
  }
  for (size_t r = 0; r < c_.results().size(); ++r) {
    const ValueId v = c_.results()[r];
    Life& owner = lives_[OwnerOf(v)];
    lives_[v].last = owner.last = num_steps();
    if (IsPlanned(OwnerOf(v)) && owner.result < 0) {
      owner.result = static_cast<int>(r);
    } else {
      aliased_results_.push_back(static_cast<int>(r));
    }
  }
}

bool Lifetimes::IsPlanned(ValueId owner) const {
  const OpDef* op = MakerOf(owner).op;
  return op != &kParameter && op != &kConstant;
}

bool Lifetimes::MayOverwrite(int step, int result, ValueId owner) const {
  const Instruction& i = c_.instructions()[step];
  const Region& region = regions_[step];
  const ValueId v = i.first_result + result;
  if (at(owner).bytes != at(v).bytes || at(owner).last != step) return false;
  if (region.kind == RegionKind::kUpdate) {
    int uses = 0;
    for (const ValueId o : i.operands) uses += OwnerOf(o) == owner;
    return uses == 1 && OwnerOf(i.operands[result]) == owner;
  }
  if (!WritesByElement(region)) return false;
  const MemoryAccess& store = *StoreOf(region, result);
  if (region.points[store.point].per_result !=
      (region.num_kept == static_cast<int>(region.domain.size()))) {
    return false;
  }
  const int width = ByteWidth(c_.shape(v).dtype());
  for (const MemoryAccess& a : region.accesses) {
    if (a.operand < 0 || OwnerOf(i.operands[a.operand]) != owner) continue;
    const DType read = c_.shape(i.operands[a.operand]).dtype();
    if (a.offset != store.offset || ByteWidth(read) != width) return false;
  }
  return true;
}

void Lifetimes::WriteInPlace() {
  std::set<ValueId> promised;  // arguments, each to one result
  const auto awaits_donation = [&](int step, int result) {
    const Instruction& i = c_.instructions()[step];
    if (lives_[i.first_result + result].result < 0) return false;
    for (const ValueId o : i.operands) {
      const ValueId owner = OwnerOf(o);
      if (MakerOf(owner).op == &kParameter &&
          MayOverwrite(step, result, owner) && promised.insert(owner).second) {
        return true;
      }
    }
    return false;
  };
  for (int k = 0; k < num_steps(); ++k) {
    const Instruction& i = c_.instructions()[k];
    if (regions_[k].kind == RegionKind::kView) {
      lives_[i.first_result].owner = OwnerOf(i.operands[0]);
      continue;
    }
    absl::InlinedVector<ValueId, 2> taken;
    for (int r = 0; r < i.num_results; ++r) {
      if (awaits_donation(k, r)) continue;
      for (const ValueId o : i.operands) {
        const ValueId owner = OwnerOf(o);
        if (!IsPlanned(owner) || !MayOverwrite(k, r, owner) ||
            std::find(taken.begin(), taken.end(), owner) != taken.end()) {
          continue;
        }
        taken.push_back(owner);
        TakeOver(i.first_result + r, owner);
        break;
      }
    }
  }
}

void Lifetimes::TakeOver(ValueId v, ValueId owner) {
  lives_[owner].last = std::max(lives_[owner].last, lives_[v].last);
  lives_[v].owner = owner;
  lives_[owner].result = lives_[v].result;
}

}  // namespace hawser::plan
