#include "core/ops/registry.h"

#include "absl/container/flat_hash_map.h"
#include "core/ir/leaves.h"
#include "core/ops/compare.h"
#include "core/ops/control.h"
#include "core/ops/convert.h"
#include "core/ops/dot.h"
#include "core/ops/elementwise.h"
#include "core/ops/gather.h"
#include "core/ops/reduce.h"
#include "core/ops/scatter.h"
#include "core/ops/shape.h"
#include "core/ops/slice.h"

namespace hawser {
namespace {

// Sorted by name.
constexpr const OpDef* kAllOps[] = {
    &kAbs,
    &kAdd,
    &kAnd,
    &kArgMax,
    &kArgMin,
    &kAtan2,
    &kBitcastConvert,
    &kBroadcastInDim,
    &kCase,
    &kCeil,
    &kClamp,
    &kCompare,
    &kComplex,
    &kConcatenate,
    &kConstant,
    &kConvert,
    &kCosine,
    &kDivide,
    &kDotGeneral,
    &kDynamicSlice,
    &kDynamicUpdateSlice,
    &kExponential,
    &kExponentialMinusOne,
    &kFloor,
    &kFusion,
    &kGather,
    &kImag,
    &kIota,
    &kIsFinite,
    &kLog,
    &kLogPlusOne,
    &kLogistic,
    &kMaximum,
    &kMinimum,
    &kMultiply,
    &kNegate,
    &kNot,
    &kOr,
    &kPad,
    &kParameter,
    &kPower,
    &kReal,
    &kReduce,
    &kRemainder,
    &kReshape,
    &kReverse,
    &kRoundNearestEven,
    &kRsqrt,
    &kScatter,
    &kSelect,
    &kShiftLeft,
    &kShiftRightArithmetic,
    &kShiftRightLogical,
    &kSign,
    &kSine,
    &kSlice,
    &kSqrt,
    &kStopGradient,
    &kSubtract,
    &kTanh,
    &kTranspose,
    &kWhile,
    &kXor,
};

// Rules that are missing are registry_test's: under ubsan g++ cannot compare a
// function's address with nullptr in a constant expression.
constexpr bool SortedAndComplete() {
  absl::string_view last;
  for (const OpDef* op : kAllOps) {
    if (op->name <= last || op->summary.empty() || op->source.empty() ||
        op->since > kOpset) {
      return false;
    }
    last = op->name;
  }
  return true;
}
static_assert(SortedAndComplete(),
              "ops stand in order of their names, with all fields filled");

}  // namespace

absl::Span<const OpDef* const> AllOps() { return kAllOps; }

const OpDef* FindOp(absl::string_view name) {
  static const auto& by_name = *[] {
    auto* map = new absl::flat_hash_map<absl::string_view, const OpDef*>();
    for (const OpDef* op : kAllOps) map->emplace(op->name, op);
    return map;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

}  // namespace hawser
