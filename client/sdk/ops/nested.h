// Numbers in nested braces or vectors as one value.
#ifndef HAWSER_CLIENT_SDK_OPS_NESTED_H_
#define HAWSER_CLIENT_SDK_OPS_NESTED_H_

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sdk/number.h"
#include "client/sdk/tensor.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// The number type in a list, and how many lists are around it.
template <typename T>
struct Nested {
  using Value = T;
  static constexpr int kDepth = 0;
};
template <typename T>
struct Nested<std::initializer_list<T>> {
  using Value = typename Nested<T>::Value;
  static constexpr int kDepth = Nested<T>::kDepth + 1;
};
template <typename T>
struct Nested<std::vector<T>> : Nested<std::initializer_list<T>> {};

// The C++ type of the dtype that Number::dtype gives a T.
template <typename T>
struct Written {
  using Type = T;
};
template <typename T>
  requires(kIsInteger<T>)
struct Written<T> {
  template <typename S, typename U>
  using Signed = std::conditional_t<std::is_signed_v<T>, S, U>;
  using Type = std::conditional_t<
      sizeof(T) == 1, Signed<int8_t, uint8_t>,
      std::conditional_t<
          sizeof(T) == 2, Signed<int16_t, uint16_t>,
          std::conditional_t<sizeof(T) == 4, Signed<int32_t, uint32_t>,
                             Signed<int64_t, uint64_t>>>>;
};
template <>
struct Written<double> {
  using Type = float;
};
template <>
struct Written<long double> {
  using Type = float;
};
template <>
struct Written<std::complex<double>> {
  using Type = std::complex<float>;
};

// Notes the sizes; -1: not met yet. Errors: lists side by side that differ.
template <typename List>
absl::Status Measure(const List& list, size_t axis, Dims* dims) {
  if constexpr (Nested<List>::kDepth > 0) {
    const auto size = static_cast<int64_t>(list.size());
    int64_t& known = (*dims)[axis];
    if (known >= 0 && known != size) {
      return InvalidArgument("axis ", axis, " has lists of ", known, " and of ",
                             size, " entries");
    }
    known = size;
    if constexpr (Nested<List>::kDepth > 1) {
      for (const auto& inner : list) {
        HAWSER_RETURN_IF_ERROR(Measure(inner, axis + 1, dims));
      }
    }
  }
  return absl::OkStatus();
}

template <typename List, typename To>
To* CopyTo(const List& list, To* to) {
  if constexpr (Nested<List>::kDepth > 1) {
    for (const auto& inner : list) to = CopyTo(inner, to);
  } else {
    for (const auto& value : list) *to++ = static_cast<To>(value);
  }
  return to;
}

// The numbers in row-major order, as Ts. Errors: kInvalidArgument for lists
// side by side that differ in size, or too many; kResourceExhausted.
template <typename T, typename List>
absl::StatusOr<Literal> ToLiteral(const List& list) {
  Dims dims(Nested<List>::kDepth, -1);
  HAWSER_RETURN_IF_ERROR(Measure(list, 0, &dims));
  for (int64_t& size : dims) {
    if (size < 0) size = 0;
  }
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(kDTypeOf<T>, dims));
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(shape));
  CopyTo(list, out.mutable_data<T>().data());
  return out;
}

// Constant of a value that may be an error.
Tensor ConstantOr(absl::StatusOr<Literal> value, SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_OPS_NESTED_H_
