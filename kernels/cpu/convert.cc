// Changes of dtype.
#include "core/ops/elementwise/convert.h"

#include <utility>

#include "kernels/cpu/conversion.h"
#include "kernels/cpu/element_loops.h"
#include "kernels/cpu/families.h"

namespace hawser::cpu {
namespace {

template <typename From, typename To>
void ConvertLoop(const char* const* in, char* out, int64_t n) {
  const From* a = reinterpret_cast<const From*>(in[0]);
  To* r = reinterpret_cast<To*>(out);
  HAWSER_INDEPENDENT_TURNS
  for (int64_t i = 0; i < n; ++i) r[i] = ConvertElement<To>(a[i]);
}

ElementFn ConvertElements(const ElementTypes& types) {
  return VisitDType(types.operands[0], [&](auto from) {
    return VisitDType(types.result, [](auto to) -> ElementFn {
      return ConvertLoop<typename decltype(from)::type,
                         typename decltype(to)::type>;
    });
  });
}

absl::StatusOr<Literals> RunConvert(const KernelContext& c) {
  if (c.shape(0).dtype() != c.result_shape().dtype()) return RunElementwise(c);
  return Literals{std::move(c.operands[0])};
}

template <typename W>
void CopyLoop(const char* const* in, char* out, int64_t n) {
  const W* a = reinterpret_cast<const W*>(in[0]);
  W* r = reinterpret_cast<W*>(out);
  HAWSER_INDEPENDENT_TURNS
  for (int64_t i = 0; i < n; ++i) r[i] = a[i];
}

ElementFn BitcastElement(const ElementTypes& types) {
  return VisitWidth(ByteWidth(types.result), [](auto tag) -> ElementFn {
    return CopyLoop<typename decltype(tag)::type>;
  });
}

// The same bytes under another dtype: nothing moves.
absl::StatusOr<Literals> RunBitcastConvert(const KernelContext& c) {
  return Literals{c.operands[0].Reinterpret(c.result_shape())};
}

constexpr CpuKernel kKernels[] = {
    {&kBitcastConvert, RunBitcastConvert, BitcastElement, NoCost},
    {&kConvert, RunConvert, ConvertElements},
};

}  // namespace

absl::Span<const CpuKernel> ConvertKernels() { return kKernels; }

}  // namespace hawser::cpu
