// Two convolutions, each nine slices and a product, and gradient descent.
#include <iostream>
#include <vector>

#include "client/hawser.h"

using namespace hawser;

struct Net {
  Tensor w1, w2, w3;
};
auto HawserFields(Net& n) { return std::tie(n.w1, n.w2, n.w3); }

Tensor Noise(uint32_t seed, Dims dims) {
  Tensor i = Iota(DType::kU32, dims) + (seed << 24);
  i = BitwiseXor(i, RightShift(i, 16)) * 0x7feb352d;
  i = BitwiseXor(i, RightShift(i, 15)) * 0x846ca68b;
  return Convert(RightShift(i, 8), DType::kF32) / (1 << 24) - 0.5;
}

Tensor Conv(Tensor x, Tensor w) {
  Tensor padded = Pad(x, 0, {{}, {1, 1}, {1, 1}, {}});
  std::vector<Tensor> parts;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      parts.push_back(
          padded[{Range(), Range(i, i + x.dim(1)), Range(j, j + x.dim(2))}]);
    }
  }
  return Maximum(MatMul(Concatenate(parts, -1), w), 0);
}

Tensor Loss(Net net, Tensor x, Tensor label) {
  Tensor y = Conv(x, net.w1);
  y = Mean(Reshape(y, {x.dim(0), 4, 2, 4, 2, 8}), {.axes = {2, 4}});
  y = Mean(Conv(y, net.w2), {.axes = {1, 2}});
  Tensor scores = MatMul(y, net.w3);
  Tensor right = TakeAlongAxis(scores, ExpandDims(label, 1), 1);
  return Mean(LogSumExp(scores, {.axis = 1}) - Squeeze(right));
}

int main() {
  std::cout.precision(9);
  auto step = Jit([](Net net, Tensor images, Tensor label, Tensor i) {
    Tensor first = i * 64 % 512;
    auto [loss, g] = ValueAndGrad(Loss)(net, Rows(images, first, 64),
                                        Rows(label, first, 64));
    return std::tuple(Net{net.w1 - g.w1, net.w2 - g.w2, net.w3 - g.w3}, loss);
  });
  Tensor label = Iota(DType::kS32, {512}) % 4;
  Tensor images = Noise(1, {512, 8, 8, 1}) + Noise(2, {4, 8, 8, 1})[label];
  Net net{Noise(3, {9, 8}), Noise(4, {72, 16}), Noise(5, {16, 4})};
  Tensor loss;
  for (int i = 0; i < 40; ++i) {
    std::tie(net, loss) = KeepError(step(net, images, label, i));
    if (i % 2 != 1) continue;
    std::cout << "step " << i << " loss " << *loss.Item<float>() << " on "
              << loss.ran_on() << std::endl;
  }
  std::cout << "weights " << net.w3[0].Fetch()->ToString() << std::endl;
}
