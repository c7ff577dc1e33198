// A transformer block, forwards and backwards: its loss, and how that changes
// along random ways through the weights.
#include <cmath>
#include <iostream>

#include "client/hawser.h"

using namespace hawser;

struct Block {
  Tensor qkv, out, up, down;
};
auto HawserFields(Block& p) { return std::tie(p.qkv, p.out, p.up, p.down); }

Tensor Noise(uint32_t seed, Dims dims) {
  Tensor i = Iota(DType::kU32, dims) + (seed << 24);
  i = BitwiseXor(i, RightShift(i, 16)) * 0x7feb352d;
  i = BitwiseXor(i, RightShift(i, 15)) * 0x846ca68b;
  return Convert(RightShift(i, 8), DType::kF32) / (1 << 24) - 0.5;
}

Tensor Norm(Tensor x) {
  x -= Mean(x, {.axis = -1, .keep_axes = true});
  return x / Sqrt(Mean(Square(x), {.axis = -1, .keep_axes = true}) + 1e-5);
}

Tensor Forward(Block p, Tensor x) {
  int64_t batch = x.dim(0), time = x.dim(1), width = x.dim(2), heads = 4;
  Tensor qkv =
      Reshape(MatMul(Norm(x), p.qkv), {batch, time, 3, heads, width / heads});
  qkv = Transpose(qkv, {2, 0, 3, 1, 4});
  Tensor scores = MatMul(qkv[0], Transpose(qkv[1], {0, 1, 3, 2})) /
                  std::sqrt(width / heads);
  scores = Select(Tri(DType::kBool, time, time), scores, -INFINITY);
  Tensor mixed = MatMul(Softmax(scores), qkv[2]);
  x += MatMul(Reshape(Transpose(mixed, {0, 2, 1, 3}), x.shape().dims()), p.out);
  Tensor u = MatMul(Norm(x), p.up);
  Tensor gelu = u * (1 + Tanh(0.79788456 * (u + 0.044715 * u * u * u))) / 2;
  return x + MatMul(gelu, p.down);
}

Block Weights(uint32_t seed) {
  return {Noise(seed, {64, 192}), Noise(seed + 1, {64, 64}),
          Noise(seed + 2, {64, 256}), Noise(seed + 3, {256, 64})};
}

Block Moved(Block p, Block way, Tensor s) {
  return {p.qkv + s * way.qkv, p.out + s * way.out, p.up + s * way.up,
          p.down + s * way.down};
}

int main() {
  std::cout.precision(9);
  auto look = Jit([](Block p, Block way, Tensor x) {
    return ValueAndGrad([=](Tensor s) {
      return Mean(Square(Forward(Moved(p, way, s), x) - 1));
    })(0.f);
  });
  Tensor x = Noise(1, {4, 32, 64}), loss, slope;
  Block p = Weights(2);
  p = Moved(p, p, Scalar(-0.5));
  for (int turn = 0; turn < 20; ++turn) {
    Block way = Weights(6 + 4 * turn);
    std::tie(loss, slope) = KeepError(look(p, way, x));
    std::cout << "turn " << turn << " loss " << *loss.Item<float>() << " slope "
              << *slope.Item<float>() << " on " << loss.ran_on() << std::endl;
    p = Moved(p, way, Scalar(0.1));
  }
}
