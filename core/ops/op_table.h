// The op table of core/ops/README.md, written from the registry.
#ifndef HAWSER_CORE_OPS_OP_TABLE_H_
#define HAWSER_CORE_OPS_OP_TABLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser {

// One Markdown row per op, sorted by name.
std::string OpTable();

// `readme` with everything after the marker line replaced by the table. Errors:
// kInvalidArgument when the marker is missing.
absl::StatusOr<std::string> WithOpTable(absl::string_view readme);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_OP_TABLE_H_
