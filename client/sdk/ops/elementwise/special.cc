#include "client/sdk/ops/elementwise/special.h"

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/promotion.h"
#include "core/ops/elementwise/math.h"
#include "core/ops/formulas/formulas.h"

namespace hawser {

using sdk::Apply;
using sdk::ToFloating;

Tensor Erf(const Operand& x) { return Apply("Erf", kErf, ToFloating, x); }
Tensor Erfc(const Operand& x) { return Apply("Erfc", kErfc, ToFloating, x); }
Tensor ErfInv(const Operand& x) { return Apply("ErfInv", kErfInv, x); }
Tensor Lgamma(const Operand& x) {
  return Apply("Lgamma", kLgamma, ToFloating, x);
}
Tensor Digamma(const Operand& x) { return Apply("Digamma", kDigamma, x); }
Tensor BesselI0e(const Operand& x) { return Apply("BesselI0e", kBesselI0e, x); }
Tensor BesselI1e(const Operand& x) { return Apply("BesselI1e", kBesselI1e, x); }

}  // namespace hawser
