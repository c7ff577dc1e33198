// With HAWSER_CHECK_NAN=1 and HAWSER_CHECK_INDICES=1, which are read once per
// process; hence a test binary of its own.
#include <complex>

#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class CheckValues : public testing::Test {
 protected:
  ScopedClient scope_{Client(std::make_shared<CountingClient>())};
};

TEST_F(CheckValues, NamesTheFirstOpThatMakesANan) {
  const auto f = Jit([](Tensor x) { return Exp(Log(x) * 2) + x; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(T1<float>({1, 1})));
  EXPECT_VALUE(y, F({2, 2}));
  for (const auto& error :
       {f(T1<float>({1, -1})).status(), f.Call(T1<float>({1, -1})).status()}) {
    EXPECT_THAT(error, StatusIs(StatusCode::kInvalidArgument,
                                "HAWSER_CHECK_NAN: log gives NaN in a f32[2], "
                                "of operands without one"));
    EXPECT_THAT(error,
                StatusIs(StatusCode::kInvalidArgument, "check_values.cc:19"));
  }
  // A NaN that was given is not made here.
  EXPECT_OK(f(T1<float>({1, kNan})));
}

TEST_F(CheckValues, LooksAtComplexAndHalfResults) {
  const auto half = Jit([](Tensor x) { return x - x; });
  EXPECT_THAT(half(Constant(Literal::Scalar(BFloat16(kInf)))),
              StatusIs(StatusCode::kInvalidArgument, "subtract gives NaN"));
  const std::complex<float> large(kInf, 0);
  EXPECT_THAT(half(Constant(Literal::Scalar(large))),
              StatusIs(StatusCode::kInvalidArgument, "c64[]"));
}

TEST_F(CheckValues, NamesIndicesOutOfRange) {
  const auto slice = Jit([](Tensor x, Tensor at) { return Rows(x, at, 2); });
  const Tensor x = T1<float>({1, 2, 3});
  EXPECT_OK(slice(x, 1));
  for (const int at : {-1, 2}) {
    EXPECT_THAT(slice(x, at),
                StatusIs(StatusCode::kInvalidArgument,
                         "HAWSER_CHECK_INDICES: dynamic_slice has an index out "
                         "of range, which is 0 to 1 of axis 0"));
  }
  const auto take = Jit([](Tensor x, Tensor at) { return Take(x, at); });
  EXPECT_OK(take(x, T1<int32_t>({2, 0})));
  EXPECT_THAT(take(x, T1<int32_t>({1, 3})),
              StatusIs(StatusCode::kInvalidArgument,
                       "gather has an index out of range, which is 0 to 2 of "
                       "axis 0 (at "));
}

TEST_F(CheckValues, OfALoopSeesItsResults) {
  const auto f = Jit([](Tensor x) {
    return While(
        x, [](Tensor t) { return t > 0; }, [](Tensor t) { return Log(t - 1); });
  });
  EXPECT_THAT(f(Constant(Literal::Scalar(0.5f))),
              StatusIs(StatusCode::kInvalidArgument, "while gives NaN"));
}

}  // namespace
}  // namespace hawser
