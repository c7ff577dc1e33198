#include "core/vectorize/rule_table.h"

#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"

namespace hawser::vectorize {
namespace {

using Edit = AttributeEdit;

// Which attributes name axes, or have an entry for each, of what the row's rule
// makes of the same op.
constexpr Edit kAlongDimension[] = {{"dimension", Edit::kShift}};
constexpr Edit kAlongDimensions[] = {{"dimensions", Edit::kShift}};
constexpr Edit kNewSizes[] = {{"dims", Edit::kFrontSize}};
constexpr Edit kOfSlices[] = {{"slice_sizes", Edit::kFrontSize}};
constexpr Edit kOfBroadcast[] = {{"broadcast_dimensions", Edit::kShiftAnd0},
                                 {"dims", Edit::kFrontSize}};
constexpr Edit kOfTranspose[] = {{"permutation", Edit::kShiftAnd0}};
constexpr Edit kOfPad[] = {{"edge_padding_high", Edit::kFront0},
                           {"edge_padding_low", Edit::kFront0},
                           {"interior_padding", Edit::kFront0}};
constexpr Edit kOfSlice[] = {{"limit_indices", Edit::kFrontSize},
                             {"start_indices", Edit::kFront0},
                             {"strides", Edit::kFront1}};

constexpr absl::Span<const Edit> kNone = {};

// An op is a row; ops that are elementwise or have no operands need none.
const BatchRow kRows[] = {
    {&kArgMax, kAlongDimension, ByEdits},
    {&kArgMin, kAlongDimension, ByEdits},
    {&kBitcastConvert, kNone, ByEdits},  // its new or lost axis is the last
    {&kBroadcastInDim, kOfBroadcast, ByEdits},
    {&kCall, kNone, BatchCall, CallFlow},
    {&kCase, kNone, BatchCase, CaseFlow},
    {&kConcatenate, kAlongDimension, ByEdits},
    {&kDotGeneral, kNone, BatchDotGeneral},
    {&kDynamicSlice, kOfSlices, BatchDynamicSlice},
    {&kDynamicUpdateSlice, kNone, BatchDynamicUpdateSlice},
    {&kFusion, kNone, BatchFusion, FusionFlow},
    {&kGather, kNone, BatchGather},
    {&kPad, kOfPad, BatchPad},
    {&kReduce, kAlongDimensions, BatchReduce},
    {&kReshape, kNewSizes, ByEdits},
    {&kReverse, kAlongDimensions, ByEdits},
    {&kScan, kAlongDimension, ByEdits},
    {&kScatter, kNone, BatchScatter},
    {&kSlice, kOfSlice, ByEdits},
    {&kSort, kAlongDimension, ByEdits},
    {&kTranspose, kOfTranspose, ByEdits},
    {&kWhile, kNone, BatchWhile, WhileFlow},
};

absl::StatusOr<std::vector<Expression>> NothingReachesIt(BatchContext&) {
  return Internal("has no operands");
}

const BatchRow kElementwiseRow = {nullptr, kNone, BatchElementwise};
const BatchRow kNullaryRow = {nullptr, kNone, NothingReachesIt};

}  // namespace

const BatchRow* FindBatchRow(const OpDef& op) {
  if (op.Is(kElementwise)) return &kElementwiseRow;
  if (op.Is(kNullary)) return &kNullaryRow;
  for (const BatchRow& row : kRows) {
    if (row.op == &op) return &row;
  }
  return nullptr;
}

}  // namespace hawser::vectorize
