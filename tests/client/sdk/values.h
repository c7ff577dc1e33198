// Short words for tests of values.
#ifndef HAWSER_TESTS_CLIENT_SDK_VALUES_H_
#define HAWSER_TESTS_CLIENT_SDK_VALUES_H_

#include <initializer_list>
#include <limits>

#include "client/sdk/hawser.h"
#include "core/base/values/literal.h"
#include "tests/testing/matchers.h"

namespace hawser {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline Literal F(std::initializer_list<float> values) {
  return Literal::Vector<float>(values);
}
inline Tensor F64(double value) { return Scalar(DType::kF64, value); }
template <typename T>
Tensor T1(std::initializer_list<T> values) {
  return Constant(Literal::Vector<T>(values));
}
template <typename T>
Tensor TN(std::initializer_list<T> values, const Dims& dims) {
  return Constant(Literal::Of<T>(values, dims));
}

// The value of `tensor` is exactly this.
#define EXPECT_VALUE(tensor, ...)                              \
  do {                                                         \
    const auto value_ = (tensor).Fetch();                      \
    ASSERT_TRUE(value_.ok()) << #tensor << ": " << value_.status(); \
    EXPECT_THAT(*value_, LiteralEquals(__VA_ARGS__));          \
  } while (false)
#define EXPECT_NEAR_VALUE(tensor, rtol_, ...)                       \
  do {                                                              \
    const auto value_ = (tensor).Fetch();                           \
    ASSERT_TRUE(value_.ok()) << #tensor << ": " << value_.status(); \
    const Tolerance tolerance_{.rtol = rtol_};                      \
    EXPECT_THAT(*value_, LiteralNear(__VA_ARGS__, tolerance_));     \
  } while (false)

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_SDK_VALUES_H_
