// lu, qr, eigh, eig and svd by what their results satisfy.
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/threads/thread_pool.h"
#include "core/ir/builder.h"
#include "core/ops/linalg/linalg.h"
#include "tests/kernels/cpu/linalg/drawn_matrices.h"
#include "tests/reference/rows/linalg/properties.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

using runtime::Numerics;

std::vector<Literal> ResultsOf(const OpDef& op,
                               const std::vector<Literal>& operands,
                               const Attributes& attributes,
                               const CpuEvaluator::Options& options = {}) {
  auto results = RunOp(op, operands, attributes, options);
  EXPECT_OK(results);
  return results.ok() ? *std::move(results) : std::vector<Literal>();
}

Attributes FlagsOf(const OpDef& op, bool flag) {
  Attributes flags;
  for (const AttributeSpec& spec : op.attributes) flags.Set(spec.name, flag);
  return flags;
}

constexpr const OpDef* kFactorizations[] = {&kLu,   &kQr,  &kGeqrf,
                                            &kEigh, &kEig, &kSvd};

bool TakesSquares(const OpDef& op) { return &op == &kEigh || &op == &kEig; }

void ExpectFactored(const OpDef& op, const Literal& a, const Attributes& by,
                    Numerics numerics) {
  const auto got = ResultsOf(op, {a}, by, {.numerics = numerics});
  ASSERT_FALSE(got.empty());
  EXPECT_TRUE(NoneIsNan(got[0], 0, got[0].shape().num_elements()));
  EXPECT_OK(reference::CheckFactors(op, by, {a}, got));
}

TEST(FactorsTest, OfEverySizeAndDType) {
  const Dims all[] = {{1, 1},     {2, 2},   {5, 3},   {3, 5},
                      {24, 24},   {25, 25}, {26, 40}, {40, 26},
                      {140, 140}, {1, 7},   {7, 1},   {150, 30}};
  for (const Numerics numerics : {Numerics::kFast, Numerics::kStrict}) {
    for (const DType dtype : kFactored) {
      for (const OpDef* op : kFactorizations) {
        for (const Dims& dims : all) {
          if (TakesSquares(*op) && dims[0] != dims[1]) continue;
          // Slow to check.
          if (dims[0] == 140 && (IsComplex(dtype) || op == &kEig)) continue;
          for (const bool flag : {true, false}) {
            if (flag && op->attributes.empty()) continue;
            SCOPED_TRACE(absl::StrCat(op->name, " ", DTypeName(dtype), " ",
                                      dims[0], " ", dims[1], " ", flag));
            ExpectFactored(*op, DrawnMatrices(dtype, dims, 0),
                           FlagsOf(*op, flag), numerics);
          }
        }
      }
    }
  }
}

// Rows that depend on others, zeros, and equal values.
TEST(FactorsTest, OfSingularMatrices) {
  for (const DType dtype : kFactored) {
    for (const int64_t n : {2, 6, 40}) {
      Literal zero = Literal::Zeros(Shape::Of(dtype, {n, n}));
      Literal one = DrawnMatrices(dtype, {n, n}, 0);
      for (int64_t j = 0; j < n; ++j) SetElement(&one, n + j, 0);
      Literal same = Literal::Zeros(zero.shape());
      for (int64_t i = 0; i < n; ++i) SetElement(&same, i * (n + 1), 3);
      for (const Literal& a : {zero, one, same}) {
        for (const OpDef* op : kFactorizations) {
          for (const Numerics numerics : {Numerics::kFast, Numerics::kStrict}) {
            SCOPED_TRACE(absl::StrCat(op->name, " ", DTypeName(dtype), " ", n));
            ExpectFactored(*op, a, FlagsOf(*op, true), numerics);
          }
        }
      }
    }
  }
}

// Squares of the elements would overflow, or vanish.
TEST(FactorsTest, OfVeryLargeAndSmallNumbers) {
  for (const DType dtype : {DType::kF32, DType::kC128}) {
    for (const int64_t n : {4, 40}) {
      for (const double size : {1e30, 1e-30}) {
        const Literal a = DrawnMatrices(dtype, {n, n}, 0, 3, size);
        for (const OpDef* op : kFactorizations) {
          SCOPED_TRACE(absl::StrCat(op->name, " ", n, " ", size));
          ExpectFactored(*op, a, FlagsOf(*op, true), Numerics::kFast);
          ExpectFactored(*op, a, FlagsOf(*op, true), Numerics::kStrict);
        }
      }
    }
  }
}

TEST(FactorsTest, AMatrixThatIsNotFiniteIsNanAlone) {
  for (const OpDef* op : kFactorizations) {
    for (const int64_t n : {1, 3, 100}) {
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
        SCOPED_TRACE(absl::StrCat(op->name, " ", n, " ", bad));
        Literal a = DrawnMatrices(DType::kF32, {3, n, n}, 0);
        SetElement(&a, 2 * n * n - 1, bad);
        testing::internal::CaptureStderr();
        const auto got = ResultsOf(*op, {a}, FlagsOf(*op, true));
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        for (const Literal& x : got) {
          if (x.shape().dtype() == DType::kS32) continue;
          const int64_t part = x.shape().num_elements() / 3;
          EXPECT_TRUE(NoneIsNan(x, 0, part));
          EXPECT_TRUE(AllAreNan(x, part, 2 * part));
          EXPECT_TRUE(NoneIsNan(x, 2 * part, 3 * part));
        }
      }
    }
  }
}

