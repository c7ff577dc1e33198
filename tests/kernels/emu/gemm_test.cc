// Products of the emulated library: every type, layout and tail.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "core/base/dtype.h"
#include "tests/kernels/emu/bench.h"

namespace hawser::testing {
namespace {

using gpu::GemmActivation;
using gpu::GemmSpec;
using gpu::MatrixLayout;

constexpr int64_t kBatch = 2, kM = 5, kN = 7, kK = 3;

int64_t At(const MatrixLayout& l, int64_t batch, int64_t i, int64_t j) {
  return batch * l.batch_stride +
         (l.column_major ? j * l.leading + i : i * l.leading + j);
}

MatrixLayout Layout(DType dtype, bool column_major, int64_t rows,
                    int64_t columns, int64_t gap) {
  MatrixLayout l{.dtype = dtype, .column_major = column_major};
  l.leading = (column_major ? rows : columns) + gap;
  l.batch_stride = l.leading * (column_major ? columns : rows) + gap;
  return l;
}

// Small integers, of which every sum is exact in every type.
template <typename T>
std::vector<T> Small(const MatrixLayout& l, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < kBatch * l.batch_stride; ++i) {
    values.push_back(T(static_cast<ComputeType<T>>(
        static_cast<int>(random() % 9) - 4)));
  }
  return values;
}

template <typename F, typename D>
absl::Status Check(GemmSpec spec, double tolerance = 0) {
  Bench bench;
  gpu::Device& device = bench.device();
  const auto a = Small<F>(spec.a, 1), b = Small<F>(spec.b, 2);
  const auto c = Small<D>(spec.d, 3), bias = Small<D>(spec.d, 4);
  const auto as = bench.Put(a), bs = bench.Put(b);
  const auto cs = bench.Put(c), biases = bench.Put(bias), ds = bench.Put(c);
  HAWSER_ASSIGN_OR_RETURN(const gpu::GemmPlan plan, device.PlanGemm(spec));
  HAWSER_RETURN_IF_ERROR(device.Gemm(
      bench.stream(), plan,
      {as.address, bs.address, ds.address, cs.address, biases.address, {}}));
  const auto d = bench.Get(ds);
  HAWSER_RETURN_IF_ERROR(bench.status());
  HAWSER_RETURN_IF_ERROR(device.DestroyGemmPlan(plan));
  using W = std::conditional_t<kIsComplex<D>, std::complex<double>, double>;
  auto wide = [](auto x) {
    using T = decltype(x);
    if constexpr (kIsComplex<T>) return std::complex<double>(x);
    else return W(static_cast<double>(static_cast<ComputeType<T>>(x)));
  };
  for (int64_t n = 0; n < kBatch * kM * kN; ++n) {
    const int64_t batch = n / (kM * kN), i = n / kN % kM, j = n % kN;
    W sum = 0;
    for (int64_t k = 0; k < kK; ++k) {
      sum += wide(a[At(spec.a, batch, i, k)]) *
             wide(b[At(spec.b, batch, k, j)]);
    }
    sum *= spec.alpha;
    if (spec.has_c) sum += spec.beta * wide(c[At(spec.c, batch, i, j)]);
    if (spec.has_bias) sum += wide(bias[j]);
    if constexpr (!kIsComplex<D>) {
      if (spec.activation == GemmActivation::kRelu) sum = std::max(sum, 0.0);
      if (spec.activation == GemmActivation::kGeluTanh) {
        sum *= 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) *
                                    (sum + 0.044715 * sum * sum * sum)));
      }
    }
    const W got = wide(d[At(spec.d, batch, i, j)]);
    if (!(std::abs(got - sum) <= tolerance * (1 + std::abs(sum)))) {
      return DataLoss("element ", n, " is ", std::abs(got), ", not ",
                      std::abs(sum));
    }
  }
  return absl::OkStatus();
}

