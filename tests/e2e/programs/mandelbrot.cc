// The Mandelbrot set in complex numbers, a band of rows at a time.
#include <iostream>

#include "client/hawser.h"

using namespace hawser;

constexpr int kWidth = 256, kHeight = 200, kLimit = 60;

std::tuple<Tensor, Tensor> Band(Tensor band) {
  Tensor x = Linspace(DType::kF32, -2, 0.5, kWidth);
  Tensor y = Linspace(DType::kF32, -1.25, 1.25, kHeight);
  Tensor c = Complex(x, ExpandDims(Rows(y, band * 10, 10), 1));
  auto [turn, z, count] = While(
      std::tuple(0, c * 0, Zeros(DType::kS32, c.shape().dims())),
      [](Tensor turn, Tensor z, Tensor) {
        return turn < kLimit && Any(Abs(z) <= 2);
      },
      [c](Tensor turn, Tensor z, Tensor count) {
        Tensor inside = Abs(z) <= 2;
        return std::tuple(turn + 1, Select(inside, z * z + c, z),
                          count + Convert(inside, DType::kS32));
      });
  return {Sum(Eq(count, kLimit)), Sum(count)};
}

int main() {
  auto band = Jit(Band);
  Tensor inside, turns;
  for (int i = 0; i < 20; ++i) {
    std::tie(inside, turns) = KeepError(band(i));
    std::cout << "band " << i << " inside " << *inside.Item<uint32_t>()
              << " turns " << *turns.Item<int>() << " on " << turns.ran_on()
              << std::endl;
  }
}
