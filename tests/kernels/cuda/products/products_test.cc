// Drawn products of floats as a CUDA device is given them: each is computed by
// cuBLASLt, none by a kernel of the engine.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "core/ir/text/printer.h"
#include "kernels/cuda/products/blas_types.h"
#include "kernels/cuda/products/gemm_layout.h"
#include "kernels/gpu/program/gemm_lowering.h"
#include "kernels/gpu/program/program.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/drawn_products.h"
#include "tests/testing/matchers.h"

namespace hawser::cuda {
namespace {

// Whether cuBLASLt has types and a layout for the product.
absl::Status TakenByCublasLt(const gpu::GemmSpec& spec) {
  HAWSER_RETURN_IF_ERROR(ToBlasProblem(spec));
  HAWSER_ASSIGN_OR_RETURN(const BlasTypes types, BlasTypesOf(spec));
  HAWSER_RETURN_IF_ERROR(BlasScaleOf(types.scale_type, spec.alpha));
  return BlasScaleOf(types.scale_type, spec.beta).status();
}
// The same for a library without activations and without biases of f64.
absl::Status TakenByLess(const gpu::GemmSpec& spec) {
  if (spec.activation != gpu::GemmActivation::kIdentity ||
      (spec.has_bias && spec.a.dtype == DType::kF64) || !spec.is_aligned) {
    return Unimplemented("not by this version");
  }
  return TakenByCublasLt(spec);
}

void ExpectAllByTheLibrary(
    const std::function<absl::Status(const gpu::GemmSpec&)>& library) {
  size_t products = 0, calls = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto takes = [&](const gpu::LibraryCall& call) {
      return library(std::get<gpu::GemmSpec>(call));
    };
    const gpu::DrawnProduct drawn = gpu::DrawProduct(seed, 24);
    SCOPED_TRACE(drawn.words + "\n" + Print(drawn.module));
    plan::Target target = plan::GpuTarget();
    target.takes_product = [&](const plan::ProductCall& call) {
      return library(gpu::SpecOf(call, runtime::Numerics::kFast)).ok();
    };
    ASSERT_OK_AND_ASSIGN(const plan::Plan plan,
                         plan::MakePlan(drawn.module, target));
    ASSERT_OK_AND_ASSIGN(const gpu::Program program,
                         gpu::MakeProgram(plan, {.multiprocessors = 132,
                                                 .plan_call = takes}));
    for (const gpu::EmittedKernel& kernel : program.kernels) {
      EXPECT_FALSE(absl::StartsWith(kernel.name, "dot_"))
          << plan::Explain(plan, target);
    }
    products += program.library_calls.size();
    for (const gpu::Work& work : program.works) {
      calls += std::holds_alternative<gpu::LibraryStep>(work);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(products, 200u);
  // Many calls for one product are the exception.
  EXPECT_LT(calls, 2 * products);
}

TEST(DrawnProducts, AreAllByCublasLt) {
  ExpectAllByTheLibrary(TakenByCublasLt);
}
TEST(DrawnProducts, AreByALibraryThatDoesLess) {
  ExpectAllByTheLibrary(TakenByLess);
}

}  // namespace
}  // namespace hawser::cuda
