// Convolutions as calls of a device's library: what they give is what the op
// means, in whatever order a program holds its axes, and as gradients.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/autodiff/gradient_transform.h"
#include "core/ir/text/printer.h"
#include "core/ops/movement/shape.h"
#include "core/ops/windows/convolution.h"
#include "core/passes/optimize.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/reference/evaluator.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

using Spec = hawser::ConvolutionSpec;
using testing::ExpressionModule;

Tolerance ToleranceOf(DType dtype) {
  if (BitWidth(dtype) < 32) return {.atol = 1e-1, .rtol = 2e-2};
  if (dtype == DType::kF64) return {.atol = 1e-9, .rtol = 1e-9};
  return {.atol = 2e-3, .rtol = 2e-3};
}

// The results of the module are those of its meaning. Returns how many calls
// of convolutions it became.
int ExpectMeaning(Rig& rig, const Module& written, uint64_t seed) {
  const auto module = Optimize(written);
  EXPECT_OK(module);
  if (!module.ok()) return 0;
  Random random(seed);
  const Values arguments =
      RandomArguments(module->signature(), random, /*extremes=*/false);
  const int entry = static_cast<int>(module->computations().size()) - 1;
  const auto want =
      reference::Evaluator().Evaluate(*module, entry, arguments, {});
  EXPECT_OK(want);
  const auto run = rig.Compile(*module);
  EXPECT_OK(run) << Print(*module);
  if (!want.ok() || !run.ok()) return 0;
  const auto got = RunOn(*run, {arguments.begin(), arguments.end()});
  EXPECT_OK(got) << Print(*module) << (*run)->Explain();
  for (size_t r = 0; got.ok() && r < want->size(); ++r) {
    EXPECT_THAT((*got)[r], LiteralNear((*want)[r],
                                       ToleranceOf((*want)[r].shape().dtype())))
        << "result " << r << "\n"
        << Print(*module) << (*run)->Explain();
  }
  int calls = 0;
  const std::string steps = (*run)->Explain();
  for (size_t at = 0;
       (at = steps.find("library_convolution", at)) != std::string::npos;
       ++at) {
    ++calls;
  }
  return calls;
}

// ---- drawn convolutions ---------------------------------------------------

enum class Kind { kForward, kSpread, kLargeKernel };
constexpr Kind kKinds[] = {Kind::kForward, Kind::kSpread, Kind::kLargeKernel};

struct Drawn {
  Kind kind = Kind::kForward;
  DType dtype = DType::kF32;
  Dims x, kernel;
  Spec spec;
};

// Adds an axis of at least one result; false: it has no elements.
bool AddAxis(Random& random, Drawn* drawn) {
  const bool large = drawn->kind == Kind::kLargeKernel;
  const int64_t result = large ? random.Between(1, 3) : random.Between(1, 7);
  const int64_t places = large ? random.Between(4, 7) : random.Between(1, 4);
  const bool spread = drawn->kind == Kind::kSpread;
  const int64_t stride = spread ? 1 : random.Between(1, 3);
  const int64_t between = spread ? random.Between(1, 3) : 1;
  const int64_t dilation = random.Between(1, 2);
  const int64_t low = random.Between(-1, 3), high = random.Between(-1, 3);
  const int64_t reach = (result - 1) * stride + (places - 1) * dilation + 1;
  const int64_t size = reach - low - high + random.Below(stride);
  if (size < 1) return false;
  const int64_t elements = (size - 1) / between + 1;
  drawn->x.push_back(elements);
  drawn->kernel.push_back(places);
  drawn->spec.strides.push_back(stride);
  drawn->spec.x_dilations.push_back(between);
  drawn->spec.kernel_dilations.push_back(dilation);
  drawn->spec.low.push_back(low);
  drawn->spec.high.push_back(high + size - ((elements - 1) * between + 1));
  return true;
}