// By hand: a turn by a right angle, and a matrix with one vector alone.
TEST(EigTest, SmallOnesByHand) {
  using C64 = std::complex<float>;
  for (const Numerics numerics : {Numerics::kFast, Numerics::kStrict}) {
    const auto turn =
        ResultsOf(kEig, {Literal::Of<float>({0, -1, 1, 0}, {2, 2})}, {},
                  {.numerics = numerics});
    const auto w = turn[0].data<C64>();
    EXPECT_NEAR(std::abs(w[0] - C64(0, w[0].imag() > 0 ? 1 : -1)), 0, 1e-6);
    EXPECT_NEAR(std::abs(w[0] + w[1]), 0, 1e-6);
    const auto one = ResultsOf(kEig, {Literal::Of<float>({3, 1, 0, 3}, {2, 2})},
                               {}, {.numerics = numerics});
    EXPECT_THAT(one[0], LiteralEquals(Literal::Of<C64>({3, 3}, {2})));
    const auto v = one[1].data<C64>();
    EXPECT_EQ(std::abs(v[0]), 1);
    EXPECT_EQ(v[2], C64(0));
    EXPECT_NEAR(std::abs(v[1]), 1, 1e-6);
    EXPECT_NEAR(std::abs(v[3]), 0, 1e-6);
  }
}

// Values that are all alike, with one vector; sizes far apart; a circle of
// shifts, which plain QR turns for ever.
TEST(EigTest, OfMatricesThatAreHardToFactor) {
  for (const DType dtype : kFactored) {
    for (const int64_t n : {3, 12, 30}) {
      Literal alike = Literal::Zeros(Shape::Of(dtype, {n, n}));
      Literal circle = Literal::Zeros(alike.shape());
      Literal graded = DrawnMatrices(dtype, {n, n}, 0);
      for (int64_t i = 0; i < n; ++i) {
        SetElement(&alike, i * (n + 1), 2);
        if (i > 0) SetElement(&alike, i * (n + 1) - 1, 1);
        SetElement(&circle, i * n + (i + 1) % n, 1);
        SetElement(&graded, i * n + (i * 7 + 2) % n, std::pow(10, 2 - i));
      }
      for (const Literal& a : {alike, circle, graded}) {
        for (const Numerics numerics : {Numerics::kFast, Numerics::kStrict}) {
          SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " ", n));
          ExpectFactored(kEig, a, {}, numerics);
        }
      }
    }
  }
}

// By hand: the second row is taken first, and 1/4 of it from the first.
TEST(LuTest, SmallOnesByHand) {
  const Literal a = Literal::Of<float>({1, 2, 4, 4}, {2, 2});
  const auto got = ResultsOf(kLu, {a}, {});
  EXPECT_THAT(got[0],
              LiteralEquals(Literal::Of<float>({4, 4, 0.25, 1}, {2, 2})));
  EXPECT_THAT(got[1], LiteralEquals(Literal::Vector<int32_t>({1, 1})));
  EXPECT_THAT(got[2], LiteralEquals(Literal::Vector<int32_t>({1, 0})));
  const Literal spoilt = Literal::Of<float>({1, NAN, 4, 4}, {2, 2});
  const auto none = ResultsOf(kLu, {spoilt}, {});
  EXPECT_TRUE(AllAreNan(none[0], 0, 4));
  EXPECT_THAT(none[1], LiteralEquals(Literal::Vector<int32_t>({0, 1})));
  EXPECT_THAT(none[2], LiteralEquals(Literal::Vector<int32_t>({0, 1})));
}

TEST(FactorsTest, NothingToFactor) {
  for (const OpDef* op : kFactorizations) {
    for (const Dims& dims :
         {Dims{0, 0}, Dims{3, 0, 0}, Dims{0, 4, 4}, Dims{2, 3, 0},
          Dims{2, 0, 3}, Dims{int64_t{1} << 40, 0, 0}}) {
      if (TakesSquares(*op) && dims.back() != dims[dims.size() - 2]) {
        continue;
      }
      const Literal a = Literal::Zeros(Shape::Of(DType::kF32, dims));
      for (const bool flag : {true, false}) {
        const auto got = ResultsOf(*op, {a}, FlagsOf(*op, flag));
        EXPECT_OK(reference::CheckFactors(*op, FlagsOf(*op, flag), {a}, got));
      }
    }
  }
}

TEST(FactorsTest, BitsDoNotDependOnThreads) {
  ThreadPool threads(3);
  const Literal a = DrawnMatrices(DType::kF32, {17, 40, 40}, 0);
  for (const OpDef* op : kFactorizations) {
    const auto one = ResultsOf(*op, {a}, FlagsOf(*op, true));
    const auto three =
        ResultsOf(*op, {a}, FlagsOf(*op, true), {.pool = &threads});
    for (size_t k = 0; k < one.size(); ++k) {
      EXPECT_THAT(three[k], LiteralBitEquals(one[k])) << op->name;
    }
  }
}

// The call goes on, but not the run.
TEST(SvdTest, ACancelledRunEndsAtOnce) {
  const int64_t n = 900;
  const Literal a = DrawnMatrices(DType::kF64, {n, n}, 0);
  Module module("svd");
  ComputationBuilder builder(&module, "main");
  const ValueId s =
      builder.Add(kSvd, {builder.Parameter(a.shape())}, FlagsOf(kSvd, true));
  ASSERT_OK(builder.Finish({s}));
  const CancelToken token = CancelToken::WithFlag();
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(50));
    token.Cancel();
  });
  CpuEvaluator evaluator;
  const absl::Time start = absl::Now();
  EXPECT_THAT(evaluator.Evaluate(module, 0, std::vector<Literal>{a}, token),
              StatusIs(absl::StatusCode::kCancelled, ""));
  // It takes some 300 ms by itself.
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(150));
  canceller.join();
}

}  // namespace
}  // namespace hawser::cpu
