// OpContext: what a row is given.
#ifndef HAWSER_CLIENT_STABLEHLO_BODY_OP_CONTEXT_H_
#define HAWSER_CLIENT_STABLEHLO_BODY_OP_CONTEXT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/stablehlo/body/body.h"
#include "client/stablehlo/body/program.h"
#include "client/stablehlo/body/row.h"
#include "client/stablehlo/tree/tree.h"
#include "core/base/values/shape.h"
#include "core/ir/attributes.h"

namespace hawser::stablehlo {

// The op, its operands and what its results are said to be. Errors of the
// builder are sticky, so rows need not look for them.
class OpContext {
 public:
  Program& program;
  Body& body;
  const Op& op;
  const Row& row;
  Values operands;
  std::vector<Shape> results;

  ComputationBuilder& builder() { return body.builder(); }
  // It returns a copy since the builder moves its shapes as it grows.
  Shape shape(ValueId value) { return builder().shape(value); }
  Shape operand_shape(size_t i) { return shape(operands[i]); }

  // Adds an instruction, and gives its results.
  Values Add(const OpDef& def, absl::Span<const ValueId> on,
             Attributes attributes = {}, absl::Span<const int> called = {});
  // The first result.
  ValueId AddOne(const OpDef& def, absl::Span<const ValueId> on,
                 Attributes attributes = {}) {
    const Values values = Add(def, on, std::move(attributes));
    return values.empty() ? kNoValue : values[0];
  }

  // Errors: kInvalidArgument for a number of operands or regions outside.
  absl::Status ExpectOperands(size_t least, size_t most) const;
  absl::Status ExpectRegions(size_t count) const;

  // Attributes by their names in the generic form; without one the fallback.
  // Errors: kInvalidArgument for one of another kind.
  absl::StatusOr<Dims> Ints(absl::string_view name) const;
  absl::StatusOr<int64_t> Int(absl::string_view name, int64_t fallback) const;
  absl::string_view Text(absl::string_view name) const;
  // Returns the attributes that `def` has, by the names they have there; "dims"
  // and "dtype" are the result's.
  absl::StatusOr<Attributes> AttributesOf(const OpDef& def) const;

  // The op's regions as computations, each taking nothing but its arguments.
  // Errors: kUnimplemented for one that captures more than constants.
  absl::StatusOr<std::vector<int>> ClosedRegions();
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BODY_OP_CONTEXT_H_
