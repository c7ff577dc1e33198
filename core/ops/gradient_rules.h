// The gradient rules by name, for the rows of the families. What they give at
// ties and edges: core/autodiff/README.md.
#ifndef HAWSER_CORE_OPS_GRADIENT_RULES_H_
#define HAWSER_CORE_OPS_GRADIENT_RULES_H_

#include "absl/status/status.h"
#include "core/ir/op_def.h"

namespace hawser {

// For the `gradient` field of a row.
constexpr GradientDef ByRule(GradientRule rule) {
  return {GradientDef::kRule, rule};
}

// ---- gradient_elementwise.cc ----------------------------------------------

absl::Status AbsGradient(GradientContext&);
absl::Status NegateGradient(GradientContext&);
absl::Status SignGradient(GradientContext&);
absl::Status ExponentialGradient(GradientContext&);
absl::Status ExponentialMinusOneGradient(GradientContext&);
absl::Status LogGradient(GradientContext&);
absl::Status LogPlusOneGradient(GradientContext&);
absl::Status LogisticGradient(GradientContext&);
absl::Status SqrtGradient(GradientContext&);
absl::Status RsqrtGradient(GradientContext&);
absl::Status SineGradient(GradientContext&);
absl::Status CosineGradient(GradientContext&);
absl::Status TanhGradient(GradientContext&);
absl::Status RealGradient(GradientContext&);
absl::Status ImagGradient(GradientContext&);
absl::Status AddGradient(GradientContext&);
absl::Status SubtractGradient(GradientContext&);
absl::Status MultiplyGradient(GradientContext&);
absl::Status DivideGradient(GradientContext&);
absl::Status RemainderGradient(GradientContext&);
absl::Status PowerGradient(GradientContext&);
absl::Status Atan2Gradient(GradientContext&);
absl::Status ExtremeGradient(GradientContext&);  // maximum, minimum
absl::Status ComplexGradient(GradientContext&);
absl::Status ClampGradient(GradientContext&);
absl::Status SelectGradient(GradientContext&);
absl::Status ConvertGradient(GradientContext&);

// ---- gradient_movement.cc -------------------------------------------------

absl::Status BroadcastInDimGradient(GradientContext&);
absl::Status ReshapeGradient(GradientContext&);
absl::Status TransposeGradient(GradientContext&);
absl::Status ConcatenateGradient(GradientContext&);
absl::Status ReverseGradient(GradientContext&);
absl::Status PadGradient(GradientContext&);
absl::Status SliceGradient(GradientContext&);
absl::Status DynamicSliceGradient(GradientContext&);
absl::Status DynamicUpdateSliceGradient(GradientContext&);

// ---- gradient_indexed.cc --------------------------------------------------

absl::Status GatherGradient(GradientContext&);
absl::Status ScatterGradient(GradientContext&);

// ---- gradient_contraction.cc ----------------------------------------------

absl::Status ReduceGradient(GradientContext&);
absl::Status DotGeneralGradient(GradientContext&);

// ---- gradient_control.cc --------------------------------------------------

absl::Status CaseGradient(GradientContext&);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_GRADIENT_RULES_H_
