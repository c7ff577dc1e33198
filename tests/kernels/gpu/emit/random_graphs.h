// Random graphs over all that regions are made of, planned.
#ifndef HAWSER_TESTS_KERNELS_GPU_EMIT_RANDOM_GRAPHS_H_
#define HAWSER_TESTS_KERNELS_GPU_EMIT_RANDOM_GRAPHS_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/plan.h"
#include "tests/testing/random/random_module.h"

namespace hawser::gpu {

// How many a test draws: $HAWSER_EMIT_GRAPHS, or `otherwise`.
int NumGraphs(int otherwise);

// About 36 instructions of every op but control flow.
RandomModuleOptions AllRegionOps();

struct RandomGraph {
  Module module;
  plan::Plan plan;
};
absl::StatusOr<RandomGraph> DrawGraph(int seed, RandomModuleOptions options);

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_EMIT_RANDOM_GRAPHS_H_
