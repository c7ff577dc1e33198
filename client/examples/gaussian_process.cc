// A Gaussian process fitted to noisy samples of a sine.
//
// The length of its kernel and the size of the noise are found by gradients of
// the marginal likelihood, through the Cholesky factor of the covariance; then
// the sine is predicted between the samples.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <tuple>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/hawser.h"

ABSL_FLAG(int, samples, 200, "how many");
ABSL_FLAG(int, steps, 150, "of gradient descent");
ABSL_FLAG(double, noise, 0.1, "standard deviation of the samples' noise");
ABSL_FLAG(int, seed, 1, "of the samples");

namespace hawser {
namespace {

struct Parameters {
  Tensor length, noise;  // logarithms, f64[]
};
auto HawserFields(Parameters& p) { return std::tie(p.length, p.noise); }

// exp(-|x - z|^2 / (2 length^2)) of each x with each z.
Tensor Covariances(const Parameters& p, const Tensor& x, const Tensor& z) {
  const Tensor apart = (ExpandDims(x, 1) - ExpandDims(z, 0)) / Exp(p.length);
  return Exp(Square(apart) / -2);
}

// The factor of the covariance of the samples, noise and all.
Tensor FactorOf(const Parameters& p, const Tensor& x) {
  const int64_t n = x.dim(0);
  const Tensor noise = Exp(2 * p.noise) + 1e-10;
  return Cholesky(Covariances(p, x, x) + noise * Eye(DType::kF64, n, n));
}

// Minus the logarithm of the likelihood of y, for each sample, but for a
// constant.
Tensor Loss(const Parameters& p, const Tensor& x, const Tensor& y) {
  const Tensor factor = FactorOf(p, x);
  const Tensor white = TriangularSolve(factor, y);
  return (Sum(Square(white)) / 2 + Sum(Log(TakeDiagonal(factor)))) / x.dim(0);
}

// The mean of what is predicted at z.
Tensor Predicted(const Parameters& p, const Tensor& x, const Tensor& y,
                 const Tensor& z) {
  const Tensor factor = FactorOf(p, x);
  const Tensor weights = TriangularSolve(factor, TriangularSolve(factor, y),
                                         {.turned = Turned::kTransposed});
  return Dot(Covariances(p, z, x), weights);
}

int Main() {
  const int64_t n = absl::GetFlag(FLAGS_samples);
  const Tensor keys = RandomSplit(RandomKey(absl::GetFlag(FLAGS_seed)));
  const Tensor x = 10 * RandomUniform(keys[0], {n}, DType::kF64);
  const Tensor y = Sin(x) + absl::GetFlag(FLAGS_noise) *
                                RandomNormal(keys[1], {n}, DType::kF64);
  auto step = Jit([](Parameters p, Tensor x, Tensor y) {
    const auto [loss, slopes] = ValueAndGrad(Loss)(p, x, y);
    return std::tuple(Parameters{p.length - 0.3 * slopes.length,
                                 p.noise - 0.3 * slopes.noise},
                      loss);
  });
  Parameters p{Scalar(DType::kF64, 0), Scalar(DType::kF64, 0)};
  Tensor loss;
  for (int i = 0; i < absl::GetFlag(FLAGS_steps); ++i) {
    std::tie(p, loss) = OrExit(step(p, x, y));
  }
  const Tensor z = Linspace(DType::kF64, 0.5, 9.5, 50);
  const Tensor off = Sqrt(Mean(Square(Predicted(p, x, y, z) - Sin(z))));
  std::printf("loss=%.4f length=%.3f noise=%.3f error=%.3f\n",
              OrExit(loss.Item<double>()), OrExit(Exp(p.length).Item<double>()),
              OrExit(Exp(p.noise).Item<double>()), OrExit(off.Item<double>()));
  std::cout << "on " << loss.ran_on() << "\n";
  return 0;
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Fits a Gaussian process to a noisy sine.");
  absl::ParseCommandLine(argc, argv);
  return hawser::Main();
}
