// The workloads of the GPU engine's design, as modules. peers.py has the same
// ones by the same names.
#ifndef HAWSER_TESTS_BENCH_GPU_WORKLOADS_H_
#define HAWSER_TESTS_BENCH_GPU_WORKLOADS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sdk/tensor.h"
#include "core/base/values/shape.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser::bench {

using Tensors = std::vector<Tensor>;

// An argument of random elements from [-scale, scale).
struct Input {
  Shape shape;
  double scale = 1;
};

struct Workload {
  int row = 0;  // of the design's table
  std::string name;
  std::vector<Input> inputs;
  std::function<Tensors(const Tensors&)> body;
  // So many results are the first arguments of the next run, which may take
  // their memory.
  int carried = 0;
  // How long one run takes until its result is there, instead of how many are
  // done in a second.
  bool is_latency = false;
  runtime::Numerics numerics = runtime::Numerics::kFast;
};

// A size divided by `shrink`, at least 8.
int64_t Shrunk(int64_t size, int64_t shrink);

// In the order of the table, every size shrunk.
std::vector<Workload> Workloads(int64_t shrink);

// What a client compiles for it.
absl::StatusOr<Module> ModuleOf(const Workload& workload);

// Every argument read once, every result written once.
int64_t IdealBytes(const Module& module);
// Multiplications and additions of its products.
int64_t ProductFlops(const Module& module);

// (seed: u32[], scale: f32[]) -> random elements of `shape`, a float one, from
// [-scale, scale).
absl::StatusOr<Module> RandomModule(const Shape& shape);
// (x of `shape`) -> whether all of it is finite.
absl::StatusOr<Module> FiniteModule(const Shape& shape);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_WORKLOADS_H_
