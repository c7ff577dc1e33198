// Gradients of MatrixExponential; its values: tests/vectors.
#include "client/sdk/ops/linalg/decompositions.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

const std::vector<double> kSmallMatrix = {0.5,   -1,   0.25, 2, 0.125,
                                     -0.75, -0.5, 1.5,  1};
const std::vector<double> kThreeWeights = {1, 2, -1, 0.5, -0.25, 3, -2, 1, 0.75};

Tensor ThreeRows(const std::vector<double>& values, double scale = 1) {
  return Constant(Literal::Of<double>(values, {3, 3})) * scale;
}

void ExpectGradient(double scale, const std::vector<double>& want) {
  const auto sum = [&](Tensor a) {
    return Sum(MatrixExponential(a) * ThreeRows(kThreeWeights));
  };
  auto gradient = Jit(Grad(sum));
  const auto got = gradient(ThreeRows(kSmallMatrix, scale));
  ASSERT_OK(got);
  const auto value = got->Fetch();
  ASSERT_OK(value);
  EXPECT_THAT(*value, LiteralNear(Literal::Of<double>(want, {3, 3}),
                                  Tolerance{.atol = 1e-12, .rtol = 1e-12}));
}

// SciPy 1.17.1: expm_frechet of the transpose, along the weights.
TEST(MatrixExponential, HasTheGradientOfItsProducts) {
  ExpectGradient(
      1, {0.17674019751603903, 1.6651005329304938, 5.1539766823940871,
          -1.023174729821136, -2.0120235420725261, 3.7495800307166327,
          -3.1409040597809992, -1.1167481368498027, 0.70082651977082355});
}

TEST(MatrixExponential, HasTheGradientOfItsSquares) {
  ExpectGradient(
      5, {-6.9410223998335745, -7.937207183884297, 40.355388784500612,
          -10.182805179606298, -11.458021364814496, 1.232916147884108,
          -20.086226804360905, -13.934557404121621, -9.1968045696749154});
}

// Each of a batch is squared as often as it needs.
TEST(MatrixExponential, BelowVmapIsThatOfEach) {
  const Tensor both = Stack({ThreeRows(kSmallMatrix), ThreeRows(kSmallMatrix, 20)});
  const auto mapped = Vmap(MatrixExponential)(both).Fetch();
  const auto direct = MatrixExponential(both).Fetch();
  ASSERT_OK(mapped);
  ASSERT_OK(direct);
  EXPECT_THAT(*mapped, LiteralNear(*direct, Tolerance{.rtol = 1e-13}));
}

}  // namespace
}  // namespace hawser
