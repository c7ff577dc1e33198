// Products that libraries make of narrow and of complex factors, against exact
// sums.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/products/gemm.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

// [batches, m, k] . [batches, k, n], either side maybe lying transposed.
struct ProductSizes {
  int64_t batches, m, n, k;
  bool turned_a = false, turned_b = false;

  Dims a() const { return {batches, turned_a ? k : m, turned_a ? m : k}; }
  Dims b() const { return {batches, turned_b ? n : k, turned_b ? k : n}; }
  int64_t AtA(int64_t batch, int64_t i, int64_t q) const {
    return batch * m * k + (turned_a ? q * m + i : i * k + q);
  }
  int64_t AtB(int64_t batch, int64_t q, int64_t j) const {
    return batch * k * n + (turned_b ? j * k + q : q * n + j);
  }
};

Literal Dot(const Literal& a, const Literal& b, const ProductSizes& sizes,
            DType result, const CpuEvaluator::Options& options = {}) {
  Attributes attributes = {
      {"lhs_batching_dimensions", Dims{0}},
      {"rhs_batching_dimensions", Dims{0}},
      {"lhs_contracting_dimensions", Dims{sizes.turned_a ? 1 : 2}},
      {"rhs_contracting_dimensions", Dims{sizes.turned_b ? 2 : 1}}};
  if (result != a.shape().dtype()) attributes.Set("result_dtype", result);
  const Module module = hawser::testing::ExpressionModule(
      {a.shape(), b.shape()}, [&](const std::vector<Expression>& p) {
        return std::vector<Expression>{Apply(kDotGeneral, p, attributes)};
      });
  const auto got = CpuEvaluator(options).Evaluate(module, 0, {a, b}, {});
  return got.ok() ? (*got)[0] : Literal();
}

ThreadPool* Threads() {
  static ThreadPool pool(2);
  return &pool;
}

std::vector<ProductSizes> AllProductSizes() {
  std::vector<ProductSizes> all;
  // The longest sums of bytes are beyond what f32 counts by ones.
  for (const ProductSizes& sizes :
       std::vector<ProductSizes>{{1, 64, 64, 64},
                                 {2, 37, 65, 130},
                                 {1, 260, 520, 33},
                                 {3, 1, 7, 3},
                                 {1, 200, 1, 300},
                                 {1, 33, 34, 4099},
                                 {1, 33, 33, 66000}}) {
    const int ways = sizes.k > 10000 ? 1 : 4;
    for (int turned = 0; turned < ways; ++turned) {
      all.push_back(sizes);
      all.back().turned_a = turned & 1;
      all.back().turned_b = turned & 2;
    }
  }
  return all;
}

// The elements of a literal by `next`.
template <typename T, typename Next>
Literal Drawn(const Dims& dims, Next next) {
  Literal out = Literal::Uninitialized(Shape::Of(kDTypeOf<T>, dims));
  for (T& element : out.mutable_data<T>()) element = next();
  return out;
}

// ---- bytes ------------------------------------------------------------------

// Sums modulo 2^32, whatever the processor: of any bytes, of the least one, and
// of the two ends in turn, where sums of two products do not fit 16 bits.
template <typename T, typename Wide>
void ExpectExactBytes() {
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kMost = std::numeric_limits<T>::max();
  Random random(5);
  for (const ProductSizes& sizes : AllProductSizes()) {
    for (int ends = sizes.k > 10000 ? 3 : 0; ends < 4; ++ends) {
      const auto next = [&]() -> T {
        const auto bits = static_cast<T>(random.Below(256));
        if (ends == 0) return bits;
        if (ends == 1) return kMost;
        if (ends == 2) return bits & 31 ? (kLeast == 0 ? kMost : kLeast) : T{1};
        return bits & 1 ? kLeast : kMost;
      };
      const Literal a = Drawn<T>(sizes.a(), next),
                    b = Drawn<T>(sizes.b(), next);
      const Literal got = Dot(a, b, sizes, kDTypeOf<Wide>, {.pool = Threads()});
      int64_t at = 0;
      for (int64_t c = 0; c < sizes.batches; ++c) {
        for (int64_t i = 0; i < sizes.m; ++i) {
          for (int64_t j = 0; j < sizes.n; ++j, ++at) {
            uint32_t sum = 0;
            for (int64_t q = 0; q < sizes.k; ++q) {
              sum += static_cast<uint32_t>(
                  int32_t{a.data<T>()[sizes.AtA(c, i, q)]} *
                  int32_t{b.data<T>()[sizes.AtB(c, q, j)]});
            }
            ASSERT_EQ(got.data<Wide>()[at], static_cast<Wide>(sum))
                << sizes.m << " " << sizes.n << " " << sizes.k << " " << ends
                << " at " << at;
          }
        }
      }
    }
  }
}

TEST(ByteProductTest, SumsOfS8AreExact) { ExpectExactBytes<int8_t, int32_t>(); }
TEST(ByteProductTest, SumsOfU8AreExact) {
  ExpectExactBytes<uint8_t, uint32_t>();
}

