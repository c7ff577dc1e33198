// A table of text is learned; another process uses what came of it.
//   flowers
//   flowers @flowers|flowers.npz
#include <iostream>

#include "client/hawser.h"

using namespace hawser;

struct Model {
  Tensor w, b, mean, scale;
};
auto HawserFields(Model& m) { return std::tie(m.w, m.b, m.mean, m.scale); }
auto HawserNames(const Model&) { return std::array{"w", "b", "mean", "scale"}; }

Tensor Scores(Model m, Tensor x) {
  return MatMul((x - m.mean) / m.scale, m.w) + m.b;
}

Tensor Loss(Model m, Tensor x, Tensor species) {
  Tensor chances = Softmax(Scores(m, x));
  return -Mean(Log(TakeAlongAxis(chances, ExpandDims(species, 1), 1)));
}

int main(int argc, char** argv) {
  auto table = ReadArrays("flowers.csv",
                          {.csv = {.dtypes = {DType::kF32}, .matrix = true}});
  Tensor all = Constant(table->front().value);
  Tensor x = all[{Range(), Range(0, 4)}];
  Tensor species = Convert(all[{Range(), 4}], DType::kS32), loss;
  if (argc > 1) {
    Model m =
        *(argv[1][0] == '@' ? Load<Model>(*Client::Default().Dataset(argv[1]))
                            : Load<Model>(argv[1]));
    Tensor found = ArgMax(Scores(m, x), {.axis = 1});
    std::cout << "species " << found.Fetch()->ToString(150) << " right "
              << *Mean(Eq(found, species)).Item<float>() << std::endl;
    return 0;
  }
  auto step = Jit([](Model m, Tensor x, Tensor species) {
    auto [loss, g] = ValueAndGrad(Loss)(m, x, species);
    m.w -= 0.5 * g.w;
    m.b -= 0.5 * g.b;
    return std::tuple(m, loss);
  });
  Model m{Zeros(DType::kF32, {4, 3}), Zeros(DType::kF32, {3}),
          Mean(x, {.axis = 0}), StandardDeviation(x, {.axis = 0})};
  for (int i = 0; i < 60; ++i) {
    std::tie(m, loss) = KeepError(step(m, x, species));
    if (i % 3 != 0) continue;
    std::cout << "step " << i << " loss " << *loss.Fetch() << std::endl;
  }
  std::cout << "saved " << Save("flowers.npz", m) << ", frozen "
            << Freeze("flowers", m).status() << std::endl;
}
