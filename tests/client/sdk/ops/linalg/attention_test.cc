// Attention beside JAX's, beside its formula, and where scores are extreme.
#include "client/sdk/ops/linalg/attention.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

// (i * step) % 11 in quarters, around 0.
Tensor Steps(const Dims& dims, int64_t step, DType dtype = DType::kF64) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    values.push_back(static_cast<double>(i * step % 11 - 5) / 4);
  }
  return Convert(Constant(Literal::Of<double>(values, dims)), dtype);
}

void ExpectApartBy(const Tensor& got, const Tensor& want,
                   double apart = 1e-13) {
  const auto value = want.Fetch(), given = got.Fetch();
  ASSERT_OK(value);
  ASSERT_OK(given);
  EXPECT_THAT(*given, LiteralNear(*value, Tolerance{.atol = apart}));
}

Tensor Numbers(absl::Span<const double> values, const Dims& dims) {
  return Constant(Literal::Of<double>(values, dims));
}

// JAX 0.10.2 in f64 on its CPU, by einsum, softmax and grad (its own function
// makes scores in f32): grouped heads, a bias, a mask, causal; the gradients of
// the sum of the result times Steps(4).
const double kResult[] = {-1.25,
                          0.5,
                          -1.25,
                          0.5,
                          -0.5,
                          1.25,
                          -0.5,
                          1.25,
                          -1.25,
                          0.5,
                          -1.25,
                          0.5,
                          -0.5,
                          1.25,
                          -0.5,
                          1.25,
                          -0.725774905945421,
                          0.256445680452303,
                          -0.496271667390784,
                          0.130898261039252,
                          0.0944435045405613,
                          -0.196078497878605,
                          0.516685057621296,
                          0.110187717031962};
const double kByQ[] = {0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0.428080889825282,
                       0.0211275668442173,
                       -0.139587601420887,
                       -0.12561360721771,
                       0.143634522782746,
                       0.143634522782746,
                       0.016453845804481,
                       0.016453845804481};
const double kByK[] = {
    0.0433475721815409, -0.0778026025974237, -0.186179700496058,
    0.0637181868480118, -0.411292945829466,  0.36515318286563,
    0.331224786480913,  0.0715615646736142,  0.367945373647925,
    -0.287350580268206, -0.145045085984855,  -0.135279751521626};
const double kByV[] = {
    1.5557111666175,    -3.19105178222644,     -2.39876993565591,
    2.075041212341,     0.381267975089006,     0.300982919731181,
    -0.984216446568703, -0.000551367239834677, 0.563020858293495,
    0.390068862495255,  -0.367013617775389,    0.175510154898834};
const double kByBias[] = {
    -0.211404323626527,  0.483173123950818,  -0.271768800324291,
    0.00725921776788425, -0.373414456157797, 0.366155238389913,
    0.263219175326542,   -0.11605399984524,  -0.147165175481303,
    0.212776800566923,   -0.378542613121043, 0.16576581255412};

TEST(AttentionTest, IsJaxs) {
  const Tensor q = Steps({1, 3, 4, 2}, 3), k = Steps({1, 3, 2, 2}, 5);
  const Tensor v = Steps({1, 3, 2, 2}, 7), bias = Steps({1, 4, 1, 3}, 2);
  const Tensor mask = TN<bool>(
      {true, true, false, true, false, true, true, true, true}, {1, 1, 3, 3});
  const auto attention = [&](Tensor q, Tensor k, Tensor v, Tensor bias,
                             Tensor mask) {
    return Attention(
        q, k, v, {.scale = 0.7, .causal = true, .mask = mask, .bias = bias});
  };
  const auto loss = [&](Tensor q, Tensor k, Tensor v, Tensor bias,
                        Tensor mask) {
    return Sum(attention(q, k, v, bias, mask) * Steps({1, 3, 4, 2}, 4));
  };
  ExpectApartBy(attention(q, k, v, bias, mask), Numbers(kResult, {1, 3, 4, 2}));
  ExpectApartBy(Grad<0>(loss)(q, k, v, bias, mask),
                Numbers(kByQ, {1, 3, 4, 2}));
  ExpectApartBy(Grad<1>(loss)(q, k, v, bias, mask),
                Numbers(kByK, {1, 3, 2, 2}));
  ExpectApartBy(Grad<2>(loss)(q, k, v, bias, mask),
                Numbers(kByV, {1, 3, 2, 2}));
  ExpectApartBy(Grad<3>(loss)(q, k, v, bias, mask),
                Numbers(kByBias, {1, 4, 1, 3}));
}

// One head for each head, by the functions that it stands for.
Tensor Formula(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto heads = [](const Tensor& x) { return Transpose(x, {0, 2, 1, 3}); };
  const Tensor scores = MatMul(heads(q), Transpose(k, {0, 2, 3, 1})) /
                        std::sqrt(static_cast<double>(q.dim(3)));
  return heads(MatMul(Softmax(scores), heads(v)));
}

