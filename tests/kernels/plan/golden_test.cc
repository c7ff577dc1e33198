// Kernels and bytes of graphs whose best plan is known, kernel by kernel; the
// memory accesses of small ones, where loops and vectors end. When this fails
// and the new plan is better, or the change is meant:
//   bazel run //tests/kernels/plan:golden_test
#include "tests/testing/golden.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

std::string PathOf(const std::string& name) {
  return absl::StrCat("tests/kernels/plan/golden/", name, ".txt");
}

std::string Report(const NamedGraph& graph, const Plan& plan,
                   const Target& target) {
  const PlanCost cost = CostOf(plan.entry(), target);
  return absl::StrCat(
      graph.name, ": ", cost.launches, " launches (ideal ",
      graph.ideal_launches, "), ", cost.bytes, " bytes (ideal ",
      graph.ideal_bytes, ", ratio ",
      absl::StrFormat("%.3f", static_cast<double>(cost.bytes) /
                                  static_cast<double>(graph.ideal_bytes)),
      ")\n", Explain(plan, target));
}

TEST(GoldenPlans, AreWhatTheyWere) {
  for (const NamedGraph& graph : KnownGraphs()) {
    SCOPED_TRACE(graph.name);
    const Target target = GpuTarget();
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(graph.module, target));
    ExpectGolden(PathOf(graph.name), Report(graph, plan, target));
  }
}

using Values = std::vector<Expression>;

struct Graph {
  const char* what;
  std::vector<Dims> dims;
  DType dtype;
  std::function<Expression(const Values&)> body;
};

std::string Facts(const Region& r) {
  constexpr const char* kKinds[] = {"contiguous", "uniform", "strided",
                                    "indexed"};
  std::string text =
      absl::StrCat(RegionKindName(r.kind), " ", DimsToString(r.loops.extents),
                   " keeps ", r.num_kept_loops, " by ", r.vector_width,
                   r.fits_u32 ? "" : " wide", ", ", r.lane_operations,
                   " ops, reads ", r.bytes_read, ", writes ", r.bytes_written);
  for (const MemoryAccess& a : r.accesses) {
    absl::StrAppend(&text, "\n",
                    a.operand >= 0 ? absl::StrCat("operand ", a.operand)
                                   : absl::StrCat("result ", a.result),
                    " ", a.masked ? "masked " : "",
                    kKinds[static_cast<int>(a.kind)], " by ", a.vector_width,
                    ", ", a.bytes, " bytes at ", a.offset.ToString());
  }
  return text;
}

std::string FactsOf(const Graph& graph) {
  Module module("graph");
  ComputationBuilder builder(&module, "main");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  Values values;
  for (const Dims& dims : graph.dims) {
    values.emplace_back(&scope,
                        builder.Parameter(Shape::Of(graph.dtype, dims)));
  }
  EXPECT_OK(builder.Finish({graph.body(values).value()}));
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kNone;
  const auto plan = MakePlan(module, target);
  EXPECT_OK(plan);
  if (!plan.ok()) return "";
  std::string text;
  for (const Region& r : plan->entry().regions) {
    if (r.kind == RegionKind::kNone || r.kind == RegionKind::kConstant) {
      continue;
    }
    absl::StrAppend(&text, text.empty() ? "" : "\n", Facts(r));
  }
  return text;
}

Expression Sum(const Values& p) { return p[0] + p[1]; }
Expression AddRow(const Values& p) {
  return p[0] + Spread(p[1], p[0].dims(), {0});
}
Expression Every(const Expression& x, int64_t from, int64_t step) {
  return Apply(kSlice, {x},
               {{"start_indices", Dims{from}},
                {"limit_indices", Dims{x.dims()[0]}},
                {"strides", Dims{step}}});
}
Expression Product(const Expression& a, const Expression& b) {
  return Apply(kDotGeneral, {a, b},
               {{"lhs_batching_dimensions", Dims{}},
                {"lhs_contracting_dimensions", Dims{1}},
                {"rhs_batching_dimensions", Dims{}},
                {"rhs_contracting_dimensions", Dims{0}}});
}
Expression PadByOne(const Values& p) {
  const Expression edge = Filled(p[0].scope(), Shape::Scalar(p[0].dtype()), 3);
  return Apply(kPad, {p[0], edge},
               {{"edge_padding_low", Dims{1}},
                {"edge_padding_high", Dims{2}},
                {"interior_padding", Dims{0}}});
}

