// PartContext is the input of a part rule. The rules stand in part_*.cc, one
// file a family; core/sharding calls them.
#ifndef HAWSER_CORE_OPS_PART_PART_H_
#define HAWSER_CORE_OPS_PART_PART_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"
#include "core/ops/part/box.h"

namespace hawser {

// A box, or nothing of the tensor at all.
using MaybeBox = std::optional<Box>;

// The instructions of a part grow here.
struct PartScope {
  ExpressionScope& scope;
  // They hold exactly the boxes that were asked for; not present: nothing was.
  absl::Span<const Expression> operands;
  // The rule fills these with the boxes that it gives.
  absl::Span<Expression> results;
  // A number that says where the part lies, s64[]. Parts of equal sizes differ
  // in such numbers alone, so that they are one module with other arguments.
  absl::FunctionRef<Expression(int64_t)> offset;
  // A called computation of the instruction as it is.
  absl::FunctionRef<absl::StatusOr<int>(int called)> whole;
  // Returns that computation for parts: it takes `takes` of the parameters that
  // have one, which holds what PartContext::asks_of said, and gives `gives` of
  // the results that have one.
  absl::FunctionRef<absl::StatusOr<int>(int called,
                                        absl::Span<const MaybeBox> takes,
                                        absl::Span<const MaybeBox> gives)>
      part_of;

  // Result k is `x`.
  void Give(int k, Expression x) { results[k] = x; }
};
using MakePart = std::function<absl::Status(PartScope&)>;

// One instruction, of whose results boxes are asked for. A rule is to slicing
// what a gradient is to derivatives: it says which boxes of the operands those
// are made of, and how. The boxes are exact; what is asked for may be too much,
// but never too little.
struct PartContext {
  const Instruction& instruction;
  absl::Span<const Shape> operands;
  absl::Span<const Shape> results;
  // One per result; at least one has elements.
  absl::Span<const MaybeBox> wanted;

  // The rule fills these, one per operand: nothing at first.
  absl::Span<MaybeBox> asks;
  // One per result, as wanted at first: what the part makes, which holds what
  // is wanted, and from which that is then sliced.
  absl::Span<MaybeBox> gives;
  // To set where the same instruction on those parts of its operands, with the
  // same attributes and computations, does not give `gives`.
  MakePart make;

  // Returns the boxes that a called computation takes of its parameters for
  // those boxes of its results.
  absl::FunctionRef<absl::StatusOr<std::vector<MaybeBox>>(
      int called, absl::Span<const MaybeBox> gives)>
      asks_of;

  // The box of the only result.
  const Box& box() const { return *wanted[0]; }
  const Shape& operand() const { return operands[0]; }
  const Shape& result() const { return results[0]; }
  const Attributes& attributes() const { return instruction.attributes; }
  absl::Span<const int64_t> ints(absl::string_view name) const {
    return instruction.attributes.GetInts(name);
  }
  void AskWhole(int operand) { asks[operand] = WholeBox(operands[operand]); }
};

// The smallest box that holds all of those that are there.
MaybeBox HullOf(absl::Span<const MaybeBox> boxes);

// ---- for the formulas -----------------------------------------------------

// x holds the box `of` of a tensor; that of `wanted`, which lies in it.
Expression SliceTo(const Expression& x, const Box& of, const Box& wanted);
// `into` holds the box `of` of a tensor, x that of `part`, which lies in it:
// `into` with x in its place.
Expression PutInto(const Expression& into, const Box& of, const Expression& x,
                   const Box& part);
// Adds `value` to component `component` of index vectors, s64, that lie along
// `axis`; an axis that is not there: each is one component.
Expression AddedTo(const Expression& indices, int axis, int component,
                   const Expression& value);
// Such index vectors as a gather takes them: s64, component k in [0, last[k]].
Expression ClampedStarts(const Expression& indices, int axis,
                         absl::Span<const int64_t> last);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_PART_PART_H_
