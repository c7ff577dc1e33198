// Which convolutions become calls of a library, and what stands around them.
#include "kernels/plan/library/convolution_form.h"

#include <string>
#include <utility>
#include <vector>

#include "core/autodiff/gradient_transform.h"
#include "core/ir/text/printer.h"
#include "core/ops/movement/shape.h"
#include "core/ops/windows/convolution.h"
#include "core/passes/optimize.h"
#include "kernels/plan/library/library_forms.h"
#include "kernels/plan/library/library_ops.h"
#include "kernels/plan/plan.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using ::testing::ElementsAre;
using testing::ExpressionModule;
using ::testing::HasSubstr;
using testing::ShapesOf;

Target Taking() {
  Target target = GpuTarget();
  target.takes_call = [](const OpDef& op, absl::Span<const Shape>,
                         const Attributes&) {
    return &op == &kLibraryConvolution;
  };
  return target;
}

// Of two spatial axes, with 3 x 3 places and as many results as elements.
ConvolutionSpec Same() {
  ConvolutionSpec spec = ConvolutionSpec::Of(2);
  spec.low = spec.high = {1, 1};
  return spec;
}

Expression Convolution(const Expression& x, const Expression& w,
                       const ConvolutionSpec& spec) {
  return Apply(kConvolution, {x, w}, spec.ToAttributes());
}

// The op, on x [batch, spatial..., features] and a kernel as it wants them.
Module Plain(DType dtype, const Dims& x, const Dims& kernel,
             const ConvolutionSpec& spec) {
  return ExpressionModule(ShapesOf(dtype, {x, kernel}), [&](const auto& p) {
    return std::vector<Expression>{Convolution(p[0], p[1], spec)};
  });
}

// The same on x and results with features in front of spatial axes, and a
// kernel [out, in, spatial...].
Module FeaturesFirst(DType dtype, const ConvolutionSpec& spec) {
  return ExpressionModule(
      ShapesOf(dtype, {{8, 32, 16, 16}, {64, 32, 3, 3}}), [&](const auto& p) {
        const Expression x = Transposed(p[0], {0, 2, 3, 1});
        const Expression w = Transposed(p[1], {2, 3, 1, 0});
        return std::vector<Expression>{
            Transposed(Convolution(x, w, spec), {0, 3, 1, 2})};
      });
}

// The ops of the entry with calls in it.
std::vector<std::string> OpsOf(const Module& written, const Target& target) {
  const auto module = Optimize(written);
  EXPECT_OK(module);
  const auto with = WithLibraryCalls(*module, target);
  EXPECT_OK(with);
  std::vector<std::string> ops;
  for (const Instruction& i : with->entry().instructions()) {
    if (i.op != &kParameter) ops.emplace_back(i.op->name);
  }
  return ops;
}

std::vector<std::string> OpsOf(const Module& written) {
  return OpsOf(written, Taking());
}

const Dims kImages = {8, 16, 16, 32};
const Dims kKernel = {3, 3, 32, 64};

// ---- what stands around a call --------------------------------------------

