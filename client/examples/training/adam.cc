#include "client/examples/training/adam.h"

namespace hawser {
namespace {

constexpr float kMeanKept = 0.9f, kSquareKept = 0.999f, kLeast = 1e-8f;

}  // namespace

Adam NewAdam(const Parameters& parameters) {
  Adam adam{.steps = Scalar(0.0f)};
  for (const Tensor& p : parameters) {
    adam.means.push_back(Zeros(p.dtype(), p.shape().dims()));
    adam.squares.push_back(Zeros(p.dtype(), p.shape().dims()));
  }
  return adam;
}

std::tuple<Parameters, Adam> Step(const Parameters& parameters,
                                  const Parameters& gradients, const Adam& adam,
                                  float rate) {
  Parameters moved;
  Adam next{.steps = adam.steps + 1};
  // The means began with zeros; these factors make up for it.
  const Tensor mean_there = 1 - Power(kMeanKept, next.steps);
  const Tensor square_there = 1 - Power(kSquareKept, next.steps);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& g = gradients[i];
    next.means.push_back(kMeanKept * adam.means[i] + (1 - kMeanKept) * g);
    next.squares.push_back(kSquareKept * adam.squares[i] +
                           (1 - kSquareKept) * Square(g));
    const Tensor size = Sqrt(next.squares[i] / square_there) + kLeast;
    moved.push_back(parameters[i] - rate * (next.means[i] / mean_there) / size);
  }
  return {moved, next};
}

}  // namespace hawser
