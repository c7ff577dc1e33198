// Elementary functions keep to their rows' ulp: all halves, samples of the
// rest.
#include "tests/kernels/cpu/accuracy/accuracy.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace hawser::cpu {
namespace {

TEST(Accuracy, IsWhatRowsPromise) {
  const std::vector<Isa> isas = IsasHere();
  for (const AccurateFunction& f : AccurateFunctions()) {
    for (const DType dtype : AccurateDTypes()) {
      const auto all = Measure(f, dtype, isas, /*one_of=*/997);
      ASSERT_TRUE(all.ok()) << all.status();
      for (size_t i = 0; i < isas.size(); ++i) {
        const Accuracy& a = (*all)[i];
        EXPECT_LE(a.ulp, f.op->ulp) << f.op->name << " of " << DTypeName(dtype)
                                    << " by " << IsaName(isas[i]) << " at "
                                    << a.x << ", " << a.y << " gives " << a.got;
        EXPECT_GT(a.values, 0);
      }
    }
  }
}

// What is rounded once is at most half a unit off.
TEST(Accuracy, IsMeasuredInUnitsOfTheLastPlace) {
  const auto all =
      Measure({.op = AccurateFunctions()[0].op,
               .exact = [](double x, double) { return 1.25 * std::exp(x); },
               .wide = nullptr},
              DType::kF16, {Isa::kBase}, 1);
  ASSERT_TRUE(all.ok()) << all.status();
  // A fifth of a number is between 204 and 410 units of 11 bits.
  EXPECT_GT((*all)[0].ulp, 200);
  EXPECT_LT((*all)[0].ulp, 600);
}

}  // namespace
}  // namespace hawser::cpu