TEST(AttentionTest, IsItsFormulaAndHasItsGradients) {
  const Tensor q = Steps({2, 3, 2, 4}, 3), k = Steps({2, 5, 2, 4}, 5);
  const Tensor v = Steps({2, 5, 2, 3}, 7);
  const auto ours = [](Tensor q, Tensor k, Tensor v) {
    return Sum(Square(Attention(q, k, v)));
  };
  const auto formula = [](Tensor q, Tensor k, Tensor v) {
    return Sum(Square(Formula(q, k, v)));
  };
  ExpectApartBy(Attention(q, k, v), Formula(q, k, v));
  ExpectApartBy(Grad<0>(ours)(q, k, v), Grad<0>(formula)(q, k, v));
  ExpectApartBy(Grad<1>(ours)(q, k, v), Grad<1>(formula)(q, k, v));
  ExpectApartBy(Grad<2>(ours)(q, k, v), Grad<2>(formula)(q, k, v));
  // The rule can be differentiated, too.
  const auto slope = [&](auto loss) {
    return Grad([=](Tensor q, Tensor k, Tensor v) {
      return Sum(Grad<1>(loss)(q, k, v));
    })(q, k, v);
  };
  ExpectApartBy(slope(ours), slope(formula), 1e-12);
}

TEST(AttentionTest, ScoresOfAnySizeStayInRange) {
  const Tensor q = Steps({1, 4, 1, 2}, 3, DType::kF32) * 1e4;
  const Tensor k = Steps({1, 4, 1, 2}, 5, DType::kF32) * 1e4;
  const Tensor v = Steps({1, 4, 1, 2}, 7, DType::kF32);
  EXPECT_VALUE(All(IsFinite(Attention(q, k, v))), Literal::Scalar(true));
  const auto loss = [](Tensor q, Tensor k, Tensor v) {
    return Sum(Attention(q, k, v, {.causal = true}));
  };
  EXPECT_VALUE(All(IsFinite(Grad<0>(loss)(q, k, v))), Literal::Scalar(true));
}

TEST(AttentionTest, AQueryThatSeesNothingIsZero) {
  const Tensor x = Steps({1, 2, 1, 2}, 3);
  const Tensor mask = TN<bool>({false, false, true, true}, {2, 2});
  const Tensor got = Attention(x, x, x, {.mask = mask});
  const Tensor first = got[{0, 0}];
  EXPECT_VALUE(first, Literal::Of<double>({0, 0}, {1, 2}));
  const auto loss = [&](Tensor x, Tensor mask) {
    return Sum(Attention(x, x, x, {.mask = mask}));
  };
  EXPECT_VALUE(All(IsFinite(Grad<0>(loss)(x, mask))), Literal::Scalar(true));
}

TEST(AttentionTest, HalvesAreAddedUpInF32) {
  const Tensor q = Steps({1, 3, 2, 8}, 3), k = Steps({1, 600, 2, 8}, 5);
  const Tensor v = Steps({1, 600, 2, 4}, 7);
  const auto half = [](const Tensor& x) { return Convert(x, DType::kBF16); };
  const Tensor got = Attention(half(q), half(k), half(v));
  EXPECT_EQ(got.dtype(), DType::kBF16);
  // Quarters are exact in bf16; each weight is rounded to 8 bits, the sum of
  // their errors times 1.25 is below 2^-9 times 1.25, and the result to 8 bits.
  ExpectApartBy(Convert(got, DType::kF64), Attention(q, k, v), 0.01);
}

TEST(AttentionTest, WorksBelowVmapAndInJit) {
  const Tensor q = Steps({2, 1, 3, 2, 4}, 3), k = Steps({2, 1, 5, 2, 4}, 5);
  const auto one = [](Tensor q, Tensor k) { return Attention(q, k, k); };
  const Tensor both = Vmap(one)(q, k);
  ExpectApartBy(both[1], one(q[1], k[1]));
  auto compiled = Jit(one);
  ASSERT_OK_AND_ASSIGN(const Tensor got, compiled(q[0], k[0]));
  ExpectApartBy(got, one(q[0], k[0]));
}

TEST(AttentionTest, ErrorsSayWhatIsWrong) {
  const auto floats = [](const Dims& dims) { return Zeros(DType::kF32, dims); };
  const Tensor q = floats({2, 3, 4, 8}), k = floats({2, 5, 2, 8});
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_THAT(t.status(), StatusIs(absl::StatusCode::kInvalidArgument, text));
  };
  refused(Attention(floats({3, 4, 8}), k, k), "takes tensors of rank 4");
  refused(Attention(q, floats({2, 5, 2, 7}), k), "do not fit each other");
  refused(Attention(q, floats({2, 5, 3, 8}), floats({2, 5, 3, 8})),
          "4 heads are no multiple of 3");
  refused(Attention(q, k, k, {.mask = Zeros(DType::kBool, {4, 5})}),
          "the mask bool[4,5] does not broadcast to [2,4,3,5]");
  refused(Attention(q, k, k, {.mask = floats({3, 5})}), "no bool");
  refused(Attention(q, k, k, {.bias = floats({2, 2, 3, 5})}),
          "the bias f32[2,2,3,5] does not broadcast");
  refused(Attention(Convert(q, DType::kC64), k, k), "complex numbers");
}

}  // namespace
}  // namespace hawser
