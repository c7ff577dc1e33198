// Shapes, literals and attribute values out of the text form.
#ifndef HAWSER_CORE_IR_TEXT_PARSER_VALUES_H_
#define HAWSER_CORE_IR_TEXT_PARSER_VALUES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/ir/attributes.h"
#include "core/ir/text/parser_tokens.h"

namespace hawser {

// The budget that the values of one text have left; asked before memory is.
struct ValueBudget {
  int64_t constant_bytes = 0;
  int64_t numbers = 0;  // in lists
};

// "f32[2,3]". Errors: kInvalidArgument; kUnimplemented for a reserved dtype.
absl::StatusOr<Shape> ParseShape(TokenReader& in);

// One element of `dtype`, as AppendElement writes it, written to `to`.
// Errors: kInvalidArgument for another kind of element, one that does not fit.
absl::Status ParseElement(TokenReader& in, DType dtype, char* to);

// Any kind of attribute, recognized by how it is written.
// Errors: as above; kResourceExhausted when `budget` is used up.
absl::StatusOr<AttributeValue> ParseAttributeValue(TokenReader& in,
                                                   ValueBudget* budget);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_TEXT_PARSER_VALUES_H_
