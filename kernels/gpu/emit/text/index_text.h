// Index expressions as text of a kernel.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_INDEX_TEXT_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_INDEX_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/plan/index/index_map.h"

namespace hawser::gpu {

// The names of loops and symbols, and the type they are counted in. All is
// unsigned and wraps: an index that the plan says is in bounds comes out right,
// and any other is under a predicate.
struct IndexNames {
  bool wide = false;  // u64, else u32
  std::vector<std::string> loops, symbols;

  const char* type() const { return wide ? "u64" : "u32"; }
  std::string Number(int64_t value) const;
};

std::string IndexText(const plan::IndexExpr& e, const IndexNames& names);
// A condition.
std::string PredicateText(const plan::Predicate& p, const IndexNames& names);

// True if u32 holds it and all it is made of.
bool FitsU32(const plan::IndexExpr& e);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_INDEX_TEXT_H_
