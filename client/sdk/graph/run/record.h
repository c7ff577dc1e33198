// Record: the one place where the SDK makes instructions.
#ifndef HAWSER_CLIENT_SDK_GRAPH_RUN_RECORD_H_
#define HAWSER_CLIENT_SDK_GRAPH_RUN_RECORD_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/region.h"
#include "core/ir/op_def.h"

namespace hawser::sdk {

// A recorded expression is run in pieces of at most about this many
// instructions: it bounds memory, the size of what is compiled, and the work
// lost when an intermediate value is asked for later.
inline constexpr int64_t kMaxRecording = 4096;

// Adds an instruction to the current trace or, outside one, records it.
// Returns its first result (the others: ResultOf); on an error a tensor that
// keeps it: the operand's if one is invalid, else this instruction's, naming
// the SDK function the user called.
Tensor Record(absl::string_view function, const OpDef& op,
              absl::Span<const Tensor> operands, Attributes attributes,
              absl::Span<const Region> called, SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_RUN_RECORD_H_
