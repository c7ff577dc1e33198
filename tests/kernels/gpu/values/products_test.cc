// Products of floats drawn at random come out as on the CPU, whatever their
// axes and tails are.
#include <string>
#include <vector>

#include "core/ir/text/printer.h"
#include "tests/kernels/gpu/drawn_products.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

// Factors are quarters, so that sums are exact in any order; a half's rounding
// may be once instead of after each op.
Tolerance ToleranceOf(DType dtype) {
  if (dtype == DType::kBF16) return {.atol = 0.3, .rtol = 0.03};
  if (dtype == DType::kF16) return {.atol = 0.04, .rtol = 0.004};
  return {.atol = 1e-5, .rtol = 1e-5};
}

TEST(DrawnProducts, AreThoseOfTheCpu) {
  Rig rig;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const DrawnProduct drawn = DrawProduct(seed, 4);
    SCOPED_TRACE(drawn.words + "\n" + Print(drawn.module));
    Random random(seed);
    const Values arguments = RandomArguments(drawn.module.signature(), random,
                                             /*extremes=*/false);
    ASSERT_OK_AND_ASSIGN(
        const Values want,
        Reference(drawn.module, arguments, runtime::Numerics::kFast));
    const auto executable = rig.Compile(drawn.module);
    ASSERT_OK(executable);
    const auto got = RunOn(*executable, {arguments.begin(), arguments.end()});
    ASSERT_OK(got) << (*executable)->Explain();
    ASSERT_THAT((*got)[0], LiteralNear(want[0], ToleranceOf(drawn.dtype)))
        << (*executable)->Explain();
  }
  EXPECT_OK(rig.client().Ping({}));
}

}  // namespace
}  // namespace hawser::gpu
