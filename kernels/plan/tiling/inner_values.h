// InnerValues: what of a computation is too large to be computed at once.
#ifndef HAWSER_KERNELS_PLAN_TILING_INNER_VALUES_H_
#define HAWSER_KERNELS_PLAN_TILING_INNER_VALUES_H_

#include <cstdint>
#include <map>
#include <set>

#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Numbers of instructions.
using Numbers = std::set<int>;

// A value is inner if it is a large product, a root, or computed from inner
// values element by element at about their size; an exit is a reduction or a
// product that reads inner values and gives much smaller ones. Roots whose
// inner values meet are one family, named by the first. A family is dead if
// anything else reads one of its values: that has to be whole. The computation
// outlives it.
class InnerValues {
 public:
  InnerValues(const Computation& computation, const Target& target);

  const Numbers& roots() const { return roots_; }
  // By instruction, the root of an exit's family when it was found.
  const std::map<int, int>& exits() const { return exits_; }
  bool IsInner(int k) const { return inner_.contains(k); }
  bool IsDead(int family) const { return dead_.contains(family); }
  int Family(int root) const;

  // An instruction that an engine computes element by element.
  bool IsLoop(int k) const;
  int64_t Elements(int k) const;

  // One value is so many times smaller than another.
  static constexpr int64_t kMuch = 2;

 private:
  bool IsRoot(int k, const Target& target) const;
  int Join(int a, int b);
  // The family of an inner value; -1: it is none.
  int InnerFamily(ValueId v) const;
  void Spread();
  void Meet(int k);

  const Computation& computation_;
  Numbers roots_, dead_;
  std::map<int, int> parents_;        // of roots
  std::map<int, int> inner_, exits_;  // the root of each
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_TILING_INNER_VALUES_H_
