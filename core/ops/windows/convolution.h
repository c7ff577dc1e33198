// Convolutions: the row, and the formulas that become it.
#ifndef HAWSER_CORE_OPS_WINDOWS_CONVOLUTION_H_
#define HAWSER_CORE_OPS_WINDOWS_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/values/dtype.h"
#include "core/ir/op_def.h"
#include "core/ops/expression.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferConvolution(const InferContext& context);
AxisMap ConvolutionAxes(const InferContext&, absl::Span<const Shape> results);
absl::Status ConvolutionPart(PartContext&);
absl::Status ConvolutionSplit(SplitContext&);
absl::StatusOr<std::vector<Expression>> ConvolutionBatch(BatchContext&);
absl::Status ConvolutionGradient(GradientContext&);

inline constexpr AttributeSpec kConvolutionAttributes[] = {
    {"feature_group_count", AttributeKind::kInt, true,
     "groups of features, each with results of its own"},
    {"lhs_dilation", AttributeKind::kInts, true,
     "steps between elements of x, which zeros fill"},
    {"padding_high", AttributeKind::kInts, true, "zeros behind; negative: cut"},
    {"padding_low", AttributeKind::kInts, true,
     "zeros in front; negative: cut"},
    {"rhs_dilation", AttributeKind::kInts, true,
     "steps between places of the kernel"},
    {"window_strides", AttributeKind::kInts, true,
     "steps between places where it is laid"},
};
// x [batch, spatial..., features] and a kernel [spatial..., features / groups,
// out] give [batch, spatial..., out].
// C1: x has one of the row's dtypes. C2: both have one rank, at least 3. C3:
// they have one dtype. C4: each list has one entry a spatial axis. C5: strides,
// dilations and the groups are at least 1. C6: the groups divide features and
// out. C7: the kernel takes the features of a group. C8: the padded x and the
// result are shapes.
inline constexpr OpDef kConvolution{
    .name = "convolution",
    .arity = {2, 2},
    .dtypes = kNumbers,
    .attributes = kConvolutionAttributes,
    .infer = InferConvolution,
    .axes = ConvolutionAxes,
    .part = PartBy(ConvolutionPart),
    .split = ConvolutionSplit,
    .batch = BatchBy(ConvolutionBatch),
    .gradient = ByRule(ConvolutionGradient),
    .traits = kHawserOnly,
    .ulp = 16,
    .summary =
        "Sums of products of a kernel's places and features with what "
        "lies under them, features last; the kernel is not turned "
        "around.",
    .source = "StableHLO convolution, in one layout"};

inline constexpr const OpDef* kConvolutionOps[] = {&kConvolution};

// A convolution over k spatial axes. Each list has one entry an axis.
struct ConvolutionSpec {
  Dims strides;
  Dims low;
  Dims high;
  Dims x_dilations;
  Dims kernel_dilations;
  int64_t groups = 1;
  // Each group of batches has results of its own, of its part of the kernel's;
  // beside groups above 1 it must be 1.
  int64_t batch_groups = 1;

  // Of strides and dilations of 1, without padding.
  static ConvolutionSpec Of(size_t spatial_axes);
  // Reads the attributes of a row, and writes them.
  static ConvolutionSpec Of(const Attributes& attributes);
  Attributes ToAttributes() const;
};

// Errors: kInvalidArgument that names what does not fit, with its sizes; it
// takes tensors without spatial axes, too.
absl::Status CheckConvolution(const Shape& x, const Shape& kernel,
                              const ConvolutionSpec& spec);

// The result, [batch, spatial..., out] of dtype `result`, which may be wider
// than the operands' (as of dot_general). Takes what CheckConvolution takes.
// It is a product of matrices where there are no spatial axes.
Expression Convolved(const Expression& x, const Expression& kernel,
                     const ConvolutionSpec& spec, DType result);

// Products of a group for each of its results, up to which they are added up by
// a loop: a product of such matrices would be mostly overhead.
inline constexpr int64_t kFewProducts = 16;
// The same as a product of windows, which are written out, and the kernel: for
// engines that have no convolution. Where groups have few products it is a sum
// of them, which one kernel computes.
Expression ConvolvedByProduct(const Expression& x, const Expression& kernel,
                              const ConvolutionSpec& spec, DType result);
// True if a computation of a module has a convolution.
bool HasConvolutions(const Module& module);
// The module with these products for its convolutions.
absl::StatusOr<Module> WithoutConvolutions(const Module& module);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_WINDOWS_CONVOLUTION_H_
