// Whole programs of the SDK, unmodified, on every target: no line of them says
// where they compute, and the answers are the same.
#include "tests/conformance/programs.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "client/examples/knn.h"
#include "client/hawser.h"
#include "tests/conformance/target.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

constexpr int64_t kTrain = 300, kImages = 45, kPixels = 48;

// Nearest neighbours, as plain as can be.
std::vector<uint8_t> PlainNearestLabels(const Literal& train,
                                        const Literal& labels,
                                        const Literal& images) {
  const auto t = train.data<uint8_t>(), x = images.data<uint8_t>();
  std::vector<uint8_t> found;
  for (int64_t i = 0; i < images.shape().dim(0); ++i) {
    int64_t nearest = 0, least = INT64_MAX;
    for (int64_t j = 0; j < train.shape().dim(0); ++j) {
      int64_t distance = 0;
      for (int64_t k = 0; k < kPixels; ++k) {
        const int64_t d = int64_t{x[i * kPixels + k]} - t[j * kPixels + k];
        distance += d * d;
      }
      if (distance < least) std::tie(least, nearest) = {distance, j};
    }
    found.push_back(labels.data<uint8_t>()[nearest]);
  }
  return found;
}

// Descent along the signs of the gradient of |x w - y|^2. All numbers in it are
// small multiples of 1/4, so it is exact.
std::pair<Literal, float> PlainDescent(const Literal& x, const Literal& y,
                                       int steps) {
  float w[2] = {0, 0}, loss = 0;
  for (int i = 0; i < steps; ++i) {
    float gradient[2] = {0, 0};
    loss = 0;
    for (int row = 0; row < 4; ++row) {
      const float* of = &x.data<float>()[2 * row];
      const float error = of[0] * w[0] + of[1] * w[1] - y.data<float>()[row];
      for (int k = 0; k < 2; ++k) gradient[k] += of[k] * error;
      loss += std::abs(error);
    }
    for (int k = 0; k < 2; ++k) {
      w[k] -= gradient[k] > 0 ? 0.25f : gradient[k] < 0 ? -0.25f : 0;
    }
  }
  return {Literal::Vector<float>({w[0], w[1]}), loss};
}

class ProgramsTest : public TargetTest {
 protected:
  const Literal train_ = RandomBits(Shape::Of(DType::kU8, {kTrain, 6, 8}), 1);
  const Literal labels_ = RandomBits(Shape::Of(DType::kU8, {kTrain}), 2);
  const Literal images_ = RandomBits(Shape::Of(DType::kU8, {kImages, 6, 8}), 3);
  const std::vector<uint8_t> want_ =
      PlainNearestLabels(train_, labels_, images_);
};

TEST_P(ProgramsTest, NearestNeighbours) {
  ASSERT_OK_AND_ASSIGN(
      const Dataset data,
      target_->sdk().Put({{"images", train_}, {"labels", labels_}}));
  int batches = 0;
  const auto found = NearestLabels(
      data, images_, 10, [&](int batch, const Tensor& labels) {
        EXPECT_EQ(batch, batches++);
        EXPECT_THAT(labels.ran_on(), ::testing::HasSubstr(target_->where));
        return absl::OkStatus();
      });
  ASSERT_OK(found);
  EXPECT_EQ(*found, want_);
  EXPECT_EQ(batches, 5);
}

// The server dies between two batches; what only it had is made again.
TEST_P(ProgramsTest, NearestNeighboursAcrossAKill) {
  if (target_->server == nullptr || target_->local == nullptr) {
    GTEST_SKIP() << "a target without a server to kill, or without a CPU of "
                    "its own to go on with";
  }
  ASSERT_OK_AND_ASSIGN(
      const Dataset data,
      target_->sdk().Put({{"images", train_}, {"labels", labels_}}));
  const auto found =
      NearestLabels(data, images_, 10, [&](int batch, const Tensor& labels) {
        if (batch == 2) target_->server->Kill();
        if (batch > 2) {
          EXPECT_THAT(labels.ran_on(), ::testing::HasSubstr("cpu (fallback"));
        }
        return absl::OkStatus();
      });
  ASSERT_OK(found);
  EXPECT_EQ(*found, want_);
}

TEST_P(ProgramsTest, ADonatedStateGoesThroughManySteps) {
  auto step = Jit([](Tensor w, Tensor x, Tensor y) {
                const Tensor error = Dot(x, w) - y;
                const Tensor way = Sign(Dot(Transpose(x), error));
                return std::tuple(w - way * 0.25f, Sum(Abs(error)));
              }).With({.client = target_->sdk()});
  const Literal x = Literal::Of<float>({1, 0, 2, 1, 0, 3, 1, 1}, {4, 2});
  const Literal y = Literal::Vector<float>({2, 7, 9, 5});
  Tensor w = Zeros(DType::kF32, {2}), loss;
  for (int i = 0; i < 60; ++i) {
    auto next = step(Donate(w), x, y);
    ASSERT_OK(next);
    std::tie(w, loss) = *std::move(next);
  }
  const auto [want_w, want_loss] = PlainDescent(x, y, 60);
  EXPECT_THAT(*w.Fetch(), LiteralEquals(want_w));
  EXPECT_THAT(*loss.Fetch(), LiteralEquals(Literal::Scalar(want_loss)));
}

