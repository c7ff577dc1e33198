// OpDef: everything the project knows about an op, as one row of data. There
// is no opcode enum: an op's identity is the address of its row, and on the
// wire its name. Passes, printer, codec, fuzzer and op table read rows.
#ifndef HAWSER_CORE_IR_OP_DEF_H_
#define HAWSER_CORE_IR_OP_DEF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/base/values/shape.h"
#include "core/ir/attributes.h"
#include "core/ir/types/signature.h"

namespace hawser {

using ir::Signature;

struct OpDef;
class BatchCalls;
class ComputationBuilder;
class Expression;
struct Instruction;

using Shapes = absl::InlinedVector<Shape, 1>;
// Values are numbered per computation; an instruction with k results takes k
// consecutive numbers. -1 stands for "no value" after a builder's error.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

// "(f32[2], s32[])"; only the first few, so that an error stays short.
std::string ShapesToString(absl::Span<const Shape> shapes);

// ---- shape rules ----------------------------------------------------------

// The input of every shape rule.
struct InferContext {
  const OpDef& op;
  absl::Span<const Shape> operands;
  const Attributes& attributes;
  // Signatures of the called computations, in order.
  absl::Span<const Signature* const> called;
};
using ShapeRule = absl::StatusOr<Shapes> (*)(const InferContext&);

// The error of numbered constraint `n` of an op: "C2: <text>". The number
// stands in the op's comment, here, and in the name of the negative test.
template <typename... Args>
absl::Status Violates(int n, const Args&... text) {
  return InvalidArgument("C", n, ": ", text...);
}

// Says where result dtypes come from, readable by the fuzzer and the op table.
struct DTypeRule {
  enum Kind : uint8_t {
    kSameAs,
    kFixed,
    kFromAttribute,
    kFromAttributeOrOperand,
    kFromComputation,
    kRealPartOf,  // f32 of c64; a real dtype stays
    kComplexOf,   // c64 of f32
  };
  Kind kind = kSameAs;
  int operand = 0;                // kSameAs, kRealPartOf, kComplexOf
  DType fixed = DType::kInvalid;  // kFixed
  // kFromAttribute; absent: `fixed`. kFromAttributeOrOperand; absent: that of
  // `operand`.
  absl::string_view attribute = {};
};
constexpr DTypeRule SameAs(int operand) {
  return {.kind = DTypeRule::kSameAs, .operand = operand};
}
constexpr DTypeRule Always(DType dtype) {
  return {.kind = DTypeRule::kFixed, .fixed = dtype};
}
constexpr DTypeRule FromAttribute(absl::string_view name,
                                  DType fallback = DType::kInvalid) {
  return {.kind = DTypeRule::kFromAttribute,
          .fixed = fallback,
          .attribute = name};
}
constexpr DTypeRule FromAttributeOrOperand(absl::string_view name,
                                           int operand) {
  return {.kind = DTypeRule::kFromAttributeOrOperand,
          .operand = operand,
          .attribute = name};
}
constexpr DTypeRule FromComputation() {
  return {.kind = DTypeRule::kFromComputation};
}
constexpr DTypeRule RealPartOf(int operand) {
  return {.kind = DTypeRule::kRealPartOf, .operand = operand};
}
constexpr DTypeRule ComplexOf(int operand) {
  return {.kind = DTypeRule::kComplexOf, .operand = operand};
}

struct AttributeSpec {
  absl::string_view name;
  AttributeKind kind;
  bool required = true;
  absl::string_view summary = "";
};

struct CountRange {  // inclusive
  int min = 0;
  int max = 0;
};
inline constexpr int kMany = 1 << 20;

// ---- axes -----------------------------------------------------------------

// Says how an axis takes part in an op. Vectorize, the sharding partitioner and
// the planner read this; kOpaque (cannot be split) is a stated choice.
enum class AxisKind : uint8_t {
  kParallel,    // each index of the result needs the same index of operands
  kContracted,  // summed away by a monoid, or searched
  kBroadcast,   // in the result, not in this operand
  kWindowed,    // needs a halo
  kIndexed,     // addressed by values
  kOpaque,
};
absl::string_view AxisKindName(AxisKind kind);

// Axes that move together are one factor.
struct AxisMap {
  struct Factor {
    AxisKind kind;
    int64_t size;
  };
  using Axes = absl::InlinedVector<int, 6>;  // factor of each axis
  std::vector<Factor> factors;
  std::vector<Axes> operands;
  std::vector<Axes> results;

