#include "client/formats/files/element_order.h"

#include <cstring>
#include <vector>

#include "core/base/values/literal.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(ElementOrder, SwapsEachPartOfAComplexNumber) {
  Literal c = Literal::Uninitialized(Shape::Of(DType::kC64, {1}));
  std::memcpy(c.mutable_bytes().data(), "abcdefgh", 8);
  SwapElementBytes(DType::kC64, c.mutable_bytes());
  EXPECT_EQ(std::memcmp(c.bytes().data(), "dcbahgfe", 8), 0);
}

// Position (i, j, k) of a column-major array lies at i + 2 j + 6 k.
template <typename T>
void CheckRank3() {
  const Shape shape = Shape::Of(kDTypeOf<T>, {2, 3, 4});
  std::vector<T> columns(24), rows(24);
  for (int n = 0; n < 24; ++n) columns[n] = static_cast<T>(n);
  FromColumnMajor(
      shape, {reinterpret_cast<const char*>(columns.data()), 24 * sizeof(T)},
      {reinterpret_cast<char*>(rows.data()), 24 * sizeof(T)});
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(rows[(i * 3 + j) * 4 + k], static_cast<T>(i + 2 * j + 6 * k));
      }
    }
  }
}

TEST(ElementOrder, ColumnMajorOfEveryElementSize) {
  CheckRank3<uint8_t>();
  CheckRank3<int16_t>();
  CheckRank3<float>();
  CheckRank3<double>();
  CheckRank3<std::complex<double>>();
}

TEST(ElementOrder, ColumnMajorOfNothingTouchesNothing) {
  FromColumnMajor(Shape::Of(DType::kF32, {3, 0}), {}, {});
}

}  // namespace
}  // namespace hawser
