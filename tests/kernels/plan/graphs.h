// Graphs whose best plan is known, for golden plans and benches.
#ifndef HAWSER_TESTS_KERNELS_PLAN_GRAPHS_H_
#define HAWSER_TESTS_KERNELS_PLAN_GRAPHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/module.h"

namespace hawser::plan {

struct NamedGraph {
  std::string name;
  Module module;
  int64_t ideal_launches = 0;
  // Every argument read once, every result written once, and what must pass
  // through memory between products.
  int64_t ideal_bytes = 0;
};
std::vector<NamedGraph> KnownGraphs();

// `length` instructions that mix elementwise work, reductions, broadcasts,
// transposes and values with several users.
Module MixedGraph(int length);

}  // namespace hawser::plan
#endif  // HAWSER_TESTS_KERNELS_PLAN_GRAPHS_H_