constexpr DType kF = DType::kF32;

std::vector<Graph> SmallGraphs() {
  return {
      {"one loop", {{24}, {24}}, kF, Sum},
      {"merged loops", {{4, 6}, {4, 6}}, kF, Sum},
      {"a ragged tail", {{7}, {7}}, kF, Sum},
      {"fewer turns than a vector", {{3}, {3}}, kF, Sum},
      {"one turn", {{1}, {1}}, kF, Sum},
      {"a scalar", {{}, {}}, kF, Sum},
      {"nothing", {{0, 4}, {0, 4}}, kF, Sum},
      {"bytes", {{64}, {64}}, DType::kU8, Sum},
      {"doubles", {{64}, {64}}, DType::kF64, Sum},
      {"rows that vectors divide", {{4, 6}, {6}}, kF, AddRow},
      {"rows that they do not", {{4, 7}, {7}}, kF, AddRow},
      {"2^31 elements",
       {{int64_t{1} << 31}, {int64_t{1} << 31}},
       DType::kU8,
       Sum},
      {"one element more",
       {{(int64_t{1} << 31) + 1}, {(int64_t{1} << 31) + 1}},
       DType::kU8,
       Sum},
      {"one operand twice",
       {{24}},
       kF,
       [](const Values& p) { return p[0] * p[0]; }},
      {"every other element",
       {{24}},
       kF,
       [](const Values& p) { return Every(p[0], 0, 2) + 1.0; }},
      {"from the second on",
       {{25}},
       kF,
       [](const Values& p) { return Every(p[0], 1, 1) + 1.0; }},
      {"from the third on",
       {{26}},
       kF,
       [](const Values& p) { return Every(p[0], 2, 1) + 1.0; }},
      {"padded", {{21}}, kF, PadByOne},
      {"a small transpose",
       {{8, 12}, {12, 8}},
       kF,
       [](const Values& p) {
         return Transposed(p[0], {1, 0}) + p[1];
       }},
      {"a large transpose",
       {{4096, 8192}, {8192, 4096}},
       kF,
       [](const Values& p) {
         return Transposed(p[0], {1, 0}) + p[1];
       }},
      {"rows summed",
       {{4, 256}},
       kF,
       [](const Values& p) { return Summed(p[0] * p[0], {1}) + 1.0; }},
      {"columns summed",
       {{8, 6}},
       kF,
       [](const Values& p) { return Summed(p[0], {0}); }},
      {"a slice from a run-time number on",
       {{24}, {}},
       DType::kS32,
       [](const Values& p) {
         return Apply(kDynamicSlice, {p[0], p[1]}, {{"slice_sizes", Dims{8}}}) +
                1.0;
       }},
      {"a product",
       {{4, 3}, {3, 5}},
       kF,
       [](const Values& p) { return Product(p[0], p[1]); }},
      {"a product with itself",
       {{4, 4}},
       kF,
       [](const Values& p) { return Product(p[0], p[0]); }},
  };
}

TEST(GoldenAccesses, AreWhatTheyWere) {
  std::string got;
  for (const Graph& graph : SmallGraphs()) {
    absl::StrAppend(&got, graph.what, ":\n", FactsOf(graph), "\n");
  }
  ExpectGolden(PathOf("accesses"), got);
}

}  // namespace
}  // namespace hawser::plan