TEST(ConvolutionForm, FeaturesLastNeedTheKernelInOrder) {
  for (const DType dtype :
       {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    EXPECT_THAT(OpsOf(Plain(dtype, kImages, kKernel, Same())),
                ElementsAre("transpose", "library_convolution"));
  }
}

TEST(ConvolutionForm, FeaturesFirstNeedNothing) {
  EXPECT_THAT(OpsOf(FeaturesFirst(DType::kF32, Same())),
              ElementsAre("library_convolution"));
  const auto module = Optimize(FeaturesFirst(DType::kF32, Same()));
  ASSERT_OK(module);
  const Target target = Taking();
  const auto plan = MakePlan(*module, target);
  ASSERT_OK(plan);
  EXPECT_EQ(CostOf(plan->computations.back(), target).launches, 1)
      << Explain(*plan, target);
}

// Units for products of halves want them last: the transposes are those of the
// program.
TEST(ConvolutionForm, HalvesHaveFeaturesLast) {
  EXPECT_THAT(OpsOf(FeaturesFirst(DType::kBF16, Same())),
              ElementsAre("transpose", "transpose", "library_convolution",
                          "transpose"));
}

TEST(ConvolutionForm, TheOtherOrderIsTriedNext) {
  Target target = Taking();
  target.takes_call = [](const OpDef&, absl::Span<const Shape>,
                         const Attributes& attributes) {
    return attributes.GetBool("features_first");
  };
  EXPECT_THAT(OpsOf(Plain(DType::kF32, kImages, kKernel, Same()), target),
              ElementsAre("transpose", "transpose", "library_convolution",
                          "transpose"));
}

TEST(ConvolutionForm, WhatIsPaddedOnOneSideIsPaddedBefore) {
  ConvolutionSpec spec = Same();
  spec.low = {0, 0};
  spec.strides = {2, 2};
  EXPECT_THAT(
      OpsOf(Plain(DType::kF32, kImages, kKernel, spec)),
      ElementsAre("transpose", "constant", "pad", "library_convolution"));
  // Zeros behind that no window reaches are none.
  spec.low = {1, 1};
  spec.high = {0, 0};
  EXPECT_THAT(OpsOf(Plain(DType::kF32, kImages, kKernel, spec)),
              ElementsAre("transpose", "library_convolution"));
}

// ---- gradients ------------------------------------------------------------

// The directions of the calls of y, and of its gradients by x and the kernel.
std::vector<std::string> DirectionsOf(const Module& forward, int others) {
  const auto both = ValueAndGradient(forward, {.parameters = {0, 1}});
  EXPECT_OK(both);
  const auto module = Optimize(*both);
  EXPECT_OK(module);
  const auto with = WithLibraryCalls(*module, Taking());
  EXPECT_OK(with);
  std::vector<std::string> directions;
  int count = 0;
  for (const Instruction& i : with->entry().instructions()) {
    count += i.op == &kTranspose || i.op == &kReverse || i.op == &kReshape;
    if (i.op == &kLibraryConvolution) {
      directions.emplace_back(i.attributes.GetString("direction"));
    }
  }
  EXPECT_LE(count, others) << Print(*with);
  return directions;
}

// Squares, so that the cotangent is a value.
Module Squared(const ConvolutionSpec& spec) {
  return ExpressionModule(ShapesOf(DType::kF32, {kImages, kKernel}),
                          [&](const auto& p) {
                            const Expression y = Convolution(p[0], p[1], spec);
                            return std::vector<Expression>{y * y};
                          });
}

// The kernel is put in order for the first two, and its gradient for the
// program: neither is turned around twice.
TEST(ConvolutionForm, GradientsOfStridesAreByDataAndByFilter) {
  ConvolutionSpec spec = Same();
  spec.strides = {2, 2};
  EXPECT_THAT(DirectionsOf(Squared(spec), 3),
              ElementsAre("forward", "data", "filter"));
}

// With strides of 1 the gradient by x is a convolution like any other.
TEST(ConvolutionForm, GradientsByDataWithoutStridesAreForward) {
  EXPECT_THAT(DirectionsOf(Squared(Same()), 4),
              ElementsAre("forward", "forward", "filter"));
}

// ---- what is no call ------------------------------------------------------

TEST(ConvolutionForm, WhatIsBetterOffOrRefusedStaysAsItWas) {
  const auto stays = [](DType dtype, const Dims& x, const Dims& kernel,
                        const ConvolutionSpec& spec) {
    EXPECT_THAT(OpsOf(Plain(dtype, x, kernel, spec)),
                ElementsAre("convolution"))
        << DTypeName(dtype) << DimsToString(x) << DimsToString(kernel);
  };
  stays(DType::kS32, kImages, kKernel, Same());
  stays(DType::kC64, kImages, kKernel, Same());
  stays(DType::kF32, {1, 4, 4, 4}, {3, 3, 4, 4}, Same());
  // A product at once.
  stays(DType::kF32, kImages, {1, 1, 32, 64}, ConvolutionSpec::Of(2));
  ConvolutionSpec patches = ConvolutionSpec::Of(2);
  patches.strides = {4, 4};
  stays(DType::kF32, kImages, {4, 4, 32, 64}, patches);
  // A kernel of one loop.
  ConvolutionSpec depthwise = Same();
  depthwise.groups = 32;
  stays(DType::kF32, kImages, {3, 3, 1, 32}, depthwise);
  // Strides and zeros between elements.
  ConvolutionSpec spread = Same();
  spread.strides = spread.x_dilations = {2, 2};
  stays(DType::kF32, kImages, kKernel, spread);
  // Nothing to compute.
  stays(DType::kF32, {0, 16, 16, 32}, kKernel, Same());

  Target refusing = Taking();
  refusing.takes_call = [](const OpDef&, absl::Span<const Shape>,
                           const Attributes&) { return false; };
  EXPECT_THAT(OpsOf(Plain(DType::kF32, kImages, kKernel, Same()), refusing),
              ElementsAre("convolution"));
}

}  // namespace
}  // namespace hawser::plan
