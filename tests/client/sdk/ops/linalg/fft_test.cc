// What Nx's cases do not have of Fft and its kin: tests/vectors/nx_fft.txtpb.
#include "client/sdk/ops/linalg/fft.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

Tensor Counting(const Dims& dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    values.push_back(static_cast<double>(i * i % 7) - 2);
  }
  return Constant(Literal::Of<double>(values, dims));
}

void ExpectNear(const Tensor& got, const Tensor& want) {
  const auto value = want.Fetch(), given = got.Fetch();
  ASSERT_OK(value);
  ASSERT_OK(given);
  EXPECT_THAT(*given, LiteralNear(*value, Tolerance{.atol = 1e-13}));
}

TEST(FftFunctions, KeepTheDTypesOfTheirKind) {
  const Tensor ints = Zeros(DType::kS32, {2, 4});
  const Tensor wide = Zeros(DType::kF64, {2, 4});
  EXPECT_EQ(Fft(ints).shape(), Shape::Of(DType::kC64, {2, 4}));
  EXPECT_EQ(Ifft(wide).shape(), Shape::Of(DType::kC128, {2, 4}));
  EXPECT_EQ(Rfft(ints).shape(), Shape::Of(DType::kC64, {2, 3}));
  EXPECT_EQ(Rfft(Convert(wide, DType::kBF16)).shape(),
            Shape::Of(DType::kC64, {2, 3}));
  EXPECT_EQ(Irfft(wide).shape(), Shape::Of(DType::kF64, {2, 6}));
  EXPECT_EQ(Irfft2(ints, {.lengths = {5, 7}}).shape(),
            Shape::Of(DType::kF32, {5, 7}));
}

// An axis is the last one of what is turned.
TEST(FftFunctions, WorkAlongEveryAxis) {
  const Tensor x = Counting({3, 4, 5});
  for (const int64_t axis : {0, 1, 2, -1, -2, -3}) {
    Dims turn = {0, 1, 2};
    std::swap(turn[axis < 0 ? axis + 3 : axis], turn[2]);
    ExpectNear(Fft(x, {.axis = axis}),
               Transpose(Fft(Transpose(x, turn)), turn));
    ExpectNear(Rfft(x, {.length = 6, .axis = axis}),
               Transpose(Rfft(Transpose(x, turn), {.length = 6}), turn));
  }
}

TEST(FftFunctions, ALengthCropsOrFillsWithZeros) {
  const Tensor x = Counting({2, 5});
  ExpectNear(Fft(x, {.length = 3}), Fft(x[{Range(0, 2), Range(0, 3)}]));
  ExpectNear(Fft(x, {.length = 8}),
             Fft(Concatenate({x, Zeros(DType::kF64, {2, 3})}, 1)));
  EXPECT_EQ(Fft(x, {.length = 0}).shape(), Shape::Of(DType::kC128, {2, 0}));
  EXPECT_EQ(Irfft(Rfft(x, {.length = 0})).shape(),
            Shape::Of(DType::kF64, {2, 0}));
}

TEST(FftFunctions, TwoAxesAreOneAfterTheOther) {
  const Tensor x = Counting({2, 3, 4});
  ExpectNear(Fft2(x), Fft(Fft(x), {.axis = -2}));
  ExpectNear(Fft2(x, {.axes = {0, 2}}), Fft(Fft(x), {.axis = 0}));
  ExpectNear(Ifft2(x, {.lengths = {3, 5}, .axes = {2, 0}}),
             Ifft(Ifft(x, {.length = 3, .axis = 2}), {.length = 5, .axis = 0}));
  ExpectNear(Rfft2(x), Fft(Rfft(x), {.axis = -2}));
  ExpectNear(Irfft2(x, {.lengths = {3, 5}}),
             Irfft(Ifft(x, {.axis = -2}), {.length = 5}));
}

TEST(FftFunctions, TheInverseGivesBack) {
  for (const int64_t n : {1, 2, 5, 6}) {
    const Tensor x = Counting({2, 3, n});
    ExpectNear(Real(Ifft(Fft(x))), x);
    ExpectNear(Irfft(Rfft(x), {.length = n}), x);
    ExpectNear(Irfft2(Rfft2(x), {.lengths = {3, n}}), x);
  }
}

// Parseval: half the sum of squares of the transform is n times that of x,
// whose gradient is n x.
TEST(FftFunctions, HaveGradients) {
  const auto energy = [](Tensor x) {
    const Tensor y = Fft2(x);
    return 0.5 * Sum(Real(y * Conjugate(y)));
  };
  const Tensor x = Counting({3, 4});
  ExpectNear(Grad(energy)(x), 12 * x);
}

TEST(FftFunctions, ErrorsSayWhatIsWrong) {
  const Tensor x = Zeros(DType::kC64, {2, 3});
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_THAT(t.status(), StatusIs(absl::StatusCode::kInvalidArgument, text));
  };
  refused(Rfft(x), "Rfft: takes real numbers, not c64");
  refused(Fft(x, {.axis = 2}), "Fft: axis 2");
  refused(Fft(x, {.length = -1}), "a length is -1");
  refused(Fft2(x, {.axes = {0, -2}}), "given twice");
  refused(Fft2(x, {.lengths = {2}}), "takes two axes and two lengths");
  refused(Irfft(Zeros(DType::kC64, {2, 1})), "give the length");
}

}  // namespace
}  // namespace hawser
