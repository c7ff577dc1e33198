#include "client/sdk/probes/check_depths.h"

#include <algorithm>

#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/slice.h"

namespace hawser::sdk {
namespace {

bool TakesIndices(const Instruction& i) {
  return i.op == &kGather || i.op == &kScatter || i.op == &kDynamicSlice ||
         i.op == &kDynamicUpdateSlice;
}

bool IsChecked(const Computation& computation, const Instruction& i,
               CheckKinds kinds) {
  if (kinds.indices && TakesIndices(i)) return true;
  if (!kinds.nan || !MakesValues(i)) return false;
  for (int k = 0; k < i.num_results; ++k) {
    if (CanBeNan(computation.shape(i.first_result + k))) return true;
  }
  return false;
}

}  // namespace

bool CanBeNan(const Shape& shape) {
  return IsFloat(shape.dtype()) || IsComplex(shape.dtype());
}

bool IsControl(const Instruction& i) {
  return i.op == &kWhile || i.op == &kCase;
}

bool MakesValues(const Instruction& i) {
  return i.op != &kParameter && i.op != &kConstant && !IsControl(i);
}

CheckDepths::CheckDepths(const Module& module, CheckKinds kinds) {
  for (const Computation& computation : module.computations()) {
    int depth = kNothing;
    for (const Instruction& i : computation.instructions()) {
      if (IsChecked(computation, i, kinds)) depth = std::max(depth, 0);
      const int called = OfCalled(i);
      if (called == kNothing) continue;
      depth = std::max(depth, called + (i.op == &kWhile ? 1 : 0));
    }
    depths_.push_back(depth);
  }
}

int CheckDepths::OfCalled(const Instruction& i) const {
  int depth = kNothing;
  if (!IsControl(i)) return depth;
  for (const int called : i.called) depth = std::max(depth, depths_[called]);
  return depth;
}

}  // namespace hawser::sdk
