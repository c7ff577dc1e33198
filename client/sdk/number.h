// Number: a C++ number on its way into a tensor expression.
#ifndef HAWSER_CLIENT_SDK_NUMBER_H_
#define HAWSER_CLIENT_SDK_NUMBER_H_

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/status/statusor.h"
#include "core/base/values/absent_size.h"
#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"

namespace hawser {

template <typename T>
inline constexpr bool kIsNumber =
    std::is_arithmetic_v<T> || kIsHalf<T> || kIsComplex<T>;

// A C++ number of any type. Next to a tensor it is weak: it takes the tensor's
// dtype within its kind. Alone it has a dtype of its own (see dtype()).
class Number {
 public:
  enum class Kind : uint8_t { kBool, kInteger, kFloat, kComplex };

  template <typename T>
    requires kIsNumber<T>
  Number(T value)  // NOLINT: a number is a Number
      : dtype_(NaturalDType<T>()) {
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      value_ = static_cast<int64_t>(value);
    } else if constexpr (std::is_integral_v<T>) {
      value_ = static_cast<uint64_t>(value);
    } else if constexpr (kIsComplex<T>) {
      value_ = std::complex<double>(value);
    } else if constexpr (kIsHalf<T>) {
      value_ = static_cast<long double>(static_cast<float>(value));
    } else {
      value_ = static_cast<long double>(value);
    }
  }

  Kind kind() const;
  // The dtype it has alone, as the argument of a function: that of its C++
  // type, except that double is f32 and complex<double> is c64. A literal
  // like 0.1 must not turn a whole computation into f64; use
  // Scalar(DType::kF64, 0.1) to ask for it.
  DType dtype() const { return dtype_; }

  // This number as a scalar of `dtype`, rounded once. Errors: kInvalidArgument
  // for an integer that does not fit, a fraction for an integer dtype, a
  // complex number for a real dtype.
  absl::StatusOr<Literal> ToLiteral(DType dtype) const;
  std::string ToString() const;
  // Returns why there is no number: it is what Tensor::dim gave of an axis that
  // is not there, or that as a float.
  std::optional<Absence> FindAbsence() const;

 private:
  template <typename T>
  static constexpr DType NaturalDType() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      constexpr bool kSigned = std::is_signed_v<T>;
      switch (sizeof(T)) {
        case 1: return kSigned ? DType::kS8 : DType::kU8;
        case 2: return kSigned ? DType::kS16 : DType::kU16;
        case 4: return kSigned ? DType::kS32 : DType::kU32;
        default: return kSigned ? DType::kS64 : DType::kU64;
      }
    } else if constexpr (std::is_same_v<T, double> ||
                         std::is_same_v<T, long double>) {
      return DType::kF32;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      return DType::kC64;
    } else {
      return kDTypeOf<T>;
    }
  }

  std::variant<bool, int64_t, uint64_t, long double, std::complex<double>>
      value_;
  DType dtype_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_NUMBER_H_
