// A network of two layers, trained by Adam: an epoch, its shuffle included, is
// one call.
//   mlp                on files
//   mlp TOKEN BYTES    on what another process has put, of which so much may be
//                      kept here
#include <cstdlib>
#include <iostream>

#include "client/hawser.h"

using namespace hawser;

using Mlp = std::array<Tensor, 4>;  // weights and bias of each layer

struct Adam {
  Mlp p, m, v;
  Tensor t;
};
auto HawserFields(Adam& a) { return std::tie(a.p, a.m, a.v, a.t); }

Tensor Noise(uint32_t seed, Dims dims) {
  Tensor i = Iota(DType::kU32, dims) + (seed << 24);
  i = BitwiseXor(i, RightShift(i, 16)) * 0x7feb352d;
  i = BitwiseXor(i, RightShift(i, 15)) * 0x846ca68b;
  return Convert(RightShift(i, 8), DType::kF32) / (1 << 24) - 0.5;
}

Tensor Scores(Mlp p, Tensor x) {
  return MatMul(Maximum(MatMul(x, p[0]) + p[1], 0), p[2]) + p[3];
}

Tensor Loss(Mlp p, Tensor x, Tensor label) {
  Tensor scores = Scores(p, x);
  Tensor right = TakeAlongAxis(scores, ExpandDims(label, 1), 1);
  return Mean(LogSumExp(scores, {.axis = 1}) - Squeeze(right));
}

std::tuple<Adam, Tensor> Epoch(Adam start, Tensor x, Tensor label, Tensor n) {
  int64_t rows = x.dim(0), batch = 64;
  Tensor order = (Iota(DType::kS32, {rows}) * 389 + n * 57) % rows;
  auto [i, a, total] = While(
      std::tuple(0, start, 0.f),
      [=](Tensor i, Adam, Tensor) { return i < rows / batch; },
      [=](Tensor i, Adam a, Tensor total) {
        Tensor now = Rows(order, i * batch, batch);
        auto [loss, g] = ValueAndGrad(Loss)(a.p, x[now], label[now]);
        a.t += 1;
        Tensor rate =
            0.003 * Sqrt(1 - Power(0.99, a.t)) / (1 - Power(0.9, a.t));
        for (int k = 0; k < 4; ++k) {
          a.m[k] = 0.9 * a.m[k] + 0.1 * g[k];
          a.v[k] = 0.99 * a.v[k] + 0.01 * g[k] * g[k];
          a.p[k] -= rate * a.m[k] / (Sqrt(a.v[k]) + 1e-7);
        }
        return std::tuple(i + 1, a, total + loss);
      });
  return {a, total / (rows / batch)};
}

int main(int argc, char** argv) {
  std::cout.precision(9);
  Client c = Client::Default();
  Dataset data = argc > 2
                     ? *c.Dataset(argv[1], {.keep_local = std::atoi(argv[2])})
                     : *c.Put({{"x", *ReadNpy("x.npy")},
                               {"label", *ReadNpy("label.npy")}});
  Mlp p{Noise(1, {32, 48}) / 3, Zeros(DType::kF32, {48}), Noise(2, {48, 4}) / 3,
        Zeros(DType::kF32, {4})};
  Mlp zero = p;
  for (Tensor& z : zero) z *= 0;
  Adam a{p, zero, zero, Scalar(0.f)};
  auto epoch = Jit(Epoch);
  for (int i = 0; i < 20; ++i) {
    Tensor loss;
    std::tie(a, loss) = KeepError(epoch(a, data["x"], data["label"], i));
    std::cout << "epoch " << i << " loss " << *loss.Item<float>() << " on "
              << loss.ran_on() << std::endl;
  }
  Tensor found = ArgMax(Scores(a.p, data["x"]), {.axis = 1});
  std::cout << "right " << *Mean(Eq(found, data["label"])).Item<float>()
            << std::endl;
}
