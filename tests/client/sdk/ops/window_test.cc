// Windows and convolutions as users call them, against their definitions
// written here as loops; what Nx says of them is compared outside the tree.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/sdk/values.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

using absl::StatusCode;

Literal Ints(std::initializer_list<int32_t> values) {
  return Literal::Vector<int32_t>(values);
}

TEST(WindowTest, SlidesByStridesOverPaddingAndDilated) {
  const Tensor x = T1<int32_t>({1, 2, 3, 4, 5});
  EXPECT_VALUE(WindowSum(x, {3}), Ints({6, 9, 12}));
  EXPECT_VALUE(WindowSum(x, {2}, {.strides = {2}}), Ints({3, 7}));
  EXPECT_VALUE(WindowSum(x, {2}, {.padding = {{1, 1}}}),
               Ints({1, 3, 5, 7, 9, 5}));
  EXPECT_VALUE(WindowSum(x, {2}, {.padding = {{-1, 0}}}), Ints({5, 7, 9}));
  EXPECT_VALUE(WindowSum(x, {2}, {.dilations = {3}}), Ints({5, 7}));
  EXPECT_VALUE(WindowSum(x, {2}, {.same_size = true}), Ints({3, 5, 7, 9, 5}));
  EXPECT_VALUE(WindowSum(x, {3}, {.strides = {2}, .same_size = true}),
               Ints({3, 9, 9}));
  EXPECT_VALUE(WindowSum(x, {6}), Ints({}));
  EXPECT_VALUE(WindowProduct(x, {2}), Ints({2, 6, 12, 20}));
  EXPECT_VALUE(WindowMax(x, {2}, {.padding = {{1, 0}}}), Ints({1, 2, 3, 4, 5}));
  EXPECT_VALUE(WindowMin(-x, {2}), Ints({-2, -3, -4, -5}));
  EXPECT_VALUE(WindowMean(x, {2}), F({1.5, 2.5, 3.5, 4.5}));
  EXPECT_VALUE(WindowMean(T1<float>({2, 4}), {2}, {.padding = {{1, 0}}}),
               F({1, 3}));
  EXPECT_VALUE(WindowSum(TN<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3}), {2, 2}),
               Literal::Of<int32_t>({12, 16}, {1, 2}));
  EXPECT_VALUE(WindowSum(Scalar(DType::kF32, 3), {}), Literal::Scalar(3.0f));
}

TEST(WindowTest, ExtremesKeepNanAndNeverSeePadding) {
  const Tensor x = T1<float>({-1, kNan, -3, -kInf});
  EXPECT_VALUE(WindowMax(x, {2}, {.padding = {{1, 1}}}),
               F({-1, kNan, kNan, -3, -kInf}));
  EXPECT_VALUE(WindowMin(x, {2}, {.padding = {{0, 1}}}),
               F({kNan, kNan, -kInf, -kInf}));
  EXPECT_VALUE(WindowMax(T1<int32_t>({1}), {1}, {.padding = {{1, 0}}}),
               Ints({INT32_MIN, 1}));
  EXPECT_VALUE(WindowMax(T1<bool>({false, true, false}), {2}),
               Literal::Vector<bool>({true, true}));
}

TEST(WindowTest, ReducesByAFunctionOfOnesOwn) {
  const Tensor x = T1<int32_t>({3, 1, 4, 1, 5});
  const auto larger = [](Tensor a, Tensor b) { return Select(a < b, b, a); };
  EXPECT_VALUE(WindowReduce(x, INT32_MIN, {2}, larger), Ints({3, 4, 4, 5}));
  EXPECT_VALUE(WindowReduce(x, 0, {2}, larger, {.same_size = true}),
               Ints({3, 4, 4, 5, 5}));
  const auto dtype = [](Tensor a, Tensor) { return Convert(a, DType::kF64); };
  EXPECT_THAT(WindowReduce(x, 0, {2}, dtype).status(),
              StatusIs(StatusCode::kInvalidArgument, "WindowReduce: "));
}

TEST(WindowTest, ScattersToTheLastThatTie) {
  const Tensor x = T1<float>({5, 5, 1, 5, 2, 2});
  const Tensor source = T1<float>({10, 20, 30});
  EXPECT_VALUE(WindowScatterMax(x, source, 0, {2}, {.strides = {2}}),
               F({0, 10, 0, 20, 0, 30}));
  EXPECT_VALUE(WindowScatterMin(x, source, 0, {2}, {.strides = {2}}),
               F({0, 10, 20, 0, 0, 30}));
  EXPECT_VALUE(WindowScatterMax(x, T1<float>({1, 2, 3, 4, 5}), 0.5, {2}),
               F({0.5, 3.5, 0.5, 7.5, 0.5, 5.5}));
  EXPECT_THAT(WindowScatterMax(x, source, 0, {2}).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "the source is f32[3], but there are [5] windows"));
}

