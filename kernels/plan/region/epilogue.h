// Tails of matrix products: what elementwise work a product's own call takes
// along, found by structure.
#ifndef HAWSER_KERNELS_PLAN_REGION_EPILOGUE_H_
#define HAWSER_KERNELS_PLAN_REGION_EPILOGUE_H_

#include <optional>
#include <set>
#include <vector>

#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::plan {

// A product and what follows it in one call. All but the exit are used by the
// others alone.
struct DotTail {
  int dot = -1;
  int exit = -1;  // the instruction whose result leaves; may be the dot
  std::vector<int> members;  // ascending; without broadcasts and scalars
};
// Returns the tails of every dot_general of `computation`; no two share a
// member. `users[v]` are the instructions that read value v, ascending,
// `is_result[v]` whether it leaves. Products in `alone` have no tail.
std::vector<DotTail> FindDotTails(
    const Computation& computation, const Target& target,
    const std::vector<absl::InlinedVector<int, 2>>& users,
    const std::vector<bool>& is_result, const std::set<int>& alone);

// The library's call for product `dot` whose value leaves as that of `exit`,
// when `members` (ascending) are computed with it and all else is there before.
// nullopt: there is no such call.
std::optional<ProductCall> CallOfGroup(const Computation& computation, int dot,
                                       int exit, absl::Span<const int> members);

// True if a library's call for a product of these sizes can take `value` as a
// number or an operand: one number everywhere, or one per column.
bool IsNumberOrBias(const Computation& computation, ValueId value,
                    const Shape& product);

// Fills in region->epilogue from the points of a kLibraryDot region.
void DescribeEpilogue(const Computation& computation, Region* region);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_EPILOGUE_H_
