// A number of the program has the same bits on every way: as a scalar, beside a
// tensor, as an argument, from a host value that is converted.
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

struct Way {
  std::string name;
  // One element of `dtype`, made of the number.
  std::function<Tensor(DType, double)> make;
};

const std::vector<Way>& Ways() {
  static const auto& ways = *new std::vector<Way>{
      {"Scalar", [](DType t, double x) { return Scalar(t, x); }},
      {"Full", [](DType t, double x) { return Full(t, {}, x); }},
      {"Convert of f64",
       [](DType t, double x) { return Convert(Scalar(DType::kF64, x), t); }},
      {"times", [](DType t, double x) { return Ones(t, {}) * x; }},
      {"plus", [](DType t, double x) { return Zeros(t, {}) + x; }},
      {"minus", [](DType t, double x) { return x - Zeros(t, {}); }},
      {"over", [](DType t, double x) { return x / Ones(t, {}); }},
      {"Maximum", [](DType t, double x) { return Maximum(Zeros(t, {}), x); }},
      {"Minimum",
       [](DType t, double x) { return Minimum(Full(t, {}, 6e4), x); }},
      {"Select",
       [](DType t, double x) { return Select(true, x, Zeros(t, {})); }},
      {"Clip", [](DType t, double x) { return Clip(Zeros(t, {}), x, x); }},
      {"Pad",
       [](DType t, double x) {
         return Pad(Zeros(t, {1}), x, {{1, 0, 0}})[{0}];
       }},
      {"Power", [](DType t, double x) { return Power(x, Ones(t, {})); }},
      {"PutSlice",
       [](DType t, double x) {
         return PutSlice(Zeros(t, {2}), {1}, Scalar(t, x)[NewAxis()])[{1}];
       }},
      {"IndexedAdd",
       [](DType t, double x) {
         return IndexedAdd(Zeros(t, {2}), TN<int32_t>({1}, {1, 1}), x)[{1}];
       }},
      {"a long double",
       [](DType t, double x) {
         return Scalar(t, static_cast<long double>(x));
       }},
      {"in Jit",
       [](DType t, double x) {
         return *Jit([=](Tensor one) { return one * x; })(Ones(t, {}));
       }},
      {"in a loop",
       [](DType t, double x) {
         return For(1, Zeros(t, {}), [=](Tensor, Tensor y) { return y + x; });
       }},
      {"RandomUniform",
       [](DType t, double x) {
         return RandomUniform(RandomKey(1), {}, t, x, x);
       }},
  };
  return ways;
}

TEST(RoundedNumbers, HaveTheSameBitsOnEveryWay) {
  const struct {
    DType dtype;
    double number, want;
  } numbers[] = {
      // Beside the middle of two, by less than f32 sees.
      {DType::kBF16, 1.003906251, 1.0078125},
      {DType::kBF16, 1.003906249, 1},
      {DType::kBF16, 257.0000001, 258},
      {DType::kF16, 1.00048828126, 1.0009765625},
      {DType::kF16, 2049.0000001, 2050},
  };
  int tried = 0;
  for (const auto& [dtype, number, want] : numbers) {
    for (const Way& way : Ways()) {
      const auto value = Convert(way.make(dtype, number), DType::kF64).Fetch();
      ASSERT_OK(value) << way.name;
      EXPECT_EQ(value->data<double>()[0], want)
          << way.name << " of " << number << " as " << DTypeName(dtype);
      ++tried;
    }
  }
  std::cout << tried << " numbers rounded once\n";
}

TEST(RoundedNumbers, OfIntegersToo) {
  EXPECT_VALUE(Convert(Scalar(DType::kBF16, 16842753), DType::kF32),
               Literal::Scalar<float>(16908288));
  EXPECT_VALUE(Convert(Ones(DType::kBF16, {}) * 16842753, DType::kF32),
               Literal::Scalar<float>(16908288));
  const uint64_t large = (uint64_t{1} << 63) + (uint64_t{1} << 55) + 1;
  EXPECT_VALUE(Convert(Scalar(DType::kBF16, large), DType::kF32),
               Literal::Scalar<float>(0x1.02p63f));
  EXPECT_VALUE(
      Scalar(DType::kF32, (uint64_t{1} << 63) + (uint64_t{1} << 39) + 1),
      Literal::Scalar<float>(0x1.000002p63f));
  EXPECT_VALUE(Scalar(DType::kF32, 1 + 0x1p-24L + 0x1p-60L),
               Literal::Scalar<float>(1 + 0x1p-23f));
}

}  // namespace
}  // namespace hawser
