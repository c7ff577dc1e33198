// A service: four threads ask a model for batches of all sizes within a
// deadline; one of them sends requests of a wrong shape, too.
#include <future>
#include <iostream>
#include <vector>

#include "client/hawser.h"

using namespace hawser;

Literal Values(uint32_t seed, Dims dims) {
  Literal out = Literal::Zeros(Shape::Of(DType::kF32, dims));
  uint32_t i = 0;
  for (float& v : out.mutable_data<float>()) {
    v = static_cast<float>((i++ * 7919 + seed * 104729) % 1009) / 1009 - 0.5f;
  }
  return out;
}

int main() {
  std::cout.precision(9);
  Dataset weights = *Client::Default().Put(
      {{"w1", Values(1, {64, 32})}, {"w2", Values(2, {32, 10})}});
  auto model =
      Jit([](Tensor w1, Tensor w2,
             Tensor x) { return Softmax(MatMul(Tanh(MatMul(x, w1)), w2)); },
          {.batch_buckets = {1, 4, 8}})
          .With({.call = {.deadline = absl::Seconds(30)}});
  std::string ran_on;
  auto ask = [&](int turn, int thread) {
    std::array<double, 4> sums = {};  // of chances, answers, refusals, failures
    for (int call = 0; call < 8; ++call) {
      int64_t rows = 1 + (3 * thread + call) % 8;
      int64_t columns = thread == 3 && call % 2 ? 63 : 64;
      Literal x = Values(turn * 32 + thread * 8 + call, {rows, columns});
      auto y = model.Call(weights["w1"], weights["w2"], Batched(x));
      ++sums[y.ok() ? 1 : absl::IsInvalidArgument(y.status()) ? 2 : 3];
      if (!y.ok()) continue;
      sums[0] += *Sum((*y)[{Range(), 0}]).Item<float>();
      if (thread == 0) ran_on = y->ran_on();
    }
    return sums;
  };
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::future<std::array<double, 4>>> asked;
    for (int thread = 0; thread < 4; ++thread) {
      asked.push_back(std::async(std::launch::async, ask, turn, thread));
    }
    std::array<double, 4> all = {};
    for (auto& each : asked) {
      std::array<double, 4> sums = each.get();
      for (int i = 0; i < 4; ++i) all[i] += sums[i];
    }
    std::cout << "turn " << turn << " total " << all[0] << " answered "
              << all[1] << " refused " << all[2] << " failed " << all[3]
              << " on " << ran_on << std::endl;
  }
}
