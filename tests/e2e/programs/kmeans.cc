// k-means: all turns of a start are one loop in the graph.
#include <cmath>
#include <iostream>

#include "client/hawser.h"

using namespace hawser;

Tensor Noise(uint32_t seed, Dims dims) {
  Tensor i = Iota(DType::kU32, dims) + (seed << 24);
  i = BitwiseXor(i, RightShift(i, 16)) * 0x7feb352d;
  i = BitwiseXor(i, RightShift(i, 15)) * 0x846ca68b;
  return Convert(RightShift(i, 8), DType::kF32) / (1 << 24) - 0.5;
}

std::tuple<Tensor, Tensor, Tensor> Cluster(Tensor x, Tensor first) {
  auto [turns, moved, centers, spread] = While(
      std::tuple(0, INFINITY, first, 0.f),
      [](Tensor turns, Tensor moved, Tensor, Tensor) {
        return turns < 50 && moved > 1e-4;
      },
      [x](Tensor turns, Tensor, Tensor centers, Tensor) {
        Tensor far = Sum(Square(centers), {.axis = 1}) -
                     2 * MatMul(x, Transpose(centers));
        Tensor nearest = ArgMin(far, {.axis = 1});
        Tensor member =
            Convert(Eq(nearest[{Range(), NewAxis()}], Iota(DType::kS32, {8})),
                    DType::kF32);
        Tensor size = Sum(member, {.axis = 0})[{Range(), NewAxis()}];
        Tensor next = Select(
            size > 0, MatMul(Transpose(member), x) / Maximum(size, 1), centers);
        Tensor spread =
            Mean(ReduceMin(far, {.axis = 1}) + Sum(Square(x), {.axis = 1}));
        return std::tuple(turns + 1, ReduceMax(Abs(next - centers)), next,
                          spread);
      });
  return {turns, spread, centers};
}

int main() {
  std::cout.precision(9);
  Tensor points = Noise(1, {2000, 16}) + 2 * Tile(Noise(2, {8, 16}), {250, 1});
  auto cluster = Jit(Cluster);
  float best = INFINITY;
  Tensor found;
  for (int start = 0; start < 20; ++start) {
    auto [turns, spread, centers] =
        KeepError(cluster(points, points[Range(start * 9, start * 9 + 8)]));
    float value = *spread.Item<float>();
    std::cout << "start " << start << " turns " << *turns.Item<int>()
              << " spread " << value << " on " << spread.ran_on() << std::endl;
    if (value < best) best = value, found = centers;
  }
  std::cout << "best " << best << " center " << found[0].Fetch()->ToString()
            << std::endl;
}
