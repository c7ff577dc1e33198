// Adam: gradient descent by running means of gradients and of their squares.
#ifndef HAWSER_CLIENT_EXAMPLES_TRAINING_ADAM_H_
#define HAWSER_CLIENT_EXAMPLES_TRAINING_ADAM_H_

#include <tuple>
#include <vector>

#include "client/hawser.h"

namespace hawser {

using Parameters = std::vector<Tensor>;

struct Adam {
  Tensor steps;               // f32[], how many there were
  Parameters means, squares;  // of the gradients, as the parameters are
};
inline auto HawserFields(Adam& a) {
  return std::tie(a.steps, a.means, a.squares);
}

// Before the first step.
Adam NewAdam(const Parameters& parameters);

// One step against `gradients`: the parameters and the state after it. Source:
// D. P. Kingma and J. Ba, Adam: a method for stochastic optimization, 2015,
// with its usual constants.
std::tuple<Parameters, Adam> Step(const Parameters& parameters,
                                  const Parameters& gradients, const Adam& adam,
                                  float rate);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_TRAINING_ADAM_H_
