// Expressions that check the run-time indices of an instruction.
#ifndef HAWSER_CLIENT_SDK_PROBES_INDEX_CHECKS_H_
#define HAWSER_CLIENT_SDK_PROBES_INDEX_CHECKS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser::sdk {

// True where any element of a bool is.
Expression Any(const Expression& flags);

struct IndexCheck {
  Expression fails;    // bool[]
  std::string bounds;  // "0 to 3 of axis 0"
};

// Returns the checks of an instruction of `from`, whose operands are `operands`
// where the checks grow; none for an op that takes no such indices.
std::vector<IndexCheck> IndexChecksOf(const Computation& from,
                                      const Instruction& instruction,
                                      absl::Span<const Expression> operands);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_INDEX_CHECKS_H_
