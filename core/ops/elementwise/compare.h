// Predicates and the choice by predicate.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_COMPARE_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_COMPARE_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferCompare(const InferContext& context);
absl::StatusOr<Shapes> InferSelect(const InferContext& context);
absl::Status SelectGradient(GradientContext&);

// `x kLt y` is x < y. In attributes it is its name.
enum class CompareDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
absl::string_view CompareDirectionName(CompareDirection direction);  // "LT"
// Returns nullopt for another name.
std::optional<CompareDirection> ParseCompareDirection(absl::string_view name);
// x D y is y Mirrored(D) x.
CompareDirection Mirrored(CompareDirection direction);
// Returns the direction of a verified `compare`.
CompareDirection CompareDirectionOf(const Attributes& attributes);

inline constexpr AttributeSpec kCompareAttributes[] = {
    {"direction", AttributeKind::kString, true, "EQ, NE, GE, GT, LE or LT"},
};

// C1: operand 0 has one of the row's dtypes. C2: both have one dtype. C3: both
// have the same sizes. C4: direction is EQ, NE, GE, GT, LE or LT. C5: complex
// numbers have EQ and NE only.
inline constexpr OpDef kCompare{
    .name = "compare",
    .arity = {2, 2},
    .dtypes = kAnyDType,
    .result = Always(DType::kBool),
    .attributes = kCompareAttributes,
    .infer = InferCompare,
    .axes = ElementwiseAxes,
    .part = PartBy(ElementwisePart),
    .batch = BatchBy(ElementwiseBatch),
    .gradient = kZeroGradient,
    .traits = kElementwise,
    .summary = "Compares elements; with NaN only NE holds; false < true.",
    .source = "StableHLO compare (compare_type FLOAT, SIGNED or UNSIGNED)"};

// C1: the predicate is bool. C2: both cases have one shape. C3: the predicate
// is a scalar or has the sizes of the cases.
inline constexpr OpDef kSelect{
    .name = "select",
    .arity = {3, 3},
    .dtypes = kAnyDType,
    .result = SameAs(1),
    .infer = InferSelect,
    .axes = ElementwiseAxes,
    .part = PartBy(ElementwisePart),
    .batch = BatchBy(ElementwiseBatch),
    .gradient = ByRule(SelectGradient),
    .traits = kElementwise,
    .summary =
        "Elements of operand 1 where operand 0 holds, else of operand "
        "2.",
    .source = "StableHLO select"};

inline constexpr const OpDef* kCompareOps[] = {&kCompare, &kSelect};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_COMPARE_H_
