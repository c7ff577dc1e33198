#include "core/ops/elementwise/bits.h"

#include <algorithm>

namespace hawser {

FloatBits FloatBitsOf(DType dtype) {
  constexpr struct {
    DType dtype;
    FloatBits bits;
  } kFormats[] = {
      {DType::kF16, {5, 10}},
      {DType::kBF16, {8, 7}},
      {DType::kF32, {8, 23}},
      {DType::kF64, {11, 52}},
  };
  for (const auto& format : kFormats) {
    if (format.dtype == dtype) return format.bits;
  }
  return {};
}

FloatBits PrecisionOf(const Attributes& attributes, DType dtype) {
  const auto at_most = [&](const char* name, int most) {
    return static_cast<int>(std::min<int64_t>(attributes.GetInt(name), most));
  };
  const FloatBits all = FloatBitsOf(dtype);
  return {at_most("exponent_bits", all.exponent),
          at_most("mantissa_bits", all.mantissa)};
}

absl::StatusOr<Shapes> InferReducePrecision(const InferContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Shapes result, InferElementwise(context));
  const int64_t exponent = context.attributes.GetInt("exponent_bits");
  if (exponent < 1) {
    return Violates(4, "exponent_bits is ", exponent, ", must be at least 1");
  }
  const int64_t mantissa = context.attributes.GetInt("mantissa_bits");
  if (mantissa < 0) {
    return Violates(5, "mantissa_bits is ", mantissa, ", must be at least 0");
  }
  return result;
}

}  // namespace hawser