TEST(WindowTest, GradientsGoToWhatWindowsHold) {
  const Tensor x = T1<float>({2, 2, 1, 3, 3, 0});
  const auto gradient = [&](const std::function<Tensor(Tensor)>& fn) {
    return Grad([&](Tensor v) {
      return Sum(fn(v) * Constant(F({1, 10, 100})));
    })(x);
  };
  const WindowOptions by_two = {.strides = {2}};
  EXPECT_VALUE(gradient([&](Tensor v) { return WindowSum(v, {2}, by_two); }),
               F({1, 1, 10, 10, 100, 100}));
  EXPECT_VALUE(gradient([&](Tensor v) { return WindowMax(v, {2}, by_two); }),
               F({0, 1, 0, 10, 100, 0}));
  EXPECT_VALUE(gradient([&](Tensor v) { return WindowMin(v, {2}, by_two); }),
               F({0, 1, 10, 0, 0, 100}));
  EXPECT_VALUE(
      gradient([&](Tensor v) { return WindowProduct(v, {2}, by_two); }),
      F({2, 2, 30, 10, 0, 300}));
  EXPECT_VALUE(gradient([&](Tensor v) {
                 return WindowMax(v, {4}, {.padding = {{0, 0}}});
               }),
               F({0, 0, 0, 1, 110, 0}));
}

// Windows of more places than are written out one by one.
TEST(WindowTest, LongWindowsAreLikeShortOnes) {
  const Tensor x = Convert(Iota(DType::kS32, {100}), DType::kF32);
  EXPECT_VALUE(Sum(WindowMax(x, {50})), Literal::Scalar(51 * 74.0f));
  const Tensor back = Grad([](Tensor v) { return Sum(WindowMax(v, {50})); })(x);
  EXPECT_VALUE(back[{Range(0, 49)}],
               Literal::Zeros(Shape::Of(DType::kF32, {49})));
  EXPECT_VALUE(Sum(back), Literal::Scalar(51.0f));
  EXPECT_VALUE(Grad([](Tensor v) { return Sum(WindowSum(v, {50})); })(x)[{50}],
               Literal::Scalar(50.0f));
}

TEST(WindowTest, HalvesAreAddedUpInF32) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Tensor ones = Full(dtype, {4096}, 1);
    EXPECT_VALUE(Convert(WindowSum(ones, {4096}), DType::kF32), F({4096}));
    EXPECT_VALUE(Convert(WindowMean(ones, {4096}), DType::kF32), F({1}));
    // Of 256 ones beside one another, by windows that all choose one element.
    const Tensor peak = Concatenate(
        {Zeros(dtype, {15}), Full(dtype, {1}, 2), Zeros(dtype, {15})}, 0);
    const Tensor back = Grad([&](Tensor v) {
      return Sum(Convert(WindowMax(v, {16}), DType::kF32)) * 1025;
    })(peak);
    const float want = dtype == DType::kF16 ? 16400 : 16384;  // nearest
    EXPECT_VALUE(Convert(back[{15}], DType::kF32), Literal::Scalar(want));
  }
}

TEST(WindowTest, BadInputIsNamed) {
  const Tensor x = Zeros(DType::kF32, {3, 4});
  const auto says = [](const Tensor& t, const char* what) {
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kInvalidArgument, what));
  };
  says(WindowSum(x, {2}), "WindowSum: window: 1 sizes for 2 axes");
  says(WindowSum(x, {2, 0}), "window: 0, must be at least 1");
  says(WindowSum(x, {2, 2}, {.strides = {1}}), "strides: 1 numbers for 2 axes");
  says(WindowMax(x, {2, 2}, {.strides = {1, -1}}),
       "WindowMax: strides: -1, must be at least 1");
  says(WindowMin(x, {2, 2}, {.dilations = {0, 1}}), "dilations: 0");
  says(WindowSum(x, {2, 2}, {.padding = {{1, 1}}}),
       "padding: 1 of them for 2 axes");
  says(WindowSum(x, {2, 2}, {.padding = {{1, 1, 1}, {0, 0}}}),
       "padding between elements: 1, must be 0");
  says(WindowSum(x, {2, 2}, {.padding = {{1, 1}, {0, 0}}, .same_size = true}),
       "padding beside same_size");
  says(WindowSum(x, {2, 2}, {.padding = {{int64_t{1} << 62, 1}, {0, 0}}}),
       "is too much");
  says(WindowMax(Zeros(DType::kC64, {4}), {2}), "no order");
  says(Unfold(x, 2, 2), "axis 2");
  says(Unfold(x, 0, 0), "unfold: C4");
  EXPECT_VALUE(WindowSum(x, {1000000000, 1}),
               Literal::Zeros(Shape::Of(DType::kF32, {0, 4})));
}

