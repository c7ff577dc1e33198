#include "kernels/gpu/emit/text/value_text.h"

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hawser::gpu {
namespace {

bool IsHalf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

std::string FloatText(float x) {
  if (std::isfinite(x)) return absl::StrFormat("%af", x);
  return absl::StrFormat("BitCast<float>(0x%08xu)", std::bit_cast<uint32_t>(x));
}

std::string FloatText(double x) {
  if (std::isfinite(x)) return absl::StrFormat("%a", x);
  return absl::StrFormat("BitCast<double>(0x%016xull)",
                         std::bit_cast<uint64_t>(x));
}

template <typename T>
std::string IntegerText(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return absl::StrCat("(", TypeName(kDTypeOf<T>), ")", uint64_t{x}, "ull");
  } else if (x == std::numeric_limits<T>::min()) {
    return absl::StrCat("Type<", TypeName(kDTypeOf<T>), ">::kMin");
  } else {
    return absl::StrCat("(", TypeName(kDTypeOf<T>), ")", int64_t{x}, "ll");
  }
}

template <typename T>
std::string ElementText(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (kIsHalf<T>) {
    return absl::StrFormat("%s{0x%04x}", TypeName(kDTypeOf<T>),
                           std::bit_cast<uint16_t>(x));
  } else if constexpr (kIsComplex<T>) {
    return absl::StrCat(TypeName(kDTypeOf<T>), "{", FloatText(x.real()), ", ",
                        FloatText(x.imag()), "}");
  } else if constexpr (kIsInteger<T>) {
    return IntegerText(x);
  } else {
    return FloatText(x);
  }
}

}  // namespace

std::string TypeName(DType dtype) {
  if (dtype == DType::kF32) return "float";
  if (dtype == DType::kF64) return "double";
  return std::string(DTypeName(dtype));
}

std::string ComputeTypeName(DType dtype) {
  return IsHalf(dtype) ? "float" : TypeName(dtype);
}

std::string ValueText::Computed() const {
  return stored && IsHalf(dtype) ? absl::StrCat("Convert<float>(", text, ")")
                                 : text;
}

std::string ValueText::Stored() const {
  return stored || !IsHalf(dtype)
             ? text
             : absl::StrCat("Convert<", TypeName(dtype), ">(", text, ")");
}

ValueText ConvertedText(const std::string& expression, DType from, DType to) {
  const bool complex = IsComplex(from) || IsComplex(to);
  return {absl::StrCat(complex ? "ConvertComplex<" : "Convert<", TypeName(to),
                       ">(", expression, ")"),
          to};
}

ValueText ConstantText(const Literal& value) {
  const DType dtype = value.shape().dtype();
  return VisitDType(dtype, [&](auto tag) -> ValueText {
    using T = typename decltype(tag)::type;
    const T x = value.data<T>()[0];
    // A half that is a number is computed with; only other bits need keeping.
    if constexpr (kIsHalf<T>) {
      const float number = static_cast<float>(x);
      if (!std::isnan(number)) return {FloatText(number), dtype, false};
    }
    return {ElementText(x), dtype};
  });
}

std::string ZeroText(DType dtype) { return TypeName(dtype) + "{}"; }

}  // namespace hawser::gpu