// With as many results of the kernel as a call is worth.
Drawn DrawnConvolution(uint64_t seed, absl::Span<const DType> dtypes) {
  Random random(seed);
  while (true) {
    Drawn drawn{.kind = kKinds[random.Below(3)], .dtype = random.Pick(dtypes)};
    const int64_t axes = random.Between(1, 3);
    bool fits = true;
    drawn.x.push_back(random.Between(1, 4));
    for (int64_t a = 0; a < axes; ++a) fits = fits && AddAxis(random, &drawn);
    const int64_t groups = std::max<int64_t>(1, random.Between(-2, 3));
    const int64_t of_one = random.Between(1, 6);
    drawn.spec.groups = groups;
    drawn.x.push_back(groups * of_one);
    drawn.kernel.push_back(of_one);
    drawn.kernel.push_back(groups);
    if (!fits) continue;
    const auto result =
        InferConvolution({kConvolution,
                          {Shape::Of(drawn.dtype, drawn.x),
                           Shape::Of(drawn.dtype, drawn.kernel)},
                          drawn.spec.ToAttributes(),
                          {}});
    EXPECT_OK(result);
    int64_t products = (*result)[0].num_elements() * of_one;
    for (int64_t a = 0; a < axes; ++a) products *= drawn.kernel[a];
    const int64_t times = ((1 << 17) + products - 1) / products;
    if (times > 128) continue;
    drawn.kernel.back() *= times;
    return drawn;
  }
}

Dims FeaturesFirst(size_t rank) {  // of features last
  Dims order = {0, static_cast<int64_t>(rank) - 1};
  for (size_t a = 1; a + 1 < rank; ++a)
    order.push_back(static_cast<int64_t>(a));
  return order;
}

Dims Permuted(const Dims& dims, const Dims& order) {
  Dims out;
  for (const int64_t axis : order) out.push_back(dims[axis]);
  return out;
}

enum class Result { kAsIs, kSquared };

// The op as it is; or of parameters and a result that have features in front of
// spatial axes, and kernels with results in front.
Module ProgramOf(const Drawn& drawn, bool features_first,
                 Result as = Result::kAsIs) {
  const size_t rank = drawn.x.size();
  Dims of_x = FeaturesFirst(rank), of_kernel;
  if (drawn.kind == Kind::kLargeKernel && drawn.spec.groups == 1) {
    // Features stand for batches.
    std::swap(of_x[0], of_x[1]);
  }
  of_kernel = {static_cast<int64_t>(rank) - 1, static_cast<int64_t>(rank) - 2};
  for (size_t a = 0; a + 2 < rank; ++a) {
    of_kernel.push_back(static_cast<int64_t>(a));
  }
  const auto convolved = [&](const Expression& x, const Expression& kernel) {
    const Expression y =
        Apply(kConvolution, {x, kernel}, drawn.spec.ToAttributes());
    return as == Result::kSquared ? y * y : y;
  };
  if (!features_first) {
    return ExpressionModule(
        testing::ShapesOf(drawn.dtype, {drawn.x, drawn.kernel}),
        [&](const std::vector<Expression>& p) {
          return std::vector<Expression>{convolved(p[0], p[1])};
        });
  }
  return ExpressionModule(
      testing::ShapesOf(drawn.dtype, {Permuted(drawn.x, of_x),
                                      Permuted(drawn.kernel, of_kernel)}),
      [&](const std::vector<Expression>& p) {
        const Expression y =
            convolved(Transposed(p[0], InversePermutation(of_x)),
                      Transposed(p[1], InversePermutation(of_kernel)));
        return std::vector<Expression>{Transposed(y, FeaturesFirst(rank))};
      });
}

constexpr DType kDTypes[] = {DType::kF32, DType::kF32, DType::kBF16,
                             DType::kF16, DType::kF64};

TEST(ConvolutionCalls, AreWhatTheOpMeans) {
  Rig rig;
  constexpr int kSeeds = 72;
  int calls = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Drawn drawn = DrawnConvolution(seed, kDTypes);
    calls += ExpectMeaning(rig, ProgramOf(drawn, seed % 2 == 1), seed);
    if (HasFailure()) return;
  }
  // Others are products already, or of few features a group.
  EXPECT_GT(calls, kSeeds * 3 / 4);
}

// The op, and its gradients by both operands.
TEST(ConvolutionCalls, AreGradients) {
  Rig rig;
  constexpr int kSeeds = 32;
  int calls = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Drawn drawn = DrawnConvolution(1000 + seed, {DType::kF64});
    if (drawn.kind != Kind::kForward) continue;
    const Module forward = ProgramOf(drawn, seed % 2 == 1, Result::kSquared);
    ASSERT_OK_AND_ASSIGN(const Module both,
                         ValueAndGradient(forward, {.parameters = {0, 1}}));
    calls += ExpectMeaning(rig, both, seed);
    if (HasFailure()) return;
  }
  EXPECT_GT(calls, kSeeds / 2);
}

}  // namespace
}  // namespace hawser::gpu
