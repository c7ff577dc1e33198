// Convolutions give what their definition gives, by whatever way they go. Small
// integers make sums exact, so every way has the same bits.
#include "core/ops/windows/convolution.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/libraries/dnnl.h"
#include "kernels/cpu/libraries/dnnl_convolution.h"
#include "kernels/cpu/planned/planned_program.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

struct DrawnConvolution {
  Dims x, kernel;
  ConvolutionSpec spec;

  Dims Result() const {
    Dims result = {x[0]};
    for (size_t a = 0; a < spec.strides.size(); ++a) {
      const int64_t padded =
          spec.low[a] + (x[a + 1] - 1) * spec.x_dilations[a] + 1 + spec.high[a];
      const int64_t reach = (kernel[a] - 1) * spec.kernel_dilations[a] + 1;
      result.push_back(padded < reach ? 0
                                      : (padded - reach) / spec.strides[a] + 1);
    }
    result.push_back(kernel.back());
    return result;
  }
};

DrawnConvolution DrawConvolution(Random& random) {
  const int64_t k = random.Between(1, 3);
  DrawnConvolution d{.spec = ConvolutionSpec::Of(k)};
  d.spec.groups = random.OneIn(3) ? random.Between(2, 4) : 1;
  const int64_t features = random.Between(1, 5), out = random.Between(1, 6);
  d.x.push_back(random.Between(1, 3));
  const bool spreads = random.OneIn(3), strides = !spreads || random.OneIn(4);
  for (int64_t a = 0; a < k; ++a) {
    d.x.push_back(random.Between(1, k == 3 ? 4 : 7));
    d.kernel.push_back(random.Between(1, 3));
    if (strides) d.spec.strides[a] = random.Between(1, 3);
    if (spreads) d.spec.x_dilations[a] = random.Between(1, 3);
    d.spec.kernel_dilations[a] = random.Between(1, 2);
    d.spec.low[a] = random.Between(random.OneIn(4) ? -1 : 0, 3);
    d.spec.high[a] = random.Between(random.OneIn(4) ? -1 : 0, 3);
  }
  d.x.push_back(d.spec.groups * features);
  d.kernel.push_back(features);
  d.kernel.push_back(d.spec.groups * out);
  return d;
}

// Numbers from -3 to 3.
Literal DrawFactors(Random& random, DType dtype, const Dims& dims) {
  Literal drawn = Literal::Uninitialized(Shape::Of(dtype, dims));
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      for (T& value : drawn.mutable_data<T>()) {
        value = static_cast<T>(static_cast<float>(random.Between(-3, 3)));
      }
    }
  });
  return drawn;
}

// Element (b, places..., f) of a tensor of these sizes.
int64_t ElementAt(const Dims& dims, const Dims& index) {
  int64_t at = 0;
  for (size_t a = 0; a < dims.size(); ++a) at = at * dims[a] + index[a];
  return at;
}

bool NextIndex(const Dims& dims, Dims* index) {
  for (size_t a = dims.size(); a-- > 0;) {
    if (++(*index)[a] < dims[a]) return true;
    (*index)[a] = 0;
  }
  return false;
}

// The sum that is result `r`.
template <typename T>
float SumOf(const DrawnConvolution& d, const Literal& x, const Literal& kernel,
            const Dims& r) {
  const size_t k = d.spec.strides.size();
  const Dims places(d.kernel.begin(), d.kernel.end() - 1);  // and features
  const int64_t group = r.back() / (d.kernel.back() / d.spec.groups);
  double sum = 0;
  Dims p(places.size(), 0);
  do {
    Dims of_x = {r[0]};
    bool is_there = true;
    for (size_t a = 0; a < k; ++a) {
      const int64_t spread = r[a + 1] * d.spec.strides[a] +
                             p[a] * d.spec.kernel_dilations[a] - d.spec.low[a];
      of_x.push_back(spread / d.spec.x_dilations[a]);
      is_there = is_there && spread >= 0 &&
                 spread % d.spec.x_dilations[a] == 0 &&
                 of_x.back() < d.x[a + 1];
    }
    if (!is_there) continue;
    of_x.push_back(group * d.kernel[k] + p[k]);
    Dims of_kernel = p;
    of_kernel.push_back(r.back());
    sum +=
        static_cast<double>(x.data<T>()[ElementAt(d.x, of_x)]) *
        static_cast<double>(kernel.data<T>()[ElementAt(d.kernel, of_kernel)]);
  } while (NextIndex(places, &p));
  return static_cast<float>(sum);
}

