#include "core/ir/element_text.h"

#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace hawser {
namespace {

template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 2, uint16_t,
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

// Everything below looks at bits in memory: to pass a signalling NaN through a
// wider type would change it.
template <typename T>
BitsOf<T> LoadBits(const char* at) {
  BitsOf<T> bits;
  std::memcpy(&bits, at, sizeof(bits));
  return bits;
}

template <typename T>
struct NaNBits;
template <>
struct NaNBits<Half> {
  static constexpr uint16_t kInfinity = 0x7C00, kDefault = 0x7E00;
};
template <>
struct NaNBits<BFloat16> {
  static constexpr uint16_t kInfinity = 0x7F80, kDefault = 0x7FC0;
};
template <>
struct NaNBits<float> {
  static constexpr uint32_t kInfinity = 0x7F800000, kDefault = 0x7FC00000;
};
template <>
struct NaNBits<double> {
  static constexpr uint64_t kInfinity = 0x7FF0000000000000,
                            kDefault = 0x7FF8000000000000;
};

// True if the T at `at` is a NaN that "nan" does not stand for.
template <typename T>
bool IsUnusualNaN(const char* at) {
  const BitsOf<T> bits = LoadBits<T>(at);
  const BitsOf<T> magnitude =
      bits & static_cast<BitsOf<T>>(std::numeric_limits<BitsOf<T>>::max() >> 1);
  return magnitude > NaNBits<T>::kInfinity && bits != NaNBits<T>::kDefault;
}

template <typename T>
void AppendNaN(const char* at, std::string* out) {
  absl::StrAppend(out, "nan(0x", absl::Hex(LoadBits<T>(at)), ")");
}

template <typename T>
void AppendPart(const Literal& part, const char* at, std::string* out) {
  if (IsUnusualNaN<T>(at)) {
    AppendNaN<T>(at, out);
  } else {
    out->append(ElementToString(part, 0));
  }
}

template <typename T>
void AppendComplex(const char* at, std::string* out) {
  T parts[2];
  std::memcpy(parts, at, sizeof(parts));
  out->push_back('(');
  AppendPart<T>(Literal::Scalar(parts[0]), at, out);
  out->append(", ");
  AppendPart<T>(Literal::Scalar(parts[1]), at + sizeof(T), out);
  out->push_back(')');
}

template <typename T>
bool HasUnusualNaN(const char* at) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return IsUnusualNaN<Part>(at) || IsUnusualNaN<Part>(at + sizeof(Part));
  } else if constexpr (kIsFloat<T>) {
    return IsUnusualNaN<T>(at);
  } else {
    return false;
  }
}

}  // namespace

void AppendElement(const Literal& literal, int64_t index, std::string* out) {
  VisitDType(literal.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const char* const at = literal.bytes().data() + index * sizeof(T);
    if (!HasUnusualNaN<T>(at)) {
      out->append(ElementToString(literal, index));
      return;
    }
    if constexpr (kIsComplex<T>) {
      AppendComplex<typename T::value_type>(at, out);
    } else if constexpr (kIsFloat<T>) {
      AppendNaN<T>(at, out);
    }
  });
}

void AppendLiteral(const Literal& literal, std::string* out) {
  absl::StrAppend(out, literal.shape().ToString(), " {");
  const int64_t n = literal.shape().num_elements();
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) out->append(", ");
    AppendElement(literal, i, out);
  }
  out->push_back('}');
}

}  // namespace hawser
