#include "kernels/plan/tiling/inner_values.h"

#include <algorithm>
#include <utility>

#include "core/ir/leaves.h"
#include "core/ops/contraction/dot.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

// A product is large from so many tiles on.
constexpr int64_t kTiles = 4;

}  // namespace

InnerValues::InnerValues(const Computation& computation, const Target& target)
    : computation_(computation) {
  const int count = static_cast<int>(computation.instructions().size());
  for (int k = 0; k < count; ++k) {
    if (IsRoot(k, target)) roots_.insert(k);
  }
  if (!roots_.empty()) Spread();
}

int64_t InnerValues::Elements(int k) const {
  const Instruction& i = computation_.instructions()[k];
  return computation_.shape(i.first_result).num_elements();
}

bool InnerValues::IsLoop(int k) const {
  const Instruction& i = computation_.instructions()[k];
  return i.op != &kParameter && i.op != &kConstant && i.num_results == 1 &&
         NodeOf(computation_, i).node == NodeClass::kLoop;
}

bool InnerValues::IsRoot(int k, const Target& target) const {
  const Instruction& i = computation_.instructions()[k];
  if (i.op != &kDotGeneral || target.tile_bytes <= 0) return false;
  const Shape& result = computation_.shape(i.first_result);
  if (result.byte_size() / kTiles < target.tile_bytes) return false;
  int64_t factors = 0;
  for (const ValueId v : i.operands) {
    factors += computation_.shape(v).num_elements();
  }
  return result.num_elements() / kMuch >= factors;
}

int InnerValues::Family(int root) const {
  for (;;) {
    const int parent = parents_.at(root);
    if (parent == root) return root;
    root = parent;
  }
}

int InnerValues::Join(int a, int b) {
  a = Family(a), b = Family(b);
  if (b < a) std::swap(a, b);
  parents_[b] = a;
  if (dead_.contains(b)) dead_.insert(a);
  return a;
}

int InnerValues::InnerFamily(ValueId v) const {
  const auto at = inner_.find(computation_.producer(v));
  return at == inner_.end() ? -1 : Family(at->second);
}

void InnerValues::Spread() {
  const int count = static_cast<int>(computation_.instructions().size());
  for (int k = *roots_.begin(); k < count; ++k) Meet(k);
  for (const ValueId v : computation_.results()) {
    if (const int family = InnerFamily(v); family >= 0) dead_.insert(family);
  }
}

// Looks at the next instruction, after those it reads.
void InnerValues::Meet(int k) {
  const Instruction& i = computation_.instructions()[k];
  int family = -1;
  int64_t size = 0;  // of the inner values that it reads
  for (const ValueId v : i.operands) {
    const int of = InnerFamily(v);
    if (of < 0) continue;
    family = family < 0 ? of : Join(family, of);
    size = std::max(size, computation_.shape(v).num_elements());
  }
  if (family < 0) {
    if (roots_.contains(k)) parents_[k] = inner_[k] = k;
    return;
  }
  const bool ends = Elements(k) * kMuch <= size;
  if (IsLoop(k) && !ends) {
    inner_[k] = family;
  } else if (ends && (i.op == &kDotGeneral ||
                      NodeOf(computation_, i).node == NodeClass::kReduce)) {
    exits_[k] = family;
  } else {
    dead_.insert(family);
  }
}

}  // namespace hawser::plan