TEST(UnfoldTest, HasWindowsAlongANewAxis) {
  const Tensor x = TN<int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_VALUE(Unfold(x, 1, 2, {.stride = 2}),
               Literal::Of<int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}));
  EXPECT_VALUE(Unfold(x, -1, 2, {.dilation = 2}),
               Literal::Of<int32_t>({1, 3, 2, 4, 5, 7, 6, 8}, {2, 2, 2}));
}

// ---- convolutions -----------------------------------------------------------

struct DrawnConv {
  int64_t batch, features, out, k;
  Dims size, kernel;
  ConvOptions options;

  Dims XDims() const {
    Dims dims = {batch, features};
    dims.insert(dims.end(), size.begin(), size.end());
    return dims;
  }
  Dims KernelDims() const {
    Dims dims = {out, features / options.groups};
    dims.insert(dims.end(), kernel.begin(), kernel.end());
    return dims;
  }
  Dims ResultDims() const {
    Dims dims = {batch / options.batch_groups, out};
    for (int64_t a = 0; a < k; ++a) {
      const int64_t spread = (size[a] - 1) * options.input_dilations[a] + 1;
      const int64_t padded =
          options.padding[a].low + spread + options.padding[a].high;
      const int64_t extent = (kernel[a] - 1) * options.kernel_dilations[a] + 1;
      dims.push_back(
          padded < extent ? 0 : (padded - extent) / options.strides[a] + 1);
    }
    return dims;
  }
};

DrawnConv Draw(Random& random) {
  DrawnConv d;
  d.k = random.Between(0, 3);
  d.options.groups = random.OneIn(3) ? random.Between(2, 3) : 1;
  if (d.options.groups == 1 && random.OneIn(3)) d.options.batch_groups = 2;
  d.batch = d.options.batch_groups * random.Between(1, 2);
  d.features = d.options.groups * random.Between(1, 5);
  d.out = d.options.groups * d.options.batch_groups * random.Between(1, 5);
  for (int64_t a = 0; a < d.k; ++a) {
    d.size.push_back(random.Between(1, 5));
    d.kernel.push_back(random.Between(1, 3));
    d.options.strides.push_back(random.Between(1, 2));
    d.options.input_dilations.push_back(random.OneIn(3) ? 2 : 1);
    d.options.kernel_dilations.push_back(random.OneIn(3) ? 2 : 1);
    d.options.padding.push_back({random.Between(-1, 2), random.Between(0, 2)});
  }
  return d;
}

void ForEach(const Dims& dims, const std::function<void(const Dims&)>& visit) {
  for (const int64_t size : dims) {
    if (size <= 0) return;
  }
  Dims index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t a = dims.size();
    while (a > 0 && ++index[a - 1] == dims[a - 1]) index[--a] = 0;
    if (a == 0) return;
  }
}

int64_t PlaceIn(const Dims& dims, const Dims& index) {
  int64_t place = 0;
  for (size_t a = 0; a < dims.size(); ++a) place = place * dims[a] + index[a];
  return place;
}

// Calls `visit` with the places of the result, of x and of the kernel for each
// product that a convolution adds up, by its definition.
void ForEachProduct(
    const DrawnConv& d,
    const std::function<void(int64_t, int64_t, int64_t)>& visit) {
  const ConvOptions& o = d.options;
  Dims places = d.KernelDims();
  places[0] = 1;
  int64_t result = 0;
  ForEach(d.ResultDims(), [&](const Dims& at) {
    const int64_t of_group = d.out / o.groups;
    const int64_t first = at[1] / of_group * (d.features / o.groups);
    const int64_t batch =
        at[1] / (d.out / o.batch_groups) * (d.batch / o.batch_groups) + at[0];
    ForEach(places, [&](Dims place) {
      place[0] = at[1];
      Dims from = {batch, first + place[1]};
      for (int64_t a = 0; a < d.k; ++a) {
        const int64_t spread = at[2 + a] * o.strides[a] +
                               place[2 + a] * o.kernel_dilations[a] -
                               o.padding[a].low;
        if (spread < 0 || spread % o.input_dilations[a] != 0) return;
        from.push_back(spread / o.input_dilations[a]);
        if (from.back() >= d.size[a]) return;
      }
      visit(result, PlaceIn(d.XDims(), from), PlaceIn(d.KernelDims(), place));
    });
    ++result;
  });
}

std::vector<double> Numbers(Random& random, const Dims& dims) {
  std::vector<double> values(Shape::Of(DType::kF64, dims).num_elements());
  for (double& value : values) {
    value = static_cast<double>(random.Between(-4, 4));
  }
  return values;
}

