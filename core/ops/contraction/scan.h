// Scans: each element becomes what it and those before it come to.
#ifndef HAWSER_CORE_OPS_CONTRACTION_SCAN_H_
#define HAWSER_CORE_OPS_CONTRACTION_SCAN_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferScan(const InferContext& context);
absl::Status ScanPart(PartContext&);
absl::Status ScanGradient(GradientContext&);

inline constexpr AttributeSpec kScanAttributes[] = {
    {"dimension", AttributeKind::kInt, true, "the axis to go along"},
    {"reverse", AttributeKind::kBool, false, "from its end to its beginning"},
};
// C1: all inputs have the same sizes. C2: dimension is an axis. C3: the
// computation takes 2N scalars of the N inputs' dtypes: N running values, then N
// elements. C4: it gives the N running values.
inline constexpr OpDef kScan{
    .name = "scan",
    .arity = {1, kMany},
    .dtypes = kAnyDType,
    .attributes = kScanAttributes,
    .called = {1, 1},
    .infer = InferScan,
    .axes = AxesBesideDimension,
    .part = PartBy(ScanPart),
    .batch = BatchByEdits(kShiftedDimension),
    .gradient = ByRule(ScanGradient),
    .traits = kHasRegions | kHawserOnly,
    .ulp = 16,
    .summary = "Running values of N inputs along an axis: the first element, "
               "then what a computation, taken to be associative, makes of the "
               "running values and the next elements.",
    .source = "hawser; Nx cumulative_sum, JAX associative_scan"};

inline constexpr const OpDef* kScanOps[] = {&kScan};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_CONTRACTION_SCAN_H_
