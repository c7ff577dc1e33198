// CheckKinds says what of a module is checked, CheckDepths how deep in its
// loops.
#ifndef HAWSER_CLIENT_SDK_PROBES_CHECK_DEPTHS_H_
#define HAWSER_CLIENT_SDK_PROBES_CHECK_DEPTHS_H_

#include <vector>

#include "core/ir/module.h"

namespace hawser::sdk {

// The kinds of checks that are to be made.
struct CheckKinds {
  bool nan = false;
  bool indices = false;
};

bool CanBeNan(const Shape& shape);
// An op that runs what it calls on its operands, once or by turns.
bool IsControl(const Instruction& i);
// It makes values of its own: neither one it is given nor one of a loop or a
// branch, where the instruction inside is looked at.
bool MakesValues(const Instruction& i);

// The most loops around a check inside each computation of a module, counting
// those of loops and branches it calls. Immutable.
class CheckDepths {
 public:
  static constexpr int kNothing = -1;  // is checked in it

  CheckDepths(const Module& module, CheckKinds kinds);

  int Of(int computation) const { return depths_[computation]; }
  // Returns the depth of the deepest that a loop or a branch calls; for another
  // op kNothing.
  int OfCalled(const Instruction& i) const;

 private:
  std::vector<int> depths_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_CHECK_DEPTHS_H_
