#include "client/examples/softmax_model.h"

namespace hawser {
namespace {

constexpr int64_t kPixels = 28 * 28;
constexpr int64_t kClasses = 10;

}  // namespace

SoftmaxModel ZeroModel() {
  return {Zeros(DType::kF32, {kPixels, kClasses}),
          Zeros(DType::kF32, {kClasses})};
}

Tensor Scores(const SoftmaxModel& model, const Tensor& images) {
  const Tensor rows = Reshape(images, {images.dim(0), kPixels});
  return Dot(Convert(rows, DType::kF32) / 255, model.weights) + model.bias;
}

Tensor Loss(const SoftmaxModel& model, const Tensor& images,
            const Tensor& labels) {
  const Tensor scores = Scores(model, images);
  const Tensor is_class =
      Eq(ExpandDims(labels, 1), Iota(DType::kU8, {1, kClasses}));
  const Tensor right = Sum(Select(is_class, scores, 0), {.axes = {1}});
  return Mean(LogSumExp(scores, {.axes = {1}}) - right);
}

std::tuple<SoftmaxModel, Tensor> Descend(const SoftmaxModel& model,
                                         const Tensor& images,
                                         const Tensor& labels, float rate) {
  const auto [loss, g] = ValueAndGrad(Loss)(model, images, labels);
  return {{model.weights - rate * g.weights, model.bias - rate * g.bias}, loss};
}

}  // namespace hawser
