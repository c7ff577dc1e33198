// Canonicalization: one form for what can be said in several.
#ifndef HAWSER_CORE_PASSES_CANONICALIZE_H_
#define HAWSER_CORE_PASSES_CANONICALIZE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ir/module.h"

namespace hawser {

// Takes out instructions that change nothing (a transpose that keeps every
// axis, a convert there and back, a factor of 1, a double negation) and merges
// those of one kind, by the table of patterns in canonicalize.cc. Exact to the
// bit; a signaling NaN times 1 stays one. Sets `*changed` when it did any of
// it.
absl::StatusOr<Module> Canonicalize(Module module, bool* changed);

// The rows of that table.
struct CanonicalPattern {
  const OpDef* op;
  absl::string_view pattern;  // "x * 1"
};
std::vector<CanonicalPattern> CanonicalPatterns();

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_CANONICALIZE_H_
