// Work: one row of the figures that the CPU engine is to reach: what hawser
// does, and the floor that it is compared with.
#ifndef HAWSER_TESTS_BENCH_CPU_WORK_H_
#define HAWSER_TESTS_BENCH_CPU_WORK_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/tensor.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/cpu/client/cpu_client.h"

namespace hawser::bench {

// Of which size, on how many threads, and by which client of so many.
struct Setting {
  bool small = false;
  int threads = 1;
  std::shared_ptr<cpu::CpuClient> client;

  int64_t Size(int64_t full, int64_t reduced) const {
    return small ? reduced : full;
  }
};

// A figure of one side: microseconds, but for a race that says otherwise.
using Sample = std::function<absl::StatusOr<double>()>;
using Once = std::function<absl::Status()>;

// How long `once` takes, divided by `units`: after a run that is not counted,
// the mean of as many as fill a few milliseconds.
Sample Timed(Once once, double units = 1);

// The two sides of a work, made at one setting.
struct Race {
  Sample ours;
  Sample floor;
  // Whether ours gives what the floor, or a plain loop, gives.
  Once check;
  // Microseconds that the engine thinks ours takes on one thread; 0: it is not
  // asked.
  double thought = 0;
};

// What ours / theirs is to be at most; 0: nothing is asked.
struct Targets {
  double floor = 0;
  double numpy_on_1 = 0, numpy_on_2 = 0;  // threads
  double torch = 0, jax = 0;
  double ours = 0;  // of the figure itself
};

struct Work {
  std::string name;
  std::string floor;  // what it is
  Targets targets;
  std::function<absl::StatusOr<Race>(const Setting&)> prepare;
  bool one_thread = false;  // more of them change nothing
  bool has_peers = true;
  const char* unit = "ms";  // of the figures as printed: "ms", "us" or "MiB"
};

// In the order of the table.
std::vector<Work> ElementwiseWorks();
std::vector<Work> RowWorks();
std::vector<Work> MovementWorks();
std::vector<Work> JoiningWorks();
std::vector<Work> ProductWorks();
std::vector<Work> DTypeProductWorks();
std::vector<Work> LinalgWorks();
std::vector<Work> AttentionWorks();
std::vector<Work> OrderWorks();
std::vector<Work> WindowWorks();
std::vector<Work> LoopWorks();
std::vector<Work> ClientWorks();
std::vector<Work> GraphWorks();
std::vector<Work> AllWorks();

// ---- what works are made of -----------------------------------------------

using Tensors = std::vector<Tensor>;
using Body = std::function<Tensors(const Tensors&)>;

// `body` traced for parameters of these shapes.
absl::StatusOr<Module> Traced(const std::vector<Shape>& parameters,
                              const Body& body);

// A module of `setting.client` with arguments that are there already.
class Resident {
 public:
  // Errors: those of tracing and compiling.
  static absl::StatusOr<Resident> Make(
      const Setting& setting, const Body& body,
      const std::vector<Literal>& arguments,
      runtime::Numerics numerics = runtime::Numerics::kFast);

  // Once, waited for; the results are dropped.
  absl::Status Run() const;
  absl::StatusOr<std::vector<Literal>> Values() const;
  // What the engine thinks a run takes on one thread.
  double seconds() const { return executable_->seconds(); }

 private:
  std::shared_ptr<runtime::Executable> executable_;
  std::vector<runtime::Argument> arguments_;
};

// A race of a function on resident values.
struct Execution {
  Body body;
  std::vector<Literal> arguments;
  std::function<void()> floor;
  // Of the results, when `floor` has run.
  std::function<absl::Status(absl::Span<const Literal>)> check;
  runtime::Numerics numerics = runtime::Numerics::kFast;
};
absl::StatusOr<Race> RaceOf(const Setting& setting, Execution execution);

// Floats that Split gives a thread at a time, at least: cache lines.
inline constexpr int64_t kGrain = 64;

// Calls `fn` with the bounds and the number of `threads` parts of [0, n), the
// bounds multiples of `grain` but for n: the first on this thread, each other
// one on a thread started for it.
void Split(int threads, int64_t n, int64_t grain,
           const std::function<void(int64_t begin, int64_t end, int part)>& fn);

// Zeros that have been written, where a value would be: what a floor writes.
template <typename T>
std::shared_ptr<T[]> Room(int64_t n) {
  const auto bytes = static_cast<int64_t>((n * sizeof(T) + 63) / 64 * 64);
  const auto value =
      std::make_shared<Literal>(Literal::Zeros(Shape::Of(DType::kU8, {bytes})));
  return {value, reinterpret_cast<T*>(value->mutable_bytes().data())};
}

// The same every time: elements from [low, high), and whole numbers from [0,
// bound).
Literal RandomFloats(const Dims& dims, float low, float high,
                     uint64_t seed = 0);
Literal RandomBf16(const Dims& dims, float low, float high, uint64_t seed = 0);
Literal RandomInts(const Dims& dims, int32_t bound);
Literal RandomBytes(const Dims& dims);

// By tanh.
Tensor Gelu(const Tensor& x);
// Of the last axis.
Tensor LayerNorm(const Tensor& x, const Tensor& scale, const Tensor& shift);

// How far a result may be from what is wanted.
struct Within {
  double absolute = 0;
  double relative = 0;
};

// Errors: kDataLoss naming the first element that is further off, or a result
// of another dtype or size.
template <typename T>
absl::Status Near(const Literal& got, absl::Span<const T> want,
                  Within within = {}) {
  if (got.shape().dtype() != kDTypeOf<T> ||
      got.shape().num_elements() != static_cast<int64_t>(want.size())) {
    return DataLoss("a result of shape ", got.shape().ToString());
  }
  const absl::Span<const T> values = got.data<T>();
  for (size_t i = 0; i < want.size(); ++i) {
    const auto w = static_cast<double>(want[i]);
    const auto g = static_cast<double>(values[i]);
    if (std::abs(g - w) <= within.absolute + within.relative * std::abs(w)) {
      continue;
    }
    return DataLoss("element ", i, " is ", g, " instead of ", w);
  }
  return absl::OkStatus();
}

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_CPU_WORK_H_
