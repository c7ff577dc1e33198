// Control flow: loops and branches over called computations, computations run
// as one kernel, and where differentiating stops.
#ifndef HAWSER_CORE_OPS_CONTRACTION_CONTROL_H_
#define HAWSER_CORE_OPS_CONTRACTION_CONTROL_H_

#include "core/ir/op_def.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferWhile(const InferContext& context);
absl::StatusOr<Shapes> InferCase(const InferContext& context);
absl::StatusOr<Shapes> InferFusion(const InferContext& context);
absl::StatusOr<Shapes> InferCall(const InferContext& context);
absl::Status WhilePart(PartContext&);
absl::Status CasePart(PartContext&);

absl::StatusOr<std::vector<Expression>> WhileBatch(BatchContext&);
absl::StatusOr<std::vector<Expression>> CaseBatch(BatchContext&);
absl::StatusOr<std::vector<Expression>> FusionBatch(BatchContext&);
absl::StatusOr<std::vector<Expression>> CallBatch(BatchContext&);
absl::StatusOr<BatchFlags> WhileBatchFlow(BatchCalls&, const Instruction&,
                                          const BatchFlags& batched);
absl::StatusOr<BatchFlags> CaseBatchFlow(BatchCalls&, const Instruction&,
                                         const BatchFlags& batched);
absl::StatusOr<BatchFlags> FusionBatchFlow(BatchCalls&, const Instruction&,
                                           const BatchFlags& batched);
absl::StatusOr<BatchFlags> CallBatchFlow(BatchCalls&, const Instruction&,
                                         const BatchFlags& batched);
absl::Status WhileGradient(GradientContext&);
absl::Status CaseGradient(GradientContext&);
absl::Status CallGradient(GradientContext&);

inline constexpr AttributeSpec kWhileAttributes[] = {
    {"num_invariant", AttributeKind::kInt, false,
     "how many operands at the end stay the same; 0 if left out"},
};
// Called: condition, body. The last num_invariant operands go to both after the
// state; they are no results.
// C1: 0 <= num_invariant < number of operands. C2: the condition takes the
// operands. C3: it gives one bool[]. C4: the body takes the operands. C5: it
// gives the state.
inline constexpr OpDef kWhile{
    .name = "while",
    .arity = {1, kMany},
    .dtypes = kAnyDType,
    .attributes = kWhileAttributes,
    .called = {2, 2},
    .infer = InferWhile,
    .axes = OpaqueAxes,
    .part = PartBy(WhilePart),
    .batch = BatchBy(WhileBatch, WhileBatchFlow),
    .gradient = ByRule(WhileGradient),
    .traits = kHasRegions | kControlFlow,
    .summary =
        "Runs the body on the state as long as the condition holds "
        "before a turn; gives the last state.",
    .source = "StableHLO while, plus num_invariant"};

// Called: one or more branches.
// C1: operand 0 is s32[]. C2: every branch takes the other operands. C3: all
// branches give the same shapes.
inline constexpr OpDef kCase{
    .name = "case",
    .arity = {1, kMany},
    .dtypes = kAnyDType,
    .result = FromComputation(),
    .called = {1, kMany},
    .infer = InferCase,
    .axes = OpaqueAxes,
    .part = PartBy(CasePart),
    .batch = BatchBy(CaseBatch, CaseBatchFlow),
    .gradient = ByRule(CaseGradient),
    .traits = kHasRegions | kControlFlow,
    .summary =
        "Runs the branch operand 0 names on the other operands; an "
        "index out of range names the last branch.",
    .source = "StableHLO case, operands explicit instead of captured"};

inline constexpr AttributeSpec kFusionAttributes[] = {
    {"kind", AttributeKind::kString, false,
     "what a planner took it for (a note for readers)"},
};
// Called: the computation that is its meaning. Planners make these; an engine
// may run one as a single kernel or call the computation.
// C1: the computation takes the operands.
inline constexpr OpDef kFusion{
    .name = "fusion",
    .arity = {0, kMany},
    .dtypes = kAnyDType,
    .result = FromComputation(),
    .attributes = kFusionAttributes,
    .called = {1, 1},
    .infer = InferFusion,
    .axes = OpaqueAxes,
    .part = kWholePart,
    .batch = BatchBy(FusionBatch, FusionBatchFlow),
    .gradient = kNotDifferentiable,
    .traits = kHasRegions | kHawserOnly,
    .summary =
        "Runs its computation on the operands, as one kernel where the "
        "engine can.",
    .source = "hawser; made by kernels/plan"};

// Called: a computation, and it may be its pull-back, which takes a cotangent
// of each result of floats or complex numbers, then the operands, and gives one
// of each such operand. Passes put the computation in its place once nothing is
// left to differentiate.
// C1: the computation takes the operands. C2: the pull-back takes cotangents
// and the operands. C3: it gives cotangents.
inline constexpr OpDef kCall{
    .name = "call",
    .arity = {0, kMany},
    .dtypes = kAnyDType,
    .result = FromComputation(),
    .called = {1, 2},
    .infer = InferCall,
    .axes = OpaqueAxes,
    .part = kWholePart,
    .batch = BatchBy(CallBatch, CallBatchFlow),
    .gradient = ByRule(CallGradient),
    .traits = kHasRegions | kHawserOnly,
    .summary =
        "Runs its computation on the operands. Its gradient is that of its "
        "pull-back, or else computes again what it needs of the computation.",
    .source = "hawser; JAX checkpoint and custom_vjp"};

// C1: the operand has one of the row's dtypes. Passes take it out once nothing
// is left to differentiate.
inline constexpr OpDef kStopGradient =
    Unary({.name = "stop_gradient",
           .dtypes = kAnyDType,
           .gradient = kZeroGradient,
           .traits = kHawserOnly,
           .summary = "The operand; taken for a constant by differentiation.",
           .source = "hawser; Nx stop_grad"});

inline constexpr const OpDef* kControlOps[] = {&kWhile, &kCase, &kFusion,
                                               &kCall, &kStopGradient};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_CONTRACTION_CONTROL_H_
