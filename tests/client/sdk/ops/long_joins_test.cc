// What joins many tensors takes time in proportion to how many there are.
#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

constexpr int kFewTensors = 1000, kManyTensors = 4000;
// Four times as many take about four times as long; 16 times if each looked at
// all others.
constexpr double kMostRatio = 10;

std::vector<Tensor> RecordedTensors(int count, const Dims& dims = {4, 4}) {
  std::vector<Tensor> tensors;
  const Tensor x = Ones(DType::kF32, dims);
  for (int i = 0; i < count; ++i) tensors.push_back(x * (i + 0.5f));
  return tensors;
}
std::vector<Tensor> HostTensors(int count) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < count; ++i) {
    tensors.push_back(Constant(Literal::Zeros(Shape::Of(DType::kF32, {4, 4}))));
  }
  return tensors;
}
Tensor Total(const std::vector<Tensor>& tensors) {
  Tensor sum = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i) sum = sum + tensors[i];
  return sum;
}

struct Joining {
  std::string name;
  std::function<Tensor(int count)> make;
};

const std::vector<Joining>& Joinings() {
  static const auto& joinings = *new std::vector<Joining>{
      {"Stack", [](int n) { return Stack(RecordedTensors(n)); }},
      {"Stack along the last axis",
       [](int n) { return Stack(RecordedTensors(n), -1); }},
      {"Concatenate", [](int n) { return Concatenate(RecordedTensors(n), 0); }},
      {"Concatenate along the last axis",
       [](int n) { return Concatenate(RecordedTensors(n), 1); }},
      {"Stack of host values", [](int n) { return Stack(HostTensors(n)); }},
      {"Stack of scalars", [](int n) { return Stack(RecordedTensors(n, {})); }},
      {"Sum of a Stack", [](int n) { return Sum(Stack(RecordedTensors(n))); }},
      {"Stack twice",
       [](int n) {
         const auto tensors = RecordedTensors(n / 2);
         return Stack(tensors) + Stack(tensors);
       }},
      {"a chain of sums", [](int n) { return Total(RecordedTensors(n / 2)); }},
      {"Stack in Jit",
       [](int n) {
         return *Jit([&](Tensor x) {
           std::vector<Tensor> tensors;
           for (int i = 0; i < n; ++i) tensors.push_back(x * (i + 0.5f));
           return Stack(tensors);
         })(Ones(DType::kF32, {4, 4}));
       }},
      {"the gradient of a Stack",
       [](int n) {
         return Grad([&](Tensor x) {
           std::vector<Tensor> tensors;
           for (int i = 0; i < n / 4; ++i) tensors.push_back(x * (i + 0.5f));
           return Sum(Square(Stack(tensors)));
         })(Ones(DType::kF32, {4, 4}));
       }},
      {"parts of one value",
       [](int n) {
         const Tensor x = Ones(DType::kF32, {n, 4});
         std::vector<Tensor> parts;
         for (int i = 0; i < n; ++i) parts.push_back(x[{n - 1 - i}] + 1.0f);
         return Stack(parts);
       }},
  };
  return joinings;
}

double SecondsOfJoining(const Joining& joining, int count) {
  const absl::Time before = absl::Now();
  EXPECT_OK(joining.make(count).Fetch()) << joining.name;
  return absl::ToDoubleSeconds(absl::Now() - before);
}

TEST(LongJoins, TakeTimeInProportion) {
  for (const Joining& joining : Joinings()) {
    double ratio = kMostRatio + 1, few = 0, many = 0;
    // A machine that is busy with something else may be asked again.
    for (int tries = 0; tries < 4 && ratio > kMostRatio; ++tries) {
      few = SecondsOfJoining(joining, kFewTensors + tries);
      many = SecondsOfJoining(joining, kManyTensors + tries);
      ratio = many / few;
    }
    EXPECT_LE(ratio, kMostRatio)
        << joining.name << ": " << few << " s, then " << many << " s";
    std::cout << joining.name << ": " << few << " s, " << many << " s\n";
  }
}

}  // namespace
}  // namespace hawser
