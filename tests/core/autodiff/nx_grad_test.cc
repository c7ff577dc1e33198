// Gradients that real Nx computed, as whole graphs through the SDK.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "client/sdk/hawser.h"
#include "tests/core/autodiff/nx_graph.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

constexpr char kFile[] = "tests/core/autodiff/nx_grad.txt";

// The inputs differentiated by, and the others.
struct Inputs {
  std::vector<Tensor> by, beside;
};
auto HawserFields(Inputs& i) { return std::tie(i.by, i.beside); }

std::vector<Tensor> Together(const NxCase& c, const std::vector<Tensor>& by,
                             const std::vector<Tensor>& beside) {
  std::vector<Tensor> all;
  size_t next_by = 0, next_beside = 0;
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    const bool wanted = std::count(c.by.begin(), c.by.end(), i) > 0;
    all.push_back(wanted ? by[next_by++] : beside[next_beside++]);
  }
  return all;
}

// The value, then the gradients.
std::vector<Tensor> Differentiated(const NxCase& c, const Inputs& inputs) {
  const auto f = [&c](std::vector<Tensor> by, std::vector<Tensor> beside) {
    return NxGraph(c, Together(c, by, beside)).Results()[0];
  };
  const auto first_gradients = [&f](std::vector<Tensor> by,
                                    std::vector<Tensor> beside) {
    std::optional<Tensor> sum;
    for (const Tensor& g : Grad(f)(by, beside)) {
      sum = sum.has_value() ? *sum + Sum(g) : Sum(g);
    }
    return *sum;
  };
  std::vector<Tensor> out;
  const auto append = [&](auto both) {
    out.push_back(std::get<0>(both));
    for (const Tensor& g : std::get<1>(both)) out.push_back(g);
  };
  if (c.order == 1) {
    append(ValueAndGrad(f)(inputs.by, inputs.beside));
  } else {
    append(ValueAndGrad(first_gradients)(inputs.by, inputs.beside));
  }
  return out;
}

class NxGrad : public testing::TestWithParam<NxCase> {
 protected:
  static Inputs InputsOf(const NxCase& c) {
    Inputs inputs;
    for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
      const bool wanted = std::count(c.by.begin(), c.by.end(), i) > 0;
      (wanted ? inputs.by : inputs.beside).push_back(Constant(c.inputs[i]));
    }
    return inputs;
  }
  // The dtype of a gradient is the variable's, whatever Nx gives.
  static void Check(const NxCase& c, const std::vector<Tensor>& got) {
    ASSERT_EQ(got.size(), c.outputs.size());
    for (size_t k = 0; k < got.size(); ++k) {
      if (k > 0) {
        EXPECT_EQ(got[k].shape(), c.inputs[c.by[k - 1]].shape());
      }
      const auto value = Convert(got[k], c.outputs[k].shape().dtype()).Fetch();
      ASSERT_OK(value);
      const Tolerance tolerance{.atol = c.atol, .rtol = c.rtol};
      EXPECT_THAT(*value, LiteralNear(c.outputs[k], tolerance)) << k;
    }
  }
  const ScopedClient scope_{Client::Cpu()};
};

TEST_P(NxGrad, Recorded) {
  Check(GetParam(), Differentiated(GetParam(), InputsOf(GetParam())));
}

TEST_P(NxGrad, Traced) {
  auto f =
      Jit([](Inputs inputs) { return Differentiated(GetParam(), inputs); });
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got, f(InputsOf(GetParam())));
  Check(GetParam(), got);
}

INSTANTIATE_TEST_SUITE_P(Cases, NxGrad, testing::ValuesIn(ReadNxCases(kFile)),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST(NxGradFile, HasItsCases) { EXPECT_GE(ReadNxCases(kFile).size(), 150u); }

}  // namespace
}  // namespace hawser
