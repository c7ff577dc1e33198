#include "kernels/cpu/costs/lane_costs.h"

#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"
#include "core/ops/movement/gather.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

// By AVX-512; 0: it has no lanes for these.
struct Lanes {
  float integer = 0, half = 0, f32 = 0, f64 = 0;
};
constexpr Lanes kSimple = {0.05f, 0.15f, 0.05f, 0.1f};
constexpr Lanes kOfFloats = {0, 0.15f, 0.05f, 0.1f};
constexpr Lanes kExtreme = {0.2f, 0.3f, 0.2f, 0.3f};

struct LaneCost {
  const OpDef* op;
  Lanes lanes;
};
constexpr LaneCost kLaneCosts[] = {
    {&kAbs, kSimple},
    {&kAdd, kSimple},
    {&kAnd, kSimple},
    {&kArgMax, kExtreme},
    {&kArgMin, kExtreme},
    {&kCbrt, {0, 1.2f, 1, 2}},
    {&kCeil, kOfFloats},
    {&kClamp, kSimple},
    {&kCompare, kSimple},
    {&kConvert, kSimple},
    {&kCosine, {0, 1, 0.8f, 1.5f}},
    {&kDivide, {0, 0.25f, 0.15f, 0.5f}},
    {&kExponential, {0, 0.6f, 0.4f, 1}},
    {&kExponentialMinusOne, {0, 1, 0.8f, 1.5f}},
    {&kFloor, kOfFloats},
    {&kGather, {1, 1, 1, 1}},
    {&kIsFinite, kOfFloats},
    {&kLog, {0, 0.6f, 0.5f, 1}},
    {&kLogPlusOne, {0, 1, 0.8f, 1.5f}},
    {&kLogistic, {0, 1, 0.7f, 1.5f}},
    {&kMaximum, kSimple},
    {&kMinimum, kSimple},
    {&kMultiply, kSimple},
    {&kNegate, kSimple},
    {&kNot, kSimple},
    {&kOr, kSimple},
    {&kReduce, {0.05f, 0.15f, 0.1f, 0.1f}},
    {&kRoundNearestEven, kOfFloats},
    {&kRsqrt, {0, 0.5f, 0.3f, 1}},
    {&kSelect, kSimple},
    {&kSign, kSimple},
    {&kSine, {0, 1, 0.8f, 1.5f}},
    {&kSqrt, {0, 0.3f, 0.2f, 0.6f}},
    {&kSubtract, kSimple},
    {&kTanh, {0, 1.2f, 1, 2}},
    {&kXor, kSimple},
};

// How many times as long another set of instructions takes.
double Slower(Isa isa) {
  if (isa == Isa::kAvx512) return 1;
  return isa == Isa::kAvx2 ? 1.5 : 3;
}

double Of(const Lanes& lanes, DType dtype, Isa isa) {
  if (isa == Isa::kBase || IsComplex(dtype)) return 0;
  if (!IsFloat(dtype)) return lanes.integer * Slower(isa);
  const double steps = ByteWidth(dtype) == 2   ? lanes.half
                       : dtype == DType::kF32 ? lanes.f32
                                              : lanes.f64;
  return steps * Slower(isa);
}

double ElementSeconds(const OpDef& op, DType dtype) {
  return LaneSteps(op, dtype) * 1e-9;
}

}  // namespace

double LaneSteps(const OpDef& op, DType dtype, Isa isa) {
  for (const LaneCost& row : kLaneCosts) {
    if (row.op != &op) continue;
    const double steps = Of(row.lanes, dtype, isa);
    if (steps > 0) return steps;
  }
  if (op.Is(kDataMovement)) return kSimple.f32;
  const CpuKernel* kernel = FindCpuKernel(op);
  return kernel == nullptr ? 1 : kernel->steps.Of(dtype);
}

plan::Target MeasuredTarget() {
  plan::Target target = plan::CpuTarget();
  target.element_seconds = ElementSeconds;
  return target;
}

}  // namespace hawser::cpu
