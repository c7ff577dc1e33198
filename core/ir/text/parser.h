// The text form read back: Print, parse, Print gives the same bytes.
#ifndef HAWSER_CORE_IR_TEXT_PARSER_H_
#define HAWSER_CORE_IR_TEXT_PARSER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/ir/verifier.h"

namespace hawser {

// The limits of what a parser accepts. Memory stays in proportion to these.
struct TextLimits {
  int64_t bytes = int64_t{64} << 20;  // of text
  ModuleLimits module;                // its `bytes` is not looked at
};

// The op of a name, or nullptr; FindOp of core/ops/registry.h.
using OpLookup = const OpDef* (*)(absl::string_view name);

// Parses and verifies: every shape is inferred again and compared with what
// the text claims, and nothing recurses on it. Grammar in README.md.
// Errors, all with "line:column: " in front, except limits of the whole
// module: kInvalidArgument naming the token and what was expected, or the
// constraint; kResourceExhausted naming the limit; kUnimplemented for an
// unknown op or a reserved dtype.
absl::StatusOr<Module> ParseModule(absl::string_view text, OpLookup find_op,
                                   const TextLimits& limits = {});

// One element, "3.5", "true", "(1, -2)", as a scalar of `dtype`, which must be
// supported. f16 and bf16 are read as f32 and rounded.
// Errors: kInvalidArgument.
absl::StatusOr<Literal> ParseScalar(absl::string_view text, DType dtype);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_TEXT_PARSER_H_
