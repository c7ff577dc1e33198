#include "kernels/plan/dot_layout.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ops/dot.h"
#include "core/ops/shape.h"
#include "core/passes/rewriter.h"

namespace hawser::plan {
namespace {

struct Side {
  ValueId value;
  Dims batch;
  Dims contracted;
};

// Takes one transpose off. False when there is none or it must stay.
bool TakeTranspose(const Rewriter& rewriter, Side* side) {
  const Instruction& i = rewriter.producer(side->value);
  // The order of a sum over several axes must not change.
  if (i.op != &kTranspose || side->contracted.size() > 1) return false;
  const auto permutation = i.attributes.GetInts("permutation");
  int64_t last_free = -1;
  for (size_t a = 0; a < permutation.size(); ++a) {
    const auto axis = static_cast<int64_t>(a);
    if (Contains(side->batch, axis) || Contains(side->contracted, axis)) {
      continue;
    }
    if (permutation[a] < last_free) return false;
    last_free = permutation[a];
  }
  for (Dims* axes : {&side->batch, &side->contracted}) {
    for (int64_t& a : *axes) a = permutation[a];
  }
  side->value = i.operands[0];
  return true;
}

Dims ToDims(absl::Span<const int64_t> list) {
  return Dims(list.begin(), list.end());
}

absl::StatusOr<bool> FoldOne(Rewriter& rewriter, const Instruction& i) {
  if (i.op != &kDotGeneral) return false;
  const Attributes& a = i.attributes;
  Side left{rewriter.Mapped(i.operands[0]),
            ToDims(a.GetInts("lhs_batching_dimensions")),
            ToDims(a.GetInts("lhs_contracting_dimensions"))};
  Side right{rewriter.Mapped(i.operands[1]),
             ToDims(a.GetInts("rhs_batching_dimensions")),
             ToDims(a.GetInts("rhs_contracting_dimensions"))};
  bool changed = false;
  while (TakeTranspose(rewriter, &left)) changed = true;
  while (TakeTranspose(rewriter, &right)) changed = true;
  if (!changed) return false;
  HAWSER_ASSIGN_OR_RETURN(
      const ValueId folded,
      rewriter.Append(kDotGeneral, {left.value, right.value},
                      {{"lhs_batching_dimensions", left.batch},
                       {"lhs_contracting_dimensions", left.contracted},
                       {"rhs_batching_dimensions", right.batch},
                       {"rhs_contracting_dimensions", right.contracted}}));
  rewriter.Replace(i, folded);
  return true;
}

}  // namespace

absl::StatusOr<Module> FoldTransposesIntoDots(Module module) {
  bool changed = false;
  return RewriteModule(std::move(module), FoldOne, &changed);
}

}  // namespace hawser::plan
