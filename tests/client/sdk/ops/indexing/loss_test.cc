// Losses, beside what f64 makes of their definitions here.
#include <cmath>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

// -log(softmax(row)[label]) and its derivatives, by the definition.
double EntropyOf(const std::vector<double>& row, int label) {
  double sum = 0;
  for (const double x : row) sum += std::exp(x - row[label]);
  return std::log(sum);
}
std::vector<double> SlopesOf(const std::vector<double>& row, int label) {
  std::vector<double> slopes;
  for (size_t i = 0; i < row.size(); ++i) {
    double sum = 0;
    for (const double x : row) sum += std::exp(x - row[i]);
    slopes.push_back(1 / sum - (static_cast<int>(i) == label ? 1 : 0));
  }
  return slopes;
}

TEST(CrossEntropyTest, IsOfEachExample) {
  const std::vector<std::vector<double>> rows = {
      {0, 0, 0}, {1, 2, 3}, {-5, 0, 5}, {100, 0, -100}, {1e4, 1e4, 1e4 - 1}};
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  const Tensor logits =
      Constant(Literal::Of<double>(absl::MakeConstSpan(all), {5, 3}));
  for (int label = 0; label < 3; ++label) {
    const Tensor labels = Full(DType::kS32, {5}, label);
    const auto loss = CrossEntropy(logits, labels).Fetch();
    const auto slopes =
        Grad([&](Tensor z) { return Sum(CrossEntropy(z, labels)); })(logits)
            .Fetch();
    ASSERT_OK(loss);
    ASSERT_OK(slopes);
    for (int i = 0; i < 5; ++i) {
      EXPECT_NEAR(loss->data<double>()[i], EntropyOf(rows[i], label), 1e-12);
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(slopes->data<double>()[3 * i + k],
                    SlopesOf(rows[i], label)[k], 1e-12);
      }
    }
  }
}

TEST(CrossEntropyTest, IsNanWhereTheLabelIsNoClass) {
  const Tensor logits = Zeros(DType::kF32, {4, 3});
  const Tensor labels = T1<int32_t>({0, 3, -1, 2});
  const float third = std::log(3.0f);
  EXPECT_NEAR_VALUE(CrossEntropy(logits, labels), 1e-6,
                    F({third, kNan, kNan, third}));
  const auto g =
      Grad([&](Tensor z) { return Sum(CrossEntropy(z, labels)); })(logits)
          .Fetch();
  ASSERT_OK(g);
  for (int i = 0; i < 12; ++i) {
    const bool is_class = i / 3 == 0 || i / 3 == 3;
    EXPECT_EQ(std::isnan(g->data<float>()[i]), !is_class) << i;
  }
  EXPECT_VALUE(IsNan(CrossEntropy(Zeros(DType::kF32, {1, 300}),
                                  T1<uint64_t>({~uint64_t{0}}))),
               Literal::Vector<bool>({true}));
  EXPECT_VALUE(
      IsNan(CrossEntropy(Zeros(DType::kF32, {2, 300}), T1<uint8_t>({255, 0}))),
      Literal::Vector<bool>({false, false}));
}

TEST(CrossEntropyTest, KeepsShapesAndDTypes) {
  const Tensor labels = Zeros(DType::kU8, {2, 5});
  for (const DType dtype :
       {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const Tensor loss = CrossEntropy(Zeros(dtype, {2, 5, 4}), labels);
    EXPECT_EQ(loss.shape(), Shape::Of(dtype, {2, 5}));
    ASSERT_OK(loss.Fetch());
  }
  EXPECT_EQ(
      CrossEntropy(Zeros(DType::kS32, {4}), Scalar(DType::kS64, 1)).shape(),
      Shape::Of(DType::kF32, {}));
  EXPECT_EQ(CrossEntropy(Zeros(DType::kF32, {0, 4}), Zeros(DType::kS32, {0}))
                .Fetch()
                ->shape(),
            Shape::Of(DType::kF32, {0}));
}

TEST(CrossEntropyTest, IsFiniteAtTheEnds) {
  const Tensor logits = TN<float>({3e38f, -3e38f, kInf, 0, -kInf, 0}, {3, 2});
  EXPECT_VALUE(CrossEntropy(logits, T1<int32_t>({0, 1, 0})),
               F({0, kInf, kInf}));
  const Tensor half = TN<float>({60000, 0}, {1, 2});
  EXPECT_VALUE(
      Convert(CrossEntropy(Convert(half, DType::kF16), T1<int32_t>({1})),
              DType::kF32),
      F({60000}));
}

TEST(CrossEntropyTest, RefusesWhatDoesNotFit) {
  const Tensor logits = Zeros(DType::kF32, {2, 3});
  const Tensor labels = Zeros(DType::kS32, {2});
  EXPECT_THAT(CrossEntropy(logits, Zeros(DType::kF32, {2})).status(),
              StatusIs(StatusCode::kInvalidArgument, "labels are integers"));
  EXPECT_THAT(
      CrossEntropy(logits, Zeros(DType::kS32, {3})).status(),
      StatusIs(StatusCode::kInvalidArgument, "must have the sizes [2]"));
  EXPECT_THAT(CrossEntropy(Zeros(DType::kF32, {2, 0}), labels).status(),
              StatusIs(StatusCode::kInvalidArgument, "last axis of classes"));
  EXPECT_THAT(CrossEntropy(Zeros(DType::kC64, {2, 3}), labels).status(),
              StatusIs(StatusCode::kInvalidArgument, "logits must be real"));
}

}  // namespace
}  // namespace hawser