Literal Convolve(const DrawnConvolution& d, const Literal& x,
                 const Literal& kernel,
                 const CpuEvaluator::Options& options = {}) {
  const Module module = testing::ExpressionModule(
      {x.shape(), kernel.shape()}, [&](const std::vector<Expression>& v) {
        return std::vector<Expression>{
            Apply(kConvolution, {v[0], v[1]}, d.spec.ToAttributes())};
      });
  const auto results =
      CpuEvaluator(options).Evaluate(module, 0, {x, kernel}, CancelToken());
  EXPECT_OK(results);
  return (*results)[0];
}

template <typename T>
void ExpectAsDefined(uint64_t seeds) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const DrawnConvolution d = DrawConvolution(random);
    const Dims result = d.Result();
    const Literal x = DrawFactors(random, kDTypeOf<T>, d.x);
    const Literal kernel = DrawFactors(random, kDTypeOf<T>, d.kernel);
    const Literal fast = Convolve(d, x, kernel);
    const Literal strict =
        Convolve(d, x, kernel, {.numerics = runtime::Numerics::kStrict});
    ASSERT_EQ(fast.shape().dims(), result) << seed;
    if (fast.shape().num_elements() == 0) continue;
    Dims r(result.size(), 0);
    do {
      const float want =
          static_cast<float>(static_cast<T>(SumOf<T>(d, x, kernel, r)));
      const int64_t at = ElementAt(result, r);
      ASSERT_EQ(static_cast<float>(fast.data<T>()[at]), want) << seed;
      ASSERT_EQ(static_cast<float>(strict.data<T>()[at]), want) << seed;
    } while (NextIndex(result, &r));
  }
}

TEST(ConvolutionTest, OfF32AsDefined) { ExpectAsDefined<float>(150); }
TEST(ConvolutionTest, OfF64AsDefined) { ExpectAsDefined<double>(20); }
TEST(ConvolutionTest, OfBf16AsDefined) { ExpectAsDefined<BFloat16>(30); }
TEST(ConvolutionTest, OfF16AsDefined) { ExpectAsDefined<Half>(30); }

struct LargeConvolution {
  std::string name;
  Dims x, kernel;
  int64_t stride = 1, spread = 1, low = 1, groups = 1;
};

// Images of several boxes, and boxes of several images and of rows.
const std::vector<LargeConvolution>& LargeConvolutions() {
  static const auto& large = *new std::vector<LargeConvolution>{
      {"images", {20, 14, 14, 32}, {3, 3, 32, 48}},
      {"rows", {1, 56, 40, 64}, {3, 3, 64, 160}},
      {"rows of each image", {2, 64, 128, 64}, {3, 3, 64, 128}, 2},
      {"groups", {3, 28, 28, 64}, {3, 3, 16, 64}, 1, 1, 1, 4},
      {"gradient", {4, 14, 14, 64}, {3, 3, 64, 48}, 1, 2, 1},
      {"one place", {2, 28, 28, 64}, {1, 1, 64, 96}, 2, 1, 0}};
  return large;
}

DrawnConvolution Of(const LargeConvolution& l) {
  DrawnConvolution d{l.x, l.kernel, ConvolutionSpec::Of(2)};
  d.spec.groups = l.groups;
  for (int a = 0; a < 2; ++a) {
    d.spec.strides[a] = l.stride;
    d.spec.x_dilations[a] = l.spread;
    d.spec.low[a] = d.spec.high[a] = l.low;
  }
  return d;
}

