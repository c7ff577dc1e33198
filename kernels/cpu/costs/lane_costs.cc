#include "kernels/cpu/costs/lane_costs.h"

#include "absl/container/flat_hash_map.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/slice.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

// Costs with AVX-512, measured (element_bench); 0: there are no lanes.
struct Lanes {
  float integer = 0;  // of 4 bytes; others by their width
  float half = 0, f32 = 0, f64 = 0;
  float boolean = 0;  // 0: as a byte
  float narrow = 0;   // of 1 and 2 bytes; 0: by their width
};
constexpr Lanes kSimple = {0.04f, 0.08f, 0.04f, 0.08f};
constexpr Lanes kOfFloats = {0, 0.08f, 0.04f, 0.1f};
constexpr Lanes kExtreme = {0.2f, 0.3f, 0.2f, 0.3f};
constexpr Lanes kOfBools = {0.04f, 0.08f, 0.05f, 0.08f, 0.065f};
// Words in chains; others by loops for one element.
constexpr Lanes kShift = {0.05f, 0, 0, 0, 0, 0.4f};

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
    {&kBitcastConvert, kSimple},
    {&kCbrt, {0, 0.95f, 0.9f, 2}},
    {&kCeil, kOfFloats},
    {&kClamp, {0.04f, 0.15f, 0.1f, 0.2f}},
    {&kCompare, kSimple},
    {&kConvert, kOfBools},
    {&kCosine, {0, 0.4f, 0.4f, 0.8f}},
    {&kDivide, {0, 0.1f, 0.05f, 0.15f}},
    {&kErf, {0, 1.5f, 1.4f, 4.5f}},
    {&kErfc, {0, 2, 2, 6}},
    {&kExponential, {0, 0.2f, 0.17f, 0.5f}},
    {&kExponentialMinusOne, {0, 0.75f, 0.7f, 1.3f}},
    {&kFloor, kOfFloats},
    {&kGather, {1, 1, 1, 1, 1, 1}},
    {&kIsFinite, kOfFloats},
    {&kLgamma, {0, 3.3f, 3.2f, 8}},
    {&kLog, {0, 0.3f, 0.26f, 0.6f}},
    {&kLogPlusOne, {0, 0.5f, 0.5f, 1.3f}},
    {&kLogistic, {0, 0.3f, 0.22f, 0.7f}},
    {&kMaximum, {0.04f, 0.1f, 0.05f, 0.1f}},
    {&kMinimum, {0.04f, 0.1f, 0.05f, 0.1f}},
    {&kMultiply, kSimple},
    {&kNegate, kSimple},
    {&kNot, kOfBools},
    {&kOr, kSimple},
    {&kReduce, {0.05f, 0.15f, 0.1f, 0.1f}},
    {&kRoundNearestAfz, kOfFloats},
    {&kRoundNearestEven, kOfFloats},
    {&kRsqrt, {0, 0.12f, 0.1f, 0.35f}},
    {&kSelect, {0.05f, 0.04f, 0.04f, 0.1f}},
    {&kShiftLeft, kShift},
    {&kShiftRightArithmetic, kShift},
    {&kShiftRightLogical, kShift},
    {&kSign, kOfFloats},
    {&kSine, {0, 0.35f, 0.3f, 0.7f}},
    {&kSqrt, {0, 0.1f, 0.07f, 0.25f}},
    {&kSubtract, kSimple},
    {&kTan, {0, 0.65f, 0.6f, 1}},
    {&kTanh, {0, 1, 0.9f, 1.8f}},
    {&kXor, kSimple},
};

// How many times as long another set of instructions takes.
double Slower(Isa isa) {
  if (isa == Isa::kAvx512) return 1;
  return isa == Isa::kAvx2 ? 1.5 : 3;
}

double OfOne(const Lanes& lanes, DType dtype) {
  const auto bytes = static_cast<double>(ByteWidth(dtype));
  if (IsFloat(dtype)) {
    return bytes == 2 ? lanes.half : bytes == 4 ? lanes.f32 : lanes.f64;
  }
  if (dtype == DType::kBool && lanes.boolean > 0) return lanes.boolean;
  if (bytes < 4 && lanes.narrow > 0) return lanes.narrow;
  return lanes.integer * bytes / 4;
}

double Of(const Lanes& lanes, DType dtype, Isa isa) {
  if (isa == Isa::kBase || IsComplex(dtype)) return 0;
  return OfOne(lanes, dtype) * Slower(isa);
}

double ElementSeconds(const OpDef& op, DType dtype) {
  if (&op == &kSlice) return 0;  // another offset of a load
  return LaneSteps(op, dtype) * 1e-9;
}

}  // namespace

double LaneSteps(const OpDef& op, DType dtype, Isa isa) {
  static const auto& rows = *[] {
    auto* map = new absl::flat_hash_map<const OpDef*, const Lanes*>();
    for (const LaneCost& row : kLaneCosts) map->emplace(row.op, &row.lanes);
    return map;
  }();
  if (const auto row = rows.find(&op); row != rows.end()) {
    const double steps = Of(*row->second, dtype, isa);
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