Literal LiteralOf(const std::vector<double>& values, const Dims& dims) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kF64, dims));
  std::copy(values.begin(), values.end(), out.mutable_data<double>().begin());
  return out;
}

// Of small whole numbers, so that every sum is exact.
TEST(ConvTest, IsItsDefinition) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Random random(seed);
    const DrawnConv d = Draw(random);
    const auto x = Numbers(random, d.XDims());
    const auto kernel = Numbers(random, d.KernelDims());
    const auto weights = Numbers(random, d.ResultDims());
    std::vector<double> want(weights.size(), 0), of_x(x.size(), 0),
        of_kernel(kernel.size(), 0);
    ForEachProduct(d, [&](int64_t r, int64_t i, int64_t j) {
      want[r] += x[i] * kernel[j];
      of_x[i] += weights[r] * kernel[j];
      of_kernel[j] += weights[r] * x[i];
    });
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Tensor a = Constant(LiteralOf(x, d.XDims()));
    const Tensor b = Constant(LiteralOf(kernel, d.KernelDims()));
    EXPECT_VALUE(Conv(a, b, d.options), LiteralOf(want, d.ResultDims()));
    if (seed % 5 != 0) continue;
    const auto [gradient_a, gradient_b] = Grad<0, 1>([&](Tensor u, Tensor v) {
      return Sum(Conv(u, v, d.options) *
                 Constant(LiteralOf(weights, d.ResultDims())));
    })(a, b);
    EXPECT_VALUE(gradient_a, LiteralOf(of_x, d.XDims()));
    EXPECT_VALUE(gradient_b, LiteralOf(of_kernel, d.KernelDims()));
  }
}

TEST(ConvTest, FeaturesMayBeLast) {
  const Tensor x = TN<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 2, 2});
  const Tensor kernel = TN<float>({1, 0, 2, 1, 0, 1, 1, 1}, {1, 2, 2, 2});
  const Tensor first = Conv(x, kernel);
  const Tensor last =
      Conv(Transpose(x, {0, 2, 3, 1}), Transpose(kernel, {2, 3, 1, 0}),
           {.layout = ConvLayout::kFeaturesLast});
  EXPECT_VALUE(Transpose(last, {0, 3, 1, 2}), *first.Fetch());
}

TEST(ConvTest, TakesWholeNumbersAsF32AndHalvesWide) {
  EXPECT_VALUE(
      Conv(TN<int32_t>({1, 2, 3}, {1, 1, 3}), TN<int32_t>({1, 1}, {1, 1, 2})),
      Literal::Of<float>({3, 5}, {1, 1, 2}));
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (const int64_t groups : {1, 64}) {
      const Tensor sum =
          Conv(Full(dtype, {1, 64, 64}, 1),
               Full(dtype, {64, 64 / groups, 64}, 1), {.groups = groups});
      EXPECT_VALUE((Convert(sum, DType::kF32)[{0, 0, 0}]),
                   Literal::Scalar(4096.0f / static_cast<float>(groups)));
    }
  }
}

TEST(ConvTest, BadInputIsNamed) {
  const Tensor x = Zeros(DType::kF32, {4, 6, 8});
  const auto says = [](const Tensor& t, const char* what) {
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kInvalidArgument, what));
  };
  const auto kernel = [](Dims dims) { return Zeros(DType::kF32, dims); };
  says(Conv(x, kernel({2, 5, 3})), "takes 5 features");
  says(Conv(x, kernel({2, 6, 3, 3})), "takes two tensors of one rank");
  says(Conv(x, kernel({2, 6, 3}), {.groups = 4}), "4 groups divide not both");
  says(Conv(x, kernel({2, 6, 3}), {.groups = 0}), "groups: 0, must be at least 1");
  says(Conv(x, kernel({2, 6, 3}), {.batch_groups = 3}),
       "3 groups of batches divide not both");
  says(Conv(x, kernel({2, 3, 3}), {.groups = 2, .batch_groups = 2}),
       "beside groups of batches");
  says(Conv(x, kernel({2, 6, 3}), {.strides = {1, 1}}),
       "strides: 2 numbers for 1 axes");
  says(Conv(x, kernel({2, 6, 3}), {.strides = {0}}), "strides: 0");
  says(Conv(x, kernel({2, 6, 3}), {.padding = {{1, 1}, {1, 1}}}),
       "padding: 2 of them for 1 axes");
  says(Conv(Scalar(DType::kF32, 1), Scalar(DType::kF32, 1)), "at least 2");
  EXPECT_VALUE(Conv(x, kernel({2, 6, 9})),
               Literal::Zeros(Shape::Of(DType::kF32, {4, 2, 0})));
}

}  // namespace
}  // namespace hawser
