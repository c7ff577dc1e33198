// Every kind of region end to end: what a GpuClient computes is what the CPU
// computes, on graphs whose plans are known and on random ones.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/registry.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/unfold.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::gpu {
namespace {

using runtime::Numerics;

// Sums of f32 in another order, and what is computed from them.
constexpr Tolerance kNear = {.atol = 1e-4, .rtol = 1e-3};

// With NaN for complex numbers that are not finite: what their parts are may
// differ (kernels/gpu/emit/README.md).
Literal WithoutInfinities(const Literal& from) {
  Literal to = Literal::Zeros(from.shape());
  std::memcpy(to.mutable_bytes().data(), from.bytes().data(),
              from.bytes().size());
  VisitDType(from.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      for (T& z : to.mutable_data<T>()) {
        if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) {
          z = T(NAN, NAN);
        }
      }
    }
  });
  return to;
}

void ExpectReference(Rig& rig, const Module& module, Numerics numerics,
                     const Tolerance& tolerance, uint64_t seed) {
  Random random(seed);
  const Values arguments =
      RandomArguments(module.signature(), random, tolerance.atol == 0);
  ASSERT_OK_AND_ASSIGN(const Values want,
                       Reference(module, arguments, numerics));
  const auto executable = rig.Compile(module, numerics);
  ASSERT_OK(executable) << Print(module);
  const std::vector<runtime::Argument> given(arguments.begin(),
                                             arguments.end());
  const auto got = RunOn(*executable, given);
  ASSERT_OK(got) << Print(module) << (*executable)->Explain();
  for (size_t r = 0; r < want.size(); ++r) {
    ASSERT_THAT(WithoutInfinities((*got)[r]),
                LiteralNear(WithoutInfinities(want[r]), tolerance))
        << "result " << r << ", seed " << seed << "\n"
        << Print(module) << (*executable)->Explain();
  }
}

bool IsSmall(const Module& module) {
  int64_t bytes = 0;
  for (const Computation& c : module.computations()) {
    for (ValueId v = 0; v < c.num_values(); ++v)
      bytes += c.shape(v).byte_size();
  }
  return bytes < int64_t{8} << 20;
}

TEST(GpuValues, OfKnownGraphs) {
  Rig rig;
  int tried = 0;
  for (const plan::NamedGraph& graph : plan::KnownGraphs()) {
    if (!IsSmall(graph.module)) continue;
    SCOPED_TRACE(graph.name);
    ExpectReference(rig, graph.module, Numerics::kFast, kNear, ++tried);
  }
  EXPECT_OK(rig.client().Ping({}));
}

// All but those that the host runs and what becomes products: their results
// have digits enough to cancel in a quotient of complex numbers, which is right
// by its magnitude, not by part. tests/conformance draws them.
std::vector<const OpDef*> OpsOfKernels() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : AllOps()) {
    if (absl::c_linear_search(kLinalgOps, op) || op == &kFft ||
        op == &kConvolution || op == &kUnfold) {
      continue;
    }
    ops.push_back(op);
  }
  return ops;
}

// The reference's NaN and zeros, whatever their bits.
TEST(GpuValues, OfRandomGraphs) {
  Rig rig;
  constexpr uint64_t kSeeds = 60;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    ExpectReference(
        rig, RandomModule(seed, {.instructions = 12, .ops = OpsOfKernels()}),
        Numerics::kStrict, {.ulp = 64}, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_OK(rig.client().Ping({}));
}

TEST(GpuValues, OfMixedGraphs) {
  Rig rig;
  ExpectReference(rig, plan::MixedGraph(40), Numerics::kFast, kNear, 1);
}

// A product and what is added to it, in between.
constexpr absl::string_view kTail[] = {R"(module "tail"
computation @0 "main" (%0: f32[4,3], %1: f32[3,6], %2: f32[24], %3: f32[4],
                       %4: f32[6], %5: f32[1,6]) {
  %6: f32[4,6] = )",
                                       R"(
  %7: f32[4,6] = dot_general(%0, %1)
      lhs_batching_dimensions=[] lhs_contracting_dimensions=[1]
      rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]
  %8: f32[4,6] = add(%7, %6)
  return %8
}
)"};

// A library adds what an argument holds, whatever views, rows and numbers the
// graph makes of it.
TEST(GpuValues, OfTailsOfProducts) {
  constexpr const char* kAdded[] = {
      "reshape(%2) dims=[4,6]",
      "iota() dtype=f32 dims=[4,6] iota_dimension=1",
      "broadcast_in_dim(%3) broadcast_dimensions=[0] dims=[4,6]",
      "broadcast_in_dim(%4) broadcast_dimensions=[1] dims=[4,6]",
      "broadcast_in_dim(%5) broadcast_dimensions=[0,1] dims=[4,6]",
  };
  Rig rig;
  for (const char* added : kAdded) {
    ExpectReference(rig, Parse(absl::StrCat(kTail[0], added, kTail[1])),
                    Numerics::kFast, kNear, 1);
    if (HasFatalFailure()) return;
  }
}

// What no kernel does runs on the host, between what kernels do.
TEST(GpuValues, OfStepsOnTheHost) {
  Rig rig;
  const Module module = Parse(kHostText);
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
  EXPECT_TRUE(run->blocks());
  EXPECT_THAT(run->Explain(),
              testing::HasSubstr("%1 (negate while) runs on the host"));
  for (uint64_t seed = 0; seed < 3; ++seed) {
    ExpectReference(rig, module, Numerics::kFast, {}, seed);
  }
}

}  // namespace
}  // namespace hawser::gpu
