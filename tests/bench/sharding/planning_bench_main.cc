// What it takes to cut a function into tasks, beside what optimizing it takes:
// per task, for networks of a hundred to ten thousand instructions.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/passes/optimize.h"
#include "core/sharding/shard.h"

namespace hawser {
namespace {

constexpr int64_t kRows = 96;
constexpr int64_t kWidth = 16;
constexpr int64_t kParts = 12;

// Processor time of this thread alone: what others do to this machine is not
// ours.
double ThreadMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) * 1e-3;
}

// (x, w) -> a network of layers that share their weights, and the mean of what
// it gives: rows are cut, the mean is split.
Module Network(int instructions) {
  Module module("network");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  Expression x(&scope, b.Parameter(Shape::Of(DType::kF32, {kRows, kWidth})));
  const Expression w(&scope,
                     b.Parameter(Shape::Of(DType::kF32, {kWidth, kWidth})));
  const Expression bias(&scope,
                        b.Parameter(Shape::Of(DType::kF32, {kWidth})));
  const Expression spread = Spread(bias, {kRows, kWidth}, {0});
  while (static_cast<int>(b.computation().instructions().size()) <
         instructions - 4) {
    const Expression product = Apply(
        kDotGeneral, {x, w},
        {{"lhs_batching_dimensions", Dims{}},
         {"lhs_contracting_dimensions", Dims{1}},
         {"rhs_batching_dimensions", Dims{}},
         {"rhs_contracting_dimensions", Dims{0}}});
    x = Apply(kTanh, {product + spread});
  }
  HAWSER_CHECK(b.Finish({x.value(), SummedAll(x).value()}).ok());
  return module;
}

// Of the fastest of a few runs.
double Fastest(const std::function<absl::Status()>& once) {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = ThreadMicroseconds();
    HAWSER_CHECK(once().ok());
    const double took = ThreadMicroseconds() - start;
    best = i == 0 ? took : std::min(best, took);
  }
  return best;
}

int Main() {
  std::printf("| instructions | tasks | planning a task / Optimize (at most 2) "
              "| planning an instruction of a task / of the first |\n"
              "|---|---|---|---|\n");
  double first = 0;
  for (const int instructions : {100, 1000, 10000}) {
    const Module module = Network(instructions);
    ShardSpec spec;
    spec.unnamed = ShardSpec::Unnamed::kWhole;
    spec.contracted = ShardSpec::Contracted::kSplit;
    spec.parameters.push_back({.value = 0,
                               .axis = 0,
                               .kind = AxisCut::Kind::kParts,
                               .parts = kParts});
    const double optimizing =
        Fastest([&] { return Optimize(module).status(); });
    size_t tasks = 0;
    const double planning = Fastest([&]() -> absl::Status {
      HAWSER_ASSIGN_OR_RETURN(const Sharding sharding, Shard(module, spec));
      tasks = sharding.tasks.size();
      return absl::OkStatus();
    });
    const double each = planning / static_cast<double>(tasks);
    if (first == 0) first = each / instructions;
    std::printf("| %d | %d | %.2f | %.2f |\n", instructions,
                static_cast<int>(tasks), each / optimizing,
                each / instructions / first);
  }
  return 0;
}

}  // namespace
}  // namespace hawser

int main() { return hawser::Main(); }
