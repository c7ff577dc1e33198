#include "kernels/plan/memory/donations.h"

#include <map>
#include <set>

namespace hawser::plan {
namespace {

// Arguments that are not promised to a result, by their bytes.
using FreeArguments = std::map<int64_t, std::set<ValueId>>;

// The free argument that result `v` may be written over, or kNoValue.
ValueId FindInPlace(const Lifetimes& lifetimes, ValueId v,
                    const std::set<ValueId>& arguments) {
  const Instruction& i = lifetimes.MakerOf(v);
  for (const ValueId o : i.operands) {
    const ValueId owner = lifetimes.OwnerOf(o);
    if (arguments.count(owner) > 0 &&
        lifetimes.MayOverwrite(lifetimes.at(v).first, v - i.first_result,
                               owner)) {
      return owner;
    }
  }
  return kNoValue;
}

// A free argument that no step from `step` on reads, or kNoValue.
ValueId FindUsedUp(const Lifetimes& lifetimes, int step,
                   const std::set<ValueId>& arguments) {
  constexpr int kTries = 8;
  int tries = 0;
  for (const ValueId a : arguments) {
    if (lifetimes.at(a).last < step) return a;
    if (++tries == kTries) break;
  }
  return kNoValue;
}

}  // namespace

std::vector<Donation> FindDonations(const Lifetimes& lifetimes) {
  const Computation& c = lifetimes.computation();
  FreeArguments free_arguments;
  for (ValueId a = 0; a < c.num_parameters(); ++a) {
    const Lifetimes::Life& life = lifetimes.at(a);
    if (life.last < lifetimes.num_steps() && life.bytes > 0) {
      free_arguments[life.bytes].insert(a);
    }
  }
  std::vector<Donation> donations;
  std::vector<ValueId> left;
  const auto donate = [&](ValueId v, ValueId argument, bool in_place) {
    const Lifetimes::Life& life = lifetimes.at(v);
    donations.push_back({.argument = argument,
                         .result = life.result,
                         .step = life.first,
                         .in_place = in_place});
    free_arguments[life.bytes].erase(argument);
  };
  for (ValueId v = 0; v < c.num_values(); ++v) {
    const Lifetimes::Life& life = lifetimes.at(v);
    if (life.owner == v && life.result >= 0) left.push_back(v);
  }
  // The argument of its own number first: of a loop's body that is its state.
  for (const bool own : {true, false}) {
    std::vector<ValueId> without;
    for (const ValueId v : left) {
      const Lifetimes::Life& life = lifetimes.at(v);
      const std::set<ValueId>& all = free_arguments[life.bytes];
      std::set<ValueId> only;
      if (own && all.count(life.result) > 0) only.insert(life.result);
      const ValueId over = FindInPlace(lifetimes, v, own ? only : all);
      if (over == kNoValue) {
        without.push_back(v);
      } else {
        donate(v, over, /*in_place=*/true);
      }
    }
    left.swap(without);
  }
  for (const ValueId v : left) {
    const Lifetimes::Life& life = lifetimes.at(v);
    const ValueId used_up =
        FindUsedUp(lifetimes, life.first, free_arguments[life.bytes]);
    if (used_up != kNoValue) donate(v, used_up, /*in_place=*/false);
  }
  return donations;
}

}  // namespace hawser::plan
