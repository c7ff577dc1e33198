#include "client/sdk/graph/build/inline.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/graph/run/record.h"
#include "core/ir/leaves.h"

namespace hawser::sdk {
namespace {

// By value, the number of the last instruction that uses it; results are used
// at the end.
std::vector<size_t> LastUses(const Computation& computation) {
  std::vector<size_t> last(computation.num_values(), 0);
  const auto instructions = computation.instructions();
  for (size_t i = 0; i < instructions.size(); ++i) {
    for (ValueId v : instructions[i].operands) last[v] = i;
  }
  for (ValueId v : computation.results()) last[v] = instructions.size();
  return last;
}

}  // namespace

std::vector<Tensor> Inline(const Module& module,
                           absl::Span<const Tensor> arguments,
                           SourceLocation where) {
  const Computation& entry = module.entry();
  const std::vector<size_t> last = LastUses(entry);
  std::vector<Tensor> values(entry.num_values());
  absl::flat_hash_map<int, Region> regions;
  const auto instructions = entry.instructions();
  for (size_t n = 0; n < instructions.size(); ++n) {
    const Instruction& i = instructions[n];
    if (i.op == &kParameter) {
      values[i.first_result] = arguments[i.first_result];
      continue;
    }
    Tensors operands;
    for (ValueId v : i.operands) operands.push_back(values[v]);
    absl::InlinedVector<Region, 2> called;
    for (int c : i.called) {
      Region& region = regions[c];
      if (region == nullptr) region = ExtractRegion(module, c);
      called.push_back(region);
    }
    const Tensor first =
        Record("Grad", *i.op, operands, i.attributes, called, where);
    for (int k = 0; k < i.num_results; ++k) {
      values[i.first_result + k] = ResultOf(first, k);
    }
    // What is held looks wanted: a long recording that is cut on the way would
    // keep it.
    for (ValueId v : i.operands) {
      if (last[v] == n) values[v] = Tensor();
    }
  }
  std::vector<Tensor> results;
  for (ValueId v : entry.results()) results.push_back(values[v]);
  return results;
}

}  // namespace hawser::sdk
