// Signature, and names of what a graph is made of that users of the SDK do not
// call: they are in namespace ir, so that `using namespace hawser` leaves these
// words to the user. core/ir and core/ops bring them into hawser.
#ifndef HAWSER_CORE_IR_TYPES_SIGNATURE_H_
#define HAWSER_CORE_IR_TYPES_SIGNATURE_H_

#include <string>
#include <vector>

#include "core/base/values/shape.h"

namespace hawser::ir {

class Module;  // core/ir/module.h

// The shapes of a computation's parameters and results.
struct Signature {
  std::vector<Shape> parameters;
  std::vector<Shape> results;
  bool operator==(const Signature&) const = default;
  std::string ToString() const;  // "(f32[2], s32[]) -> (f32[2])"
};

}  // namespace hawser::ir
#endif  // HAWSER_CORE_IR_TYPES_SIGNATURE_H_
