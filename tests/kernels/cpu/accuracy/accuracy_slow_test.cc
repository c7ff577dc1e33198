// Every f32, a test for each function.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/cpu/accuracy/accuracy.h"

namespace hawser::cpu {
namespace {

class EveryFloat : public ::testing::TestWithParam<AccurateFunction> {};

TEST_P(EveryFloat, IsWithinTheRowsUlp) {
  const std::vector<Isa> isas = IsasHere();
  const auto all = Measure(GetParam(), DType::kF32, isas, /*one_of=*/1);
  ASSERT_TRUE(all.ok()) << all.status();
  for (size_t i = 0; i < isas.size(); ++i) {
    const Accuracy& a = (*all)[i];
    EXPECT_LE(a.ulp, GetParam().op->ulp) << IsaName(isas[i]) << " at " << a.x
                                         << ", " << a.y << " gives " << a.got;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, EveryFloat, ::testing::ValuesIn(AccurateFunctions()),
    [](const ::testing::TestParamInfo<AccurateFunction>& info) {
      return std::string(info.param.op->name);
    });

}  // namespace
}  // namespace hawser::cpu
