// Changes of dtype.
#include "core/ops/elementwise/convert.h"

#include <utility>

#include "kernels/cpu/elements/conversion.h"
#include "kernels/cpu/elements/element_loops.h"
#include "kernels/cpu/families.h"

namespace hawser::cpu {
namespace {

template <typename From, typename To>
void ConvertLoop(const char* const* in, char* out, int64_t n) {
  const From* a = reinterpret_cast<const From*>(in[0]);
  To* r = reinterpret_cast<To*>(out);
  HAWSER_INDEPENDENT_ITERATIONS
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
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) r[i] = a[i];
}

// Between widths no element is one of an element.
ElementFn BitcastElement(const ElementTypes& types) {
  if (!SameWidth(types.operands[0], types.result)) return nullptr;
  return VisitWidth(ByteWidth(types.result), [](auto tag) -> ElementFn {
    return CopyLoop<typename decltype(tag)::type>;
  });
}

// Unpacks bools [begin, end) to a byte each.
void Unpack(const char* in, int64_t begin, int64_t end, char* out) {
  for (int64_t i = begin; i < end; ++i) {
    out[i] = static_cast<char>((in[i / 8] >> (i % 8)) & 1);
  }
}
void Pack(const char* in, int64_t begin, int64_t end, char* out) {
  for (int64_t i = begin; i < end; i += 8) {
    unsigned bits = 0;
    for (int k = 0; k < 8; ++k) bits |= (in[i + k] != 0 ? 1u : 0u) << k;
    out[i / 8] = static_cast<char>(bits);
  }
}

// The same bytes under another dtype and maybe other sizes: nothing moves,
// unless bits become bools or bools bits.
absl::StatusOr<Literals> RunBitcastConvert(const KernelContext& c) {
  const bool from = IsBool(c.shape(0).dtype());
  if (from == IsBool(c.result_shape().dtype())) {
    return Literals{c.operands[0].Reinterpret(c.result_shape())};
  }
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  const char* in = c.data(0);
  char* to = out.mutable_bytes().data();
  const int64_t bytes =
      from ? c.result_shape().byte_size() : c.shape(0).byte_size();
  HAWSER_RETURN_IF_ERROR(c.ForRanges(bytes, 8, [&](int64_t begin, int64_t end) {
    (from ? Pack : Unpack)(in, 8 * begin, 8 * end, to);
    return absl::OkStatus();
  }));
  return Literals{std::move(out)};
}

// Numbers are not moved.
double BitcastCost(const CostContext& c) {
  const bool from = IsBool(c.operand(0).dtype());
  const bool to = IsBool(c.result().dtype());
  return from == to ? 0 : c.elements(from ? c.operand(0) : c.result());
}

constexpr CpuKernel kConvertKernels[] = {
    {&kBitcastConvert, RunBitcastConvert, BitcastElement, BitcastCost},
    {&kConvert, RunConvert, ConvertElements},
};

}  // namespace

absl::Span<const CpuKernel> ConvertKernels() { return kConvertKernels; }

}  // namespace hawser::cpu