TEST(ConvolutionTest, BitsDoNotDependOnThreads) {
  ThreadPool pool(3);
  for (const LargeConvolution& l : LargeConvolutions()) {
    Random random(7);
    const DrawnConvolution d = Of(l);
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const Literal x = DrawFactors(random, dtype, d.x);
      const Literal kernel = DrawFactors(random, dtype, d.kernel);
      const auto bytes = [](const Literal& result) {
        return std::string(result.bytes().begin(), result.bytes().end());
      };
      const std::string alone = bytes(Convolve(d, x, kernel));
      EXPECT_TRUE(bytes(Convolve(d, x, kernel, {.pool = &pool})) == alone)
          << l.name;
      // Exact sums, so every way has these bits.
      EXPECT_TRUE(bytes(Convolve(d, x, kernel,
                                 {.numerics = runtime::Numerics::kStrict})) ==
                  alone)
          << l.name;
    }
  }
}

// A bias and an activation go with each box of the convolution.
TEST(ConvolutionTest, TakesATailAlong) {
  ThreadPool pool(2);
  const auto allocator = HostAllocator::Make(0);
  for (const LargeConvolution& l : LargeConvolutions()) {
    Random random(9);
    const DrawnConvolution d = Of(l);
    const Module module = testing::ExpressionModule(
        testing::ShapesOf(DType::kF32, {l.x, l.kernel, {l.kernel.back()}}),
        [&](const std::vector<Expression>& v) {
          const Expression y =
              Apply(kConvolution, {v[0], v[1]}, d.spec.ToAttributes());
          return std::vector<Expression>{Apply(
              kMaximum, {y + Spread(v[2], y.dims(), {0, 1, 2}), Like(y, 0)})};
        });
    const std::vector<Literal> arguments = {
        DrawFactors(random, DType::kF32, l.x),
        DrawFactors(random, DType::kF32, l.kernel),
        DrawFactors(random, DType::kF32, {l.kernel.back()})};
    const auto want = CpuEvaluator({.numerics = runtime::Numerics::kStrict})
                          .Evaluate(module, 0, arguments, CancelToken());
    ASSERT_OK(want);
    for (const auto numerics :
         {runtime::Numerics::kFast, runtime::Numerics::kStrict}) {
      const auto program = PlannedProgram::Make(module, numerics);
      ASSERT_OK(program);
      const auto got = program->Run(
          arguments,
          {.pool = &pool, .allocator = allocator.get(), .numerics = numerics});
      ASSERT_OK(got);
      EXPECT_THAT((*got)[0], LiteralEquals((*want)[0])) << l.name;
    }
  }
}

TEST(DnnlConvolutionTest, KeepsWhatItMade) {
  const Dnnl* dnnl = Dnnl::OfProcess();
  if (dnnl == nullptr) GTEST_SKIP() << "no oneDNN 2 on this machine";
  DnnlConvolutionSizes sizes{.batch = 1,
                             .features = 16,
                             .out = 16,
                             .x = {8, 8},
                             .kernel = {3, 3},
                             .result = {8, 8},
                             .strides = {1, 1},
                             .dilations = {1, 1},
                             .low = {1, 1}};
  const auto once = DnnlConvolution::Find(*dnnl, sizes);
  ASSERT_OK(once);
  EXPECT_EQ(*DnnlConvolution::Find(*dnnl, sizes), *once);
  sizes.batch = 2;
  const auto other = DnnlConvolution::Find(*dnnl, sizes);
  ASSERT_OK(other);
  EXPECT_NE(*other, *once);
  // Sizes that do not belong together are refused, and no bug.
  sizes.result = {5, 5};
  EXPECT_THAT(DnnlConvolution::Find(*dnnl, sizes),
              StatusIs(absl::StatusCode::kUnimplemented, ""));
}

}  // namespace
}  // namespace hawser::cpu
