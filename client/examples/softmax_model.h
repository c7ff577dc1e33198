// Softmax regression over images: a model of one matrix and a bias.
#ifndef HAWSER_CLIENT_EXAMPLES_SOFTMAX_MODEL_H_
#define HAWSER_CLIENT_EXAMPLES_SOFTMAX_MODEL_H_

#include <cstdint>
#include <tuple>

#include "client/hawser.h"

namespace hawser {

struct SoftmaxModel {
  Tensor weights;  // f32[pixels, classes]
  Tensor bias;     // f32[classes]
};
inline auto HawserFields(SoftmaxModel& m) { return std::tie(m.weights, m.bias); }

// All zero, of images of 28 x 28 pixels in 10 classes.
SoftmaxModel ZeroModel();

// One score per image and class, f32[n, classes]; images: u8[n, ...].
Tensor Scores(const SoftmaxModel& model, const Tensor& images);

// Mean cross entropy of the scores' softmax, f32[]; labels: u8[n].
Tensor Loss(const SoftmaxModel& model, const Tensor& images,
            const Tensor& labels);

// A step of gradient descent: the model after it, and the loss before it.
std::tuple<SoftmaxModel, Tensor> Descend(const SoftmaxModel& model,
                                         const Tensor& images,
                                         const Tensor& labels, float rate);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_SOFTMAX_MODEL_H_
