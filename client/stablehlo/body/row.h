// Row: how one op of StableHLO becomes instructions.
#ifndef HAWSER_CLIENT_STABLEHLO_BODY_ROW_H_
#define HAWSER_CLIENT_STABLEHLO_BODY_ROW_H_

#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"
#include "core/ir/op_def.h"

namespace hawser::stablehlo {

class OpContext;

using Values = absl::InlinedVector<ValueId, 2>;

struct Row {
  absl::string_view name;  // "stablehlo.add"
  // Adds the instructions, and gives a value for each result of the op. Errors
  // need no place; those of the builder are found there.
  absl::StatusOr<Values> (*lower)(OpContext& context) = nullptr;
  // The op it becomes, where the function asks for one.
  const OpDef* op = nullptr;
  // Returns what is missing for this op, or "". Null: nothing ever is. It is
  // asked before anything is lowered, so that a file's gaps are told all at
  // once.
  std::string (*missing)(const Op& op) = nullptr;
};

// The row of an op's name, or nullptr.
using RowLookup = const Row* (*)(absl::string_view name);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BODY_ROW_H_