// Call takes what the call operator takes: values of every kind and size.
TEST_P(ProgramsTest, CallTakesWhatRunningTakes) {
  const ScopedClient scope(target_->sdk());
  const auto f = Jit([](Tensor x) { return x + 1; });
  ASSERT_OK_AND_ASSIGN(const Dataset data,
                       target_->sdk().Put({{"x", Literal::Scalar(3.0f)}}));
  ASSERT_OK_AND_ASSIGN(const Tensor result, f(5.0f));
  const Tensor recorded = Zeros(DType::kF32, {}) + 7;
  const Tensor small = Scalar(9.0f);
  for (const Tensor& x : {data["x"], result, recorded, small}) {
    ASSERT_OK_AND_ASSIGN(const Tensor run, f(x));
    ASSERT_OK_AND_ASSIGN(const Tensor called, f.Call(x));
    EXPECT_THAT(*called.Fetch(), LiteralEquals(*run.Fetch()));
    EXPECT_THAT(called.ran_on(), ::testing::HasSubstr(target_->where));
  }
  const Tensor large =
      Constant(RandomBits(Shape::Of(DType::kF32, {600000}), 4));
  ASSERT_OK_AND_ASSIGN(const Tensor one, f(large));
  ASSERT_OK_AND_ASSIGN(const Tensor other, f.Call(large));
  EXPECT_THAT(*other.Fetch(), LiteralEquals(*one.Fetch()));
  ASSERT_OK(f.Call(Donate(result)).status());
  ASSERT_OK(f.Call(Donate(small)).status());
  for (const Tensor& gone : {result, small}) {
    EXPECT_THAT(f.Call(gone), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       "used after it was donated"));
  }
}

TEST_P(ProgramsTest, RecordedExpressionsAndTheirErrors) {
  const ScopedClient scope(target_->sdk());
  const Tensor x = Iota(DType::kS32, {2, 3});
  EXPECT_THAT(*Sum(x * 2 + 1).Fetch(),
              LiteralEquals(Literal::Scalar<int32_t>(36)));
  const Tensor bad = Reshape(x, {4}) + 1;
  EXPECT_THAT(bad.Fetch(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    "reshape: C2"));
  EXPECT_THAT(bad.Fetch(), StatusIs(absl::StatusCode::kInvalidArgument,
                                    "programs_test.cc:"));
}

// Probes are results like any other; checked_programs_test sets the variables
// that add some.
TEST_P(ProgramsTest, ProbesSeeIntoLoops) {
  const auto f = Jit([](Tensor x, Tensor turns, Tensor p) {
                   const auto body = [&](Tensor i, Tensor s) {
                     const Tensor at = Convert(i, DType::kS32);
                     const Tensor more = Cond(
                         p > 0, [&] { return Rows(x, at, 2) + Sqrt(3 - i); },
                         [&] { return x[Range(0, 2)]; });
                     return std::tuple(i + 1, Print(s + more, "sum"));
                   };
                   return While(
                       std::tuple(0.0f, x[Range(0, 2)]),
                       [&](Tensor i, Tensor) { return i < turns; }, body);
                 }).With({.client = target_->sdk()});
  const Literal x = Literal::Vector<float>({1, 2, 3, 4, 5, 6, 7, 8});
  ::testing::internal::CaptureStderr();
  const auto sound = f(x, 3.0f, 0.0f);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::AllOf(::testing::HasSubstr("sum = f32[2] {4, 8} ("),
                               ::testing::HasSubstr(", turn 2)")));
  ASSERT_OK(sound);
  EXPECT_THAT(*std::get<1>(*sound).Fetch(),
              LiteralEquals(Literal::Vector<float>({4, 8})));
  ASSERT_OK(f(x, 4.0f, 1.0f).status());
  const absl::Status nan = f(x, 6.0f, 1.0f).status();
  const absl::Status index =
      f(Literal::Vector<float>({1, 2, 3}), 4.0f, 1.0f).status();
  if (std::getenv("HAWSER_CHECK_NAN") == nullptr) {
    EXPECT_OK(nan);
    EXPECT_OK(index);
    return;
  }
  EXPECT_THAT(nan, StatusIs(absl::StatusCode::kInvalidArgument,
                            "sqrt gives NaN in a f32[], of operands without "
                            "one, in turn 4 (at "));
  EXPECT_THAT(index, StatusIs(absl::StatusCode::kInvalidArgument,
                              "0 to 1 of axis 0, in turn 2 (at "));
}

INSTANTIATE_TEST_SUITE_P(
    All, ProgramsTest,
    ::testing::ValuesIn(TargetsThat(&TargetRow::has_datasets)), TargetName);

}  // namespace
}  // namespace hawser
