// unfold: windows that slide along axes, laid out as axes of their own.
// Pooling, reduce_window, select_and_scatter and convolutions are made of it:
// it moves elements, so engines read windows in place and never write them out.
#ifndef HAWSER_CORE_OPS_WINDOWS_UNFOLD_H_
#define HAWSER_CORE_OPS_WINDOWS_UNFOLD_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferUnfold(const InferContext& context);
AxisMap UnfoldAxes(const InferContext&, absl::Span<const Shape> results);
absl::Status UnfoldPart(PartContext&);
absl::Status UnfoldGradient(GradientContext&);

inline constexpr AttributeSpec kUnfoldAttributes[] = {
    {"dimensions", AttributeKind::kInts, true,
     "the axes that windows slide along"},
    {"window_dilations", AttributeKind::kInts, true,
     "steps between two places of a window, for each of them"},
    {"window_dimensions", AttributeKind::kInts, true,
     "places of a window along each of them"},
    {"window_strides", AttributeKind::kInts, true,
     "steps between two windows, for each of them"},
};
// C1: dimensions are axes. C2: no two are the same. C3: the other attributes
// have one entry for each. C4: window_dimensions, window_strides and
// window_dilations are at least 1. C5: the result is a shape.
//
// A window of w places with a dilation of d takes (w - 1) d + 1 elements. An
// axis has as many windows as fit: none, if it is shorter.
inline constexpr OpDef kUnfold{
    .name = "unfold",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .attributes = kUnfoldAttributes,
    .infer = InferUnfold,
    .axes = UnfoldAxes,
    .part = PartBy(UnfoldPart),
    .batch = BatchByEdits(kShiftedDimensions),
    .gradient = ByRule(UnfoldGradient),
    .traits = kDataMovement | kHawserOnly,
    .summary =
        "All windows along axes: an axis numbers its windows, and a new "
        "one behind all others numbers the places of a window.",
    .source = "torch Tensor.unfold; NumPy sliding_window_view"};

inline constexpr const OpDef* kUnfoldOps[] = {&kUnfold};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_WINDOWS_UNFOLD_H_
