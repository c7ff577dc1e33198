// Linear and logistic regression on the arrays of a file.
#include <iostream>

#include "client/hawser.h"

using namespace hawser;

struct Data {
  Tensor x, y, label;
};
auto HawserFields(Data& d) { return std::tie(d.x, d.y, d.label); }
auto HawserNames(const Data&) { return std::array{"x", "y", "label"}; }

struct Model {
  Tensor w, b;
};
auto HawserFields(Model& m) { return std::tie(m.w, m.b); }

Tensor Linear(Model m, Data d) {
  return Mean(Square(MatMul(d.x, m.w) + m.b - d.y));
}

Tensor Logistic(Model m, Data d) {
  Tensor z = MatMul(d.x, m.w) + m.b;
  return Mean(Log1p(Exp(z)) - z * d.label);
}

void Train(const char* name, Tensor loss(Model, Data), float rate, Data data) {
  auto step = Jit([=](Model m, Data d) {
    auto [value, g] = ValueAndGrad(loss)(m, d);
    return std::tuple(Model{m.w - rate * g.w, m.b - rate * g.b}, value);
  });
  Model m{Zeros(DType::kF32, {data.x.dim(-1)}), Zeros(DType::kF32, {})};
  Tensor value;
  for (int i = 1; i <= 40; ++i) {
    std::tie(m, value) = KeepError(step(m, data));
    if (i % 4 != 0) continue;
    std::cout << name << " step " << i << " loss " << *value.Item<float>()
              << " on " << value.ran_on() << std::endl;
  }
  std::cout << name << " weights " << m.w.Fetch()->ToString() << " bias "
            << *m.b.Fetch() << std::endl;
}

int main() {
  std::cout.precision(9);
  Data data = *Load<Data>("linear.npz");
  Train("linear", Linear, 0.1, data);
  Train("logistic", Logistic, 0.5, data);
}
