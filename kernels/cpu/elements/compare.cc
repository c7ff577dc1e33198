// Predicates and the choice by predicate.
#include "core/ops/elementwise/compare.h"

#include <functional>
#include <utility>

#include "kernels/cpu/elements/element_loops.h"
#include "kernels/cpu/families.h"

namespace hawser::cpu {
namespace {

template <typename Order>
struct Compared {
  template <typename T>
  requires requires(T x) { Order()(x, x); }
  static bool Apply(T a, T b) { return Order()(a, b); }
};

ElementFn CompareElement(const ElementTypes& types) {
  switch (CompareDirectionOf(types.attributes)) {
    case CompareDirection::kEq:
      return Binary<Compared<std::equal_to<>>>(types);
    case CompareDirection::kNe:
      return Binary<Compared<std::not_equal_to<>>>(types);
    case CompareDirection::kGe:
      return Binary<Compared<std::greater_equal<>>>(types);
    case CompareDirection::kGt:
      return Binary<Compared<std::greater<>>>(types);
    case CompareDirection::kLe:
      return Binary<Compared<std::less_equal<>>>(types);
    case CompareDirection::kLt:
      break;
  }
  return Binary<Compared<std::less<>>>(types);
}

template <typename W>
void SelectLoop(const char* const* in, char* out, int64_t n) {
  const char* p = in[0];
  const W* a = reinterpret_cast<const W*>(in[1]);
  const W* b = reinterpret_cast<const W*>(in[2]);
  W* r = reinterpret_cast<W*>(out);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) r[i] = p[i] != 0 ? a[i] : b[i];
}

ElementFn SelectElement(const ElementTypes& types) {
  return VisitWidth(ByteWidth(types.result), [](auto tag) -> ElementFn {
    return SelectLoop<typename decltype(tag)::type>;
  });
}

// A scalar predicate chooses an operand whole.
absl::StatusOr<Literals> RunSelect(const KernelContext& c) {
  if (!c.shape(0).is_scalar()) return RunElementwise(c);
  return Literals{std::move(c.operands[c.data(0)[0] != 0 ? 1 : 2])};
}

double SelectCost(const CostContext& c) {
  return c.operand(0).is_scalar() ? 0 : 4 * ResultCost(c);
}

constexpr CpuKernel kCompareKernels[] = {
    ElementRow(&kCompare, CompareElement),
    {&kSelect, RunSelect, SelectElement, SelectCost},
};

}  // namespace

absl::Span<const CpuKernel> CompareKernels() { return kCompareKernels; }

}  // namespace hawser::cpu
