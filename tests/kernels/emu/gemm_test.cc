// Products of the emulated library: every type, layout and tail.
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "core/base/values/dtype.h"
#include "tests/kernels/emu/products.h"

namespace hawser::testing {
namespace {

using gpu::GemmActivation;
using gpu::GemmSpec;

template <typename F, typename D>
absl::Status Check(const GemmSpec& spec, double tolerance = 0) {
  Bench bench;
  return CheckProduct<F, D>(&bench, spec, tolerance);
}

TEST(Gemm, EveryLayout) {
  for (int layouts = 0; layouts < 8; ++layouts) {
    for (const int64_t gap : {0, 3}) {
      EXPECT_EQ((Check<float, float>(
                    Product(DType::kF32, DType::kF32, layouts, gap))),
                absl::OkStatus())
          << layouts << " " << gap;
    }
  }
}

TEST(Gemm, EveryType) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  const absl::Status ok;
  EXPECT_EQ((Check<Half, Half>(Product(DType::kF16, DType::kF16))), ok);
  EXPECT_EQ((Check<Half, float>(Product(DType::kF16, DType::kF32))), ok);
  EXPECT_EQ((Check<BFloat16, BFloat16>(Product(DType::kBF16, DType::kBF16))),
            ok);
  EXPECT_EQ((Check<BFloat16, float>(Product(DType::kBF16, DType::kF32))), ok);
  EXPECT_EQ((Check<double, double>(Product(DType::kF64, DType::kF64))), ok);
  EXPECT_EQ((Check<C64, C64>(Product(DType::kC64, DType::kC64))), ok);
  EXPECT_EQ((Check<C128, C128>(Product(DType::kC128, DType::kC128))), ok);
  EXPECT_EQ((Check<int8_t, int32_t>(Product(DType::kS8, DType::kS32))), ok);
}

TEST(Gemm, EveryTail) {
  for (const auto activation :
       {GemmActivation::kIdentity, GemmActivation::kRelu,
        GemmActivation::kGeluTanh}) {
    for (int flags = 0; flags < 4; ++flags) {
      GemmSpec s = Product(DType::kF32, DType::kF32);
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
    return bench.device().PlanCall(s).status();
  };
  EXPECT_TRUE(absl::IsUnimplemented(plan(Product(DType::kS32, DType::kS32))));
  EXPECT_TRUE(absl::IsUnimplemented(plan(Product(DType::kF32, DType::kF64))));
  GemmSpec tail = Product(DType::kF32, DType::kF32, 4);
  tail.has_bias = true;
  EXPECT_TRUE(absl::IsUnimplemented(plan(tail)));
  GemmSpec narrow = Product(DType::kF32, DType::kF32);
  narrow.a.leading = narrow.k - 1;
  EXPECT_TRUE(absl::IsInvalidArgument(plan(narrow)));
  GemmSpec same = Product(DType::kF32, DType::kF32);
  same.d.batch_stride = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(plan(same)));
}

TEST(Gemm, AnEmptySumIsTheTail) {
  GemmSpec s = Product(DType::kF32, DType::kF32);
  s.k = 0;
  s.a.leading = 1;
  s.has_bias = true;
  Bench bench;
  const int64_t size = s.batch * s.m * s.n;
  const auto bias = bench.Put(std::vector<float>(s.n, 3.0f));
  const auto d = bench.Make<float>(size);
  ASSERT_EQ(bench.device().RunCall(
                bench.stream(), *bench.device().PlanCall(s),
                OperandsOf(s, {.d = d.address, .bias = bias.address})),
            absl::OkStatus());
  EXPECT_EQ(bench.Get(d), std::vector<float>(size, 3.0f));
}

}  // namespace
}  // namespace hawser::testing