TEST(ByteProductTest, IsTakenWhereTheProcessorHasExactSums) {
  const Libraries libraries = Libraries::OfProcess();
  EXPECT_EQ(TakesFactors(DType::kS8, DType::kS32, libraries),
            libraries.bytes != nullptr);
  EXPECT_EQ(TakesFactors(DType::kU8, DType::kU32, libraries),
            libraries.bytes != nullptr);
  for (const DType wide : {DType::kS16, DType::kS64}) {
    EXPECT_FALSE(TakesFactors(DType::kS8, wide, libraries));
  }
  EXPECT_FALSE(TakesFactors(DType::kS8, DType::kS32, {}));
}

// ---- halves as f32 ----------------------------------------------------------

// Whole numbers of eighths: sums are exact in f32 in any order.
template <typename T>
void ExpectExactWideHalves() {
  Random random(6);
  for (const ProductSizes& sizes : AllProductSizes()) {
    if (sizes.k > 10000) continue;
    const auto next = [&] {
      return T(static_cast<float>(random.Below(17) - 8) / 8);
    };
    const Literal a = Drawn<T>(sizes.a(), next), b = Drawn<T>(sizes.b(), next);
    const Literal got = Dot(a, b, sizes, DType::kF32, {.pool = Threads()});
    int64_t at = 0;
    for (int64_t c = 0; c < sizes.batches; ++c) {
      for (int64_t i = 0; i < sizes.m; ++i) {
        for (int64_t j = 0; j < sizes.n; ++j, ++at) {
          double sum = 0;
          for (int64_t q = 0; q < sizes.k; ++q) {
            sum += static_cast<double>(
                       static_cast<float>(a.data<T>()[sizes.AtA(c, i, q)])) *
                   static_cast<double>(
                       static_cast<float>(b.data<T>()[sizes.AtB(c, q, j)]));
          }
          ASSERT_EQ(got.data<float>()[at], static_cast<float>(sum))
              << sizes.m << " " << sizes.n << " " << sizes.k << " at " << at;
        }
      }
    }
  }
}

TEST(WideHalfProductTest, SumsOfEighthsAreExact) {
  ExpectExactWideHalves<BFloat16>();
  ExpectExactWideHalves<Half>();
}

// ---- complex ----------------------------------------------------------------

// Parts are whole numbers of at most 8, so that sums are exact in any order.
template <typename C>
void ExpectExactComplex(const CpuEvaluator::Options& options) {
  using Part = typename C::value_type;
  Random random(7);
  for (const ProductSizes& sizes : AllProductSizes()) {
    if (sizes.k > 10000) continue;
    const auto part = [&] { return static_cast<Part>(random.Below(17) - 8); };
    const auto next = [&] {
      const Part real = part();
      return C(real, part());
    };
    const Literal a = Drawn<C>(sizes.a(), next), b = Drawn<C>(sizes.b(), next);
    const Literal got = Dot(a, b, sizes, kDTypeOf<C>, options);
    int64_t at = 0;
    for (int64_t c = 0; c < sizes.batches; ++c) {
      for (int64_t i = 0; i < sizes.m; ++i) {
        for (int64_t j = 0; j < sizes.n; ++j, ++at) {
          int64_t real = 0, imag = 0;
          for (int64_t q = 0; q < sizes.k; ++q) {
            const C x = a.data<C>()[sizes.AtA(c, i, q)];
            const C y = b.data<C>()[sizes.AtB(c, q, j)];
            const auto xr = static_cast<int64_t>(x.real());
            const auto xi = static_cast<int64_t>(x.imag());
            const auto yr = static_cast<int64_t>(y.real());
            const auto yi = static_cast<int64_t>(y.imag());
            real += xr * yr - xi * yi;
            imag += xr * yi + xi * yr;
          }
          ASSERT_EQ(got.data<C>()[at],
                    C(static_cast<Part>(real), static_cast<Part>(imag)))
              << sizes.m << " " << sizes.n << " " << sizes.k << " at " << at;
        }
      }
    }
  }
}

TEST(ComplexProductTest, SumsOfWholeNumbersAreExact) {
  ExpectExactComplex<std::complex<float>>({.pool = Threads()});
  ExpectExactComplex<std::complex<double>>({.pool = Threads()});
}

TEST(ComplexProductTest, StrictOnesToo) {
  ExpectExactComplex<std::complex<float>>(
      {.numerics = runtime::Numerics::kStrict});
}

TEST(ComplexProductTest, NaNAndInfinityStay) {
  using C = std::complex<float>;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ProductSizes& sizes :
       {ProductSizes{1, 3, 2, 2}, ProductSizes{1, 300, 300, 70},
        ProductSizes{1, 300, 1, 70}, ProductSizes{1, 3, 300, 70}}) {
    Literal a = Drawn<C>(sizes.a(), [] { return C(1, 0); });
    const Literal b = Drawn<C>(sizes.b(), [] { return C(1, 1); });
    a.mutable_data<C>()[0] = C(nan, 0);
    a.mutable_data<C>()[sizes.k] = C(kInfinity, 0);
    const Literal got = Dot(a, b, sizes, DType::kC64);
    EXPECT_TRUE(std::isnan(got.data<C>()[0].real()));
    EXPECT_EQ(got.data<C>()[sizes.n], C(kInfinity, kInfinity));
    const auto rest = static_cast<float>(sizes.k);
    EXPECT_EQ(got.data<C>()[2 * sizes.n], C(rest, rest));
    EXPECT_EQ(got.data<C>()[sizes.m * sizes.n - 1], C(rest, rest));
  }
}

}  // namespace
}  // namespace hawser::cpu
