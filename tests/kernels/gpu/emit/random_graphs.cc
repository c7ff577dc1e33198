#include "tests/kernels/gpu/emit/random_graphs.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/registry.h"

namespace hawser::gpu {
namespace {

// Every third target has no cache to read across, and splits what is short.
plan::Target TargetOf(int seed) {
  plan::Target target = plan::GpuTarget();
  if (seed % 3 == 0) {
    target.cached_bytes = 0;
    target.split_above_elements = 1;
  }
  target.least_transposed = 1;  // extents are small
  return target;
}

}  // namespace

int NumGraphs(int otherwise) {
  const char* text = std::getenv("HAWSER_EMIT_GRAPHS");
  int count = 0;
  return text != nullptr && absl::SimpleAtoi(text, &count) ? count : otherwise;
}

RandomModuleOptions AllRegionOps() {
  RandomModuleOptions options = {.instructions = 36};
  for (const OpDef* op : AllOps()) {
    // What calls whole computations is no region.
    if (op == &kFusion || op == &kCall || op == &kWhile || op == &kCase) {
      continue;
    }
    options.ops.push_back(op);
  }
  return options;
}

absl::StatusOr<RandomGraph> DrawGraph(int seed, RandomModuleOptions options) {
  const int most = options.instructions;
  options.instructions = most / 4 + seed % most;
  Module module = RandomModule(seed, options);
  HAWSER_ASSIGN_OR_RETURN(plan::Plan plan,
                          plan::MakePlan(module, TargetOf(seed)));
  return RandomGraph{std::move(module), std::move(plan)};
}

}  // namespace hawser::gpu