  int AddFactor(AxisKind kind, int64_t size) {
    factors.push_back({kind, size});
    return static_cast<int>(factors.size()) - 1;
  }
};
// Called only after `infer` accepted the same context; gets its results.
using AxesRule = AxisMap (*)(const InferContext&,
                             absl::Span<const Shape> results);

// ---- parts ----------------------------------------------------------------

// The input of a part rule: an instruction and boxes of its results. It says
// which boxes of the operands these are made of, and how. See core/ops/part.
struct PartContext;
using PartRule = absl::Status (*)(PartContext&);

// Says how boxes of an instruction's results are made of parts of its operands.
struct PartDef {
  enum Kind : uint8_t { kUndecided, kRule, kLeaf, kWhole };
  Kind kind = kUndecided;
  PartRule rule = nullptr;
};
// It has no operands: those who make parts make it.
inline constexpr PartDef kLeafPart{PartDef::kLeaf};
// It is computed whole, of whole operands, and then cut: a stated choice.
inline constexpr PartDef kWholePart{PartDef::kWhole};
constexpr PartDef PartBy(PartRule rule) { return {PartDef::kRule, rule}; }

// The input of a split rule: an instruction and parts of the axes of its
// operands that it contracts or addresses by values. It makes a partial result
// of each, and combines them. See core/ops/part/split.h.
struct SplitContext;
using SplitRule = absl::Status (*)(SplitContext&);

// ---- batches --------------------------------------------------------------

// Says how an attribute changes when operands have the batch as a new axis 0.
struct AttributeEdit {
  enum Kind : uint8_t {
    kShift,      // axis numbers, or one: each is one more
    kShiftAnd0,  // a list of them, which gets axis 0 in front
    kFront0,     // one entry per axis: 0 in front
    kFront1,
    kFrontSize,  // the size of the batch in front
  };
  absl::string_view name;
  Kind kind;
};

// The input of a batch rule, which gives the results of an instruction some of
// whose operands have the batch as axis 0. See core/ops/batch.
struct BatchContext;
using BatchRule = absl::StatusOr<std::vector<Expression>> (*)(BatchContext&);
// Returns which results of an instruction have the batch if these operands do.
using BatchFlags = std::vector<bool>;
using BatchFlowRule = absl::StatusOr<BatchFlags> (*)(
    BatchCalls&, const Instruction&, const BatchFlags& batched);

// Says how an op takes the batch.
struct BatchDef {
  BatchRule rule = nullptr;  // nullptr: undecided
  absl::Span<const AttributeEdit> edits = {};
  BatchFlowRule flow = nullptr;  // nullptr: all results if any operand
};

// ---- gradients ------------------------------------------------------------

// The input of a gradient rule: the instruction's operands, results and the
// results' cotangents, all as values of `builder`. It fills
// `operand_cotangents` (kNoValue: zero). See core/autodiff.
struct GradientContext;
using GradientRule = absl::Status (*)(GradientContext&);

struct GradientDef {
  enum Kind : uint8_t { kRule, kZero, kNotDifferentiable, kNotYet };
  Kind kind;
  GradientRule rule = nullptr;
};
// The result does not depend smoothly on the operands: gradient is zero.
inline constexpr GradientDef kZeroGradient{GradientDef::kZero};
// Asking for the gradient is an error.
inline constexpr GradientDef kNotDifferentiable{
    GradientDef::kNotDifferentiable};
// Differentiable, the rule is not written: an honest kUnimplemented.
inline constexpr GradientDef kGradientNotYet{GradientDef::kNotYet};
// core/autodiff/README.md says what the rule gives at ties and edges.
constexpr GradientDef ByRule(GradientRule rule) {
  return {GradientDef::kRule, rule};
}

// ---- folding --------------------------------------------------------------

// A commutative op of two operands that engines fold axes with. Its neutral
// element, combined with x, gives x.
struct MonoidDef {
  enum Neutral : uint8_t { kNone, kZero, kOne, kLowest, kHighest, kAllBits };
  absl::string_view name = {};  // of the fold: "Sum" of add
  Neutral neutral = kNone;      // kNone: the op is no monoid
  explicit operator bool() const { return neutral != kNone; }
};

// The kind of work that an elementwise op does for one element; how long that
// takes is known to engines.
enum class CostClass : uint8_t {
  kSimple,    // as much as an addition
  kDivision,  // a division or a square root
  kFunction,  // an exponential, a logarithm
  kLong,      // several of those
};

// ---- the row --------------------------------------------------------------

enum Trait : uint32_t {
  kElementwise = 1 << 0,   // result[i] needs operands[..][i] only
  kCommutative = 1 << 1,   // the two operands may be swapped, bit for bit
  kDataMovement = 1 << 2,  // moves or repeats elements, computes nothing
  kNullary = 1 << 3,       // no operands: parameter, constant, iota
  kHasRegions = 1 << 4,    // takes called computations
  kHawserOnly = 1 << 5,    // not a StableHLO mnemonic
  // Values decide which called computations run, and how often.
  kControlFlow = 1 << 6,
};

struct OpDef {
  absl::string_view name;  // StableHLO's mnemonic where it has one
  int since = 1;           // the opset that brought it
  CountRange arity;
  DTypeSet dtypes;  // of the operands the family rule speaks of
  DTypeRule result;
  absl::Span<const AttributeSpec> attributes = {};
  CountRange called = {};  // number of called computations
  ShapeRule infer = nullptr;
  AxesRule axes = nullptr;
  PartDef part = {};
  SplitRule split = nullptr;  // nullptr: it has no contraction of its own
  BatchDef batch = {};
  GradientDef gradient = kNotDifferentiable;
  uint32_t traits = 0;
  MonoidDef monoid = {};
  CostClass cost = CostClass::kSimple;  // of elementwise ops
  // Units in the last place an engine may be off (strict numerics); 0 means
  // bit-equal on every engine.
  int ulp = 0;
  absl::string_view summary;
  absl::string_view source;  // where the semantics come from

  bool Is(Trait trait) const { return (traits & trait) != 0; }
  const AttributeSpec* FindAttribute(absl::string_view attribute) const;
};

// Arity, attributes (unknown, missing, wrong kind), number of computations,
// then the op's own shape rule. Errors: kInvalidArgument starting with the
// op's name. Every way into the IR goes through here.
absl::StatusOr<Shapes> InferShapes(const InferContext& context);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_OP_DEF_H_
