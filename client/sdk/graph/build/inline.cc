#include "client/sdk/graph/build/inline.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/run/record.h"
#include "core/ir/leaves.h"
#include "core/passes/dce.h"

namespace hawser::sdk {
namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

// Returns, by value, the number of the last instruction that uses it and is
// needed itself; kNever: none does. Results are used at the end.
std::vector<size_t> LastUses(const Computation& computation) {
  const auto instructions = computation.instructions();
  std::vector<size_t> last(computation.num_values(), kNever);
  for (ValueId v : computation.results()) last[v] = instructions.size();
  for (size_t n = instructions.size(); n-- > 0;) {
    const Instruction& i = instructions[n];
    bool needed = false;
    for (int k = 0; k < i.num_results; ++k) {
      needed = needed || last[i.first_result + k] != kNever;
    }
    if (!needed) continue;
    for (ValueId v : i.operands) {
      if (last[v] == kNever) last[v] = n;
    }
  }
  return last;
}

// Makes regions of the computations that a region's instructions call.
class Callees {
 public:
  explicit Callees(const RegionDef& region) : region_(region) {}

  // Returns those that the next instruction calls; instructions are asked in
  // their order, each once. Computations that the user wrote come as they are,
  // the others without dead code.
  absl::InlinedVector<Region, 2> Next(const Instruction& i) {
    absl::InlinedVector<Region, 2> called;
    if (i.called.empty()) return called;
    const Places* places = region_.places.get();
    const size_t k = next_++;
    const bool known = places != nullptr && k < places->called.size();
    for (size_t c = 0; c < i.called.size(); ++c) {
      called.push_back(
          Find(i.called[c], known ? places->called[k][c] : nullptr));
    }
    return called;
  }

 private:
  using Key = std::pair<int, const Places*>;

  Region Find(int computation, std::shared_ptr<const Places> places) {
    Region& region = known_[Key(computation, places.get())];
    if (region != nullptr) return region;
    region = ExtractRegion(region_.module, computation, places);
    if (places != nullptr) return region;
    bool changed = false;
    auto lean = EliminateDeadCode(region->module, &changed);
    if (lean.ok() && changed) region = MakeRegion(*std::move(lean));
    return region;
  }

  const RegionDef& region_;
  size_t next_ = 0;
  absl::flat_hash_map<Key, Region> known_;
};

SourceLocation PlaceOf(const RegionDef& region, size_t n,
                       SourceLocation otherwise) {
  if (region.places == nullptr || n >= region.places->at.size()) {
    return otherwise;
  }
  const SourceLocation where = region.places->at[n];
  return where.line > 0 ? where : otherwise;
}

}  // namespace

std::vector<Tensor> Inline(absl::string_view function, const RegionDef& region,
                           absl::Span<const Tensor> arguments,
                           SourceLocation where) {
  const Computation& entry = region.module.entry();
  const std::vector<size_t> last = LastUses(entry);
  std::vector<Tensor> values(entry.num_values());
  Callees callees(region);
  const auto instructions = entry.instructions();
  for (size_t n = 0; n < instructions.size(); ++n) {
    const Instruction& i = instructions[n];
    if (i.op == &kParameter) {
      values[i.first_result] = arguments[i.first_result];
      continue;
    }
    const auto called = callees.Next(i);
    bool needed = false;
    for (int k = 0; k < i.num_results; ++k) {
      needed = needed || last[i.first_result + k] != kNever;
    }
    if (!needed) continue;
    Tensors operands;
    for (ValueId v : i.operands) operands.push_back(values[v]);
    const Tensor first = Record(function, *i.op, operands, i.attributes, called,
                                PlaceOf(region, n, where));
    for (int k = 0; k < i.num_results; ++k) {
      values[i.first_result + k] = ResultOf(first, k);
    }
    // A tensor that is held looks wanted, so a long recording that is cut on
    // the way would keep it.
    for (ValueId v : i.operands) {
      if (last[v] == n) values[v] = Tensor();
    }
  }
  std::vector<Tensor> results;
  for (ValueId v : entry.results()) results.push_back(values[v]);
  return results;
}

}  // namespace hawser::sdk
