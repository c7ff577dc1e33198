#include "tests/kernels/emu/samples.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/base/values/half.h"
#include "tests/kernels/dialect/sample_kernels.h"

namespace hawser::testing {
namespace {

using Arg = gpu::KernelArgument;

double Number(float x) { return x; }
double Number(BFloat16 x) { return static_cast<float>(x); }

// Normal values; row r is moved by `shift` times -1, 0 or 1 in turn, which
// shows a wrong neutral element.
template <typename T>
std::vector<T> Normal(int64_t rows, int64_t columns, double spread = 1,
                      double shift = 0) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<T> values;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      values.push_back(T(static_cast<float>(
          normal(random) * spread + shift * static_cast<double>(r % 3 - 1))));
    }
  }
  return values;
}

// Returns kDataLoss for the first element that is further from `want(i)` than
// both tolerances allow.
template <typename T, typename Want>
absl::Status Compare(const char* what, const std::vector<T>& got, Want want,
                     double relative, double absolute) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double x = Number(got[i]), y = want(i);
    if (!(std::abs(x - y) <= absolute + relative * std::abs(y))) {
      return DataLoss(what, "[", i, "] is ", x, ", not ", y);
    }
  }
  return absl::OkStatus();
}

absl::Status RunElementwise(Bench* bench, const std::string& text) {
  constexpr uint32_t kRows = 13, kColumns = 1024;
  const auto x = Normal<BFloat16>(kRows, kColumns);
  const auto w = Normal<BFloat16>(1, kColumns);
  const auto b = Normal<BFloat16>(2, kColumns / 2);
  const auto xs = bench->Put(x), ws = bench->Put(w), bs = bench->Put(b);
  const auto ys = bench->Make<BFloat16>(kRows * kColumns);
  bench->Launch(bench->Kernel(text, "elementwise"),
                {.grid = {5}, .threads = 256},
                {ys.Write(), xs.Read(), ws.Read(), bs.Read(),
                 Arg::Scalar(kRows * kColumns / 8)});
  const auto y = bench->Get(ys);
  HAWSER_RETURN_IF_ERROR(bench->status());
  return Compare("y", y, [&](size_t i) {
    const double t = Number(x[i]) * Number(w[i % kColumns]) +
                     Number(b[i % kColumns]);
    const double u = 0.7978845608 * (t + 0.044715 * t * t * t);
    return 0.5 * t * (1 + std::tanh(u));
  }, 0x1p-8, 1e-6);
}

absl::Status RunSoftmax(Bench* bench, const std::string& text) {
  constexpr uint32_t kRows = 4, kColumns = 4096;
  const auto x = Normal<BFloat16>(kRows, kColumns, 4, 300);
  const auto xs = bench->Put(x);
  const auto ys = bench->Make<BFloat16>(kRows * kColumns);
  bench->Launch(bench->Kernel(text, "softmax"),
                {.grid = {kRows}, .threads = 256}, {ys.Write(), xs.Read()});
  const auto y = bench->Get(ys);
  HAWSER_RETURN_IF_ERROR(bench->status());
  std::vector<double> top(kRows, -1e30), sum(kRows);
  for (size_t i = 0; i < x.size(); ++i) {
    top[i / kColumns] = std::max(top[i / kColumns], Number(x[i]));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    sum[i / kColumns] += std::exp(Number(x[i]) - top[i / kColumns]);
  }
  return Compare("y", y, [&](size_t i) {
    return std::exp(Number(x[i]) - top[i / kColumns]) / sum[i / kColumns];
  }, 0x1p-8, 1e-9);
}

absl::Status RunLayerNorm(Bench* bench, const std::string& text) {
  constexpr uint32_t kRows = 6, kColumns = 1500;
  const auto x = Normal<float>(kRows, kColumns, 3, 1);
  const auto g = Normal<float>(1, kColumns), b = Normal<float>(2, kColumns / 2);
  const auto xs = bench->Put(x), gs = bench->Put(g), bs = bench->Put(b);
  const auto ys = bench->Make<float>(kRows * kColumns);
  const auto means = bench->Make<float>(kRows);
  const auto scales = bench->Make<float>(kRows);
  bench->Launch(bench->Kernel(text, "layernorm"),
                {.grid = {kRows}, .threads = 256},
                {ys.Write(), means.Write(), scales.Write(), xs.Read(),
                 gs.Read(), bs.Read(), Arg::Scalar(1e-5f)});
  const auto y = bench->Get(ys), mean = bench->Get(means),
             scale = bench->Get(scales);
  HAWSER_RETURN_IF_ERROR(bench->status());
  std::vector<double> mu(kRows), s(kRows);
  for (size_t i = 0; i < x.size(); ++i) mu[i / kColumns] += x[i] / 1500.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - mu[i / kColumns];
    s[i / kColumns] += d * d / kColumns;
  }
  for (double& v : s) v = 1 / std::sqrt(v + 1e-5);
  HAWSER_RETURN_IF_ERROR(
      Compare("mean", mean, [&](size_t r) { return mu[r]; }, 0, 1e-5));
  HAWSER_RETURN_IF_ERROR(
      Compare("scale", scale, [&](size_t r) { return s[r]; }, 1e-5, 0));
  return Compare("y", y, [&](size_t i) {
    const size_t r = i / kColumns, c = i % kColumns;
    return (x[i] - mu[r]) * s[r] * g[c] + b[c];
  }, 1e-5, 1e-5);
}

absl::Status RunColumnSum(Bench* bench, const std::string& text) {
  constexpr uint32_t kRows = 203, kColumns = 512, kParts = 4;
  const auto x = Normal<BFloat16>(kRows, kColumns);
  const auto g = Normal<BFloat16>(kRows, kColumns, 1, 1);
  const auto xs = bench->Put(x), gs = bench->Put(g);
  const auto parts = bench->Make<float>(kParts * kColumns);
  const auto ys = bench->Make<float>(kColumns);
  bench->Launch(bench->Kernel(text, "column_parts"),
                {.grid = {kColumns / 128, kParts}, .threads = 256},
                {parts.Write(), xs.Read(), gs.Read(), Arg::Scalar(kRows),
                 Arg::Scalar((kRows + kParts - 1) / kParts)});
  bench->Launch(bench->Kernel(text, "column_totals"),
                {.grid = {kColumns / 256}, .threads = 256},
                {ys.Write(), parts.Read(), Arg::Scalar(kParts)});
  const auto y = bench->Get(ys);
  HAWSER_RETURN_IF_ERROR(bench->status());
  std::vector<double> sum(kColumns);
  for (size_t i = 0; i < x.size(); ++i) {
    sum[i % kColumns] += Number(x[i]) * Number(g[i]);
  }
  return Compare("y", y, [&](size_t c) { return sum[c]; }, 1e-5, 1e-4);
}

}  // namespace

absl::Span<const Sample> Samples() {
  static const Sample* const kSamples = new Sample[4]{
      {"elementwise", std::string(kElementwiseText), RunElementwise},
      {"softmax", std::string(kSoftmaxText), RunSoftmax},
      {"layernorm", std::string(kLayerNormText), RunLayerNorm},
      {"column_sum", std::string(kColumnSumText), RunColumnSum},
  };
  return {kSamples, 4};
}

const Sample& SampleNamed(const std::string& name) {
  for (const Sample& sample : Samples()) {
    if (sample.name == name) return sample;
  }
  HAWSER_CHECK(false);
}

}  // namespace hawser::testing