GemmSpec Spec(DType factor, DType result, int layouts = 0, int64_t gap = 0) {
  GemmSpec s{.batch = kBatch, .m = kM, .n = kN, .k = kK};
  s.a = Layout(factor, layouts & 1, kM, kK, gap);
  s.b = Layout(factor, layouts & 2, kK, kN, gap);
  s.d = s.c = Layout(result, layouts & 4, kM, kN, gap);
  return s;
}

TEST(Gemm, EveryLayout) {
  for (int layouts = 0; layouts < 8; ++layouts) {
    for (const int64_t gap : {0, 3}) {
      EXPECT_EQ((Check<float, float>(
                    Spec(DType::kF32, DType::kF32, layouts, gap))),
                absl::OkStatus())
          << layouts << " " << gap;
    }
  }
}

TEST(Gemm, EveryType) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  const absl::Status ok;
  EXPECT_EQ((Check<Half, Half>(Spec(DType::kF16, DType::kF16))), ok);
  EXPECT_EQ((Check<Half, float>(Spec(DType::kF16, DType::kF32))), ok);
  EXPECT_EQ((Check<BFloat16, BFloat16>(Spec(DType::kBF16, DType::kBF16))), ok);
  EXPECT_EQ((Check<BFloat16, float>(Spec(DType::kBF16, DType::kF32))), ok);
  EXPECT_EQ((Check<double, double>(Spec(DType::kF64, DType::kF64))), ok);
  EXPECT_EQ((Check<C64, C64>(Spec(DType::kC64, DType::kC64))), ok);
  EXPECT_EQ((Check<C128, C128>(Spec(DType::kC128, DType::kC128))), ok);
  EXPECT_EQ((Check<int8_t, int32_t>(Spec(DType::kS8, DType::kS32))), ok);
}

TEST(Gemm, EveryTail) {
  for (const auto activation :
       {GemmActivation::kIdentity, GemmActivation::kRelu,
        GemmActivation::kGeluTanh}) {
    for (int flags = 0; flags < 4; ++flags) {
      GemmSpec s = Spec(DType::kF32, DType::kF32);
      s.activation = activation;
      s.has_bias = flags & 1;
      s.has_c = flags & 2;
      s.alpha = 0.5;
      s.beta = flags & 2 ? -2 : 0;
      EXPECT_EQ((Check<float, float>(s, 1e-5)), absl::OkStatus()) << flags;
    }
  }
}

TEST(Gemm, RefusesWhatTheLibraryHasNot) {
  Bench bench;
  auto plan = [&](const GemmSpec& s) {
    return bench.device().PlanGemm(s).status();
  };
  EXPECT_TRUE(absl::IsUnimplemented(plan(Spec(DType::kS32, DType::kS32))));
  EXPECT_TRUE(absl::IsUnimplemented(plan(Spec(DType::kF32, DType::kF64))));
  GemmSpec tail = Spec(DType::kF32, DType::kF32, 4);
  tail.has_bias = true;
  EXPECT_TRUE(absl::IsUnimplemented(plan(tail)));
  GemmSpec narrow = Spec(DType::kF32, DType::kF32);
  narrow.a.leading = kK - 1;
  EXPECT_TRUE(absl::IsInvalidArgument(plan(narrow)));
  GemmSpec same = Spec(DType::kF32, DType::kF32);
  same.d.batch_stride = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(plan(same)));
}

TEST(Gemm, AnEmptySumIsTheTail) {
  GemmSpec s = Spec(DType::kF32, DType::kF32);
  s.k = 0;
  s.a.leading = 1;
  s.has_bias = true;
  Bench bench;
  const auto bias = bench.Put(std::vector<float>(kN, 3.0f));
  const auto d = bench.Make<float>(kBatch * kM * kN);
  ASSERT_EQ(bench.device().Gemm(bench.stream(), *bench.device().PlanGemm(s),
                                {.d = d.address, .bias = bias.address}),
            absl::OkStatus());
  EXPECT_EQ(bench.Get(d), std::vector<float>(kBatch * kM * kN, 3.0f));
}

}  // namespace
}  // namespace hawser::testing
