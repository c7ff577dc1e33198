// Operations on two f32[16] that only these benches measure: those of
// client/bench/hawser_calls.h by other ways, and a large graph.
#ifndef HAWSER_TESTS_BENCH_CALLS_SMALL_CALLS_H_
#define HAWSER_TESTS_BENCH_CALLS_SMALL_CALLS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/hawser.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser::bench {

// a + b.
absl::StatusOr<std::shared_ptr<const Module>> SumModule();
// The arguments a and b of every operation here.
std::vector<Literal> SumArguments();

// a + b through the runtime interface alone, without the SDK.
class RuntimeCalls {
 public:
  static absl::StatusOr<RuntimeCalls> On(
      std::shared_ptr<runtime::Client> client);

  // One execution and the fetch of its result.
  absl::Status Step() const;
  // The same by the stateless call.
  absl::Status Call() const;

 private:
  explicit RuntimeCalls(std::shared_ptr<runtime::Executable> executable);

  std::shared_ptr<runtime::Executable> executable_;
  std::vector<runtime::Argument> arguments_;
};

// Graphs of a thousand ops. One thread at a time.
class ThousandOps {
 public:
  explicit ThousandOps(const Client& client);

  // One execution and the fetch of its result; `second` is another such graph.
  // The first call for each graph compiles it.
  absl::Status Run(bool second = false) const;

 private:
  // ((a + b) * b + b) * b ...
  struct Chain {
    int ops;
    Tensor operator()(const Tensor& a, const Tensor& b) const;
  };

  JitFunction<Chain> first_, second_;
  std::vector<Literal> arguments_;
};

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_CALLS_SMALL_CALLS_H_
