// Products as cuBLASLt is told them, done by that library's rules, are those
// of the emulated device: every layout, gap and batch of small sizes.
#include "kernels/cuda/products/gemm_layout.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "absl/strings/match.h"
#include "kernels/emu/gemm.h"

namespace hawser::cuda {
namespace {

using gpu::GemmActivation;
using gpu::GemmSpec;

// Element (row, column) of what a matrix is used as.
float At(const BlasMatrix& m, const float* base, int64_t batch, int64_t row,
         int64_t column) {
  if (m.is_transposed) std::swap(row, column);
  return base[batch * m.batch_stride + column * m.leading + row];
}

// cublasLtMatmul by its manual: column-major, the bias one value per row.
void Multiply(const GemmSpec& spec, const BlasProblem& p, const float* first,
              const float* second, const float* c, const float* bias,
              float* d) {
  const int64_t sums = p.first.is_transposed ? p.first.rows : p.first.columns;
  for (int64_t batch = 0; batch < spec.batch; ++batch) {
    for (int64_t i = 0; i < p.d.rows; ++i) {
      for (int64_t j = 0; j < p.d.columns; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < sums; ++k) {
          sum += At(p.first, first, batch, i, k) *
                 At(p.second, second, batch, k, j);
        }
        sum *= static_cast<float>(spec.alpha);
        if (spec.has_c) {
          sum += static_cast<float>(spec.beta) * At(p.c, c, batch, i, j);
        }
        if (spec.has_bias) sum += bias[i];
        if (spec.activation == GemmActivation::kRelu && sum < 0) sum = 0;
        d[batch * p.d.batch_stride + j * p.d.leading + i] = sum;
      }
    }
  }
}

// Small integers: sums are exact in any order.
std::vector<float> Random(int64_t bytes, std::mt19937* random) {
  std::vector<float> values(bytes / 4 + 1);
  for (float& v : values) v = static_cast<float>((*random)() % 9) - 4;
  return values;
}

gpu::DeviceAddress Address(const std::vector<float>& values) {
  return {reinterpret_cast<uint64_t>(values.data())};
}

void ExpectTheSame(const GemmSpec& s) {
  const absl::StatusOr<BlasProblem> problem = ToBlasProblem(s);
  ASSERT_EQ(problem.status(), absl::OkStatus());
  for (const BlasMatrix& m :
       {problem->first, problem->second, problem->c, problem->d}) {
    ASSERT_GE(m.leading, std::max<int64_t>(m.rows, 1));  // as the library asks
  }
  std::mt19937 random(1);
  const auto a = Random(emu::SpanBytes(s.a, s.batch, s.m, s.k), &random);
  const auto b = Random(emu::SpanBytes(s.b, s.batch, s.k, s.n), &random);
  const auto c = Random(emu::SpanBytes(s.c, s.batch, s.m, s.n), &random);
  const auto bias = Random(4 * s.n, &random);
  std::vector<float> want(emu::SpanBytes(s.d, s.batch, s.m, s.n) / 4, 99.0f);
  std::vector<float> got = want;
  emu::RunGemm(s, {Address(a), Address(b), Address(want), Address(c),
                   Address(bias), {}});
  Multiply(s, *problem, problem->is_swapped ? b.data() : a.data(),
           problem->is_swapped ? a.data() : b.data(), c.data(), bias.data(),
           got.data());
  ASSERT_EQ(got, want);
}

// Bits of `choice`: column-major a, b, d; batches; gaps; c; bias.
GemmSpec Spec(int choice, int64_t m, int64_t n, int64_t k) {
  GemmSpec s{.m = m, .n = n, .k = k};
  const bool has_gap = choice & 16;
  auto layout = [&](bool column_major, int64_t rows, int64_t columns) {
    gpu::MatrixLayout l{.column_major = column_major};
    const int64_t line = column_major ? rows : columns;
    const int64_t lines = column_major ? columns : rows;
    if (has_gap) l.leading = line + 2;
    l.batch_stride = lines * (has_gap ? line + 2 : line) + has_gap;
    return l;
  };
  s.a = layout(choice & 1, m, k);
  s.b = layout(choice & 2, k, n);
  s.d = s.c = layout(choice & 4, m, n);
  s.batch = choice & 8 ? 3 : 1;
  s.has_c = choice & 32;
  s.alpha = 2;
  s.beta = -1;
  s.has_bias = choice & 64 && !s.d.column_major;
  s.activation = choice & 64 && !s.d.column_major ? GemmActivation::kRelu
                                                  : GemmActivation::kIdentity;
  return s;
}

TEST(GemmLayout, EveryCombinationIsTheEmulatedProduct) {
  for (int choice = 0; choice < 128; ++choice) {
    for (int64_t m = 1; m <= 3; ++m) {
      for (int64_t n = 1; n <= 3; ++n) {
        for (int64_t k = 0; k <= 3; ++k) {
          SCOPED_TRACE(::testing::Message() << choice << ": " << m << " x "
                                            << n << " x " << k);
          ExpectTheSame(Spec(choice, m, n, k));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(GemmLayout, OneFactorServesAWholeBatch) {
  for (int choice = 0; choice < 8; ++choice) {
    GemmSpec s = Spec(choice | 8, 2, 3, 4);
    (choice & 1 ? s.a : s.b).batch_stride = 0;
    ExpectTheSame(s);
  }
}

TEST(GemmLayout, RefusesWhatMakesNoSense) {
  const GemmSpec right = Spec(8, 2, 3, 4);
  struct Case {
    absl::StatusCode code;
    const char* says;
    void (*change)(GemmSpec*);
  };
  using enum absl::StatusCode;
  const Case cases[] = {
      {kInvalidArgument, "sizes 3 x -1 x 3 x 4", [](auto* s) { s->m = -1; }},
      {kInvalidArgument, "a has lines of 4 elements, 3 apart",
       [](auto* s) { s->a.leading = 3; }},
      {kInvalidArgument, "b has a negative stride",
       [](auto* s) { s->b.batch_stride = -1; }},
      {kInvalidArgument, "results of 6 elements, 5 apart",
       [](auto* s) { s->d.batch_stride = 5; }},
      {kUnimplemented, "c and d differ",
       [](auto* s) { s->has_c = s->c.column_major = true; }},
      {kUnimplemented, "a bias or activation of f32, column-major",
       [](auto* s) { s->has_bias = s->d.column_major = true; }},
      {kUnimplemented, "a bias or activation of s32",
       [](auto* s) { s->has_bias = true, s->d.dtype = DType::kS32; }},
  };
  for (const Case& c : cases) {
    GemmSpec spec = right;
    c.change(&spec);
    const absl::Status status = ToBlasProblem(spec).status();
    EXPECT_EQ(status.code(), c.code) << c.says;
    EXPECT_TRUE(absl::StrContains(status.message(), c.says)) << status;
    // The emulated device says the same of them.
    EXPECT_EQ(emu::CheckGemm(spec).code(), c.code) << c.says;
  }
}

}  // namespace
}  // namespace hawser::cuda
