// HawserCalls: the operations of a user of hawser, one for each call.
#ifndef HAWSER_CLIENT_BENCH_HAWSER_CALLS_H_
#define HAWSER_CLIENT_BENCH_HAWSER_CALLS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/hawser.h"
#include "core/base/literal.h"
#include "core/runtime/client.h"

namespace hawser::bench {

// (a, b: f32[16]) -> a + b, with more ops ((a + b) * b + b) * b ...
struct Chain {
  int ops = 1;
  Tensor operator()(const Tensor& a, const Tensor& b) const;
};

// The module that a step of HawserCalls and RuntimeCalls runs: f32[16] +
// f32[16].
absl::StatusOr<std::shared_ptr<const Module>> SumModule();
// The arguments of SumModule.
std::vector<Literal> SumArguments();

// Operations compiled once, on one client. Every call sends its two arguments
// from this process and checks the result. One thread at a time.
class HawserCalls {
 public:
  static absl::StatusOr<HawserCalls> On(const Client& client);

  // One execution of `a + b` and the fetch of its result.
  absl::Status Step() const;
  // The same by the client's stateless call.
  absl::Status Call() const;
  // `steps` executions, each on the result of the one before; only the last
  // result is fetched.
  absl::Status DependentSteps(int steps) const;
  // One execution of a graph of 1,000 ops and the fetch of its result; `second`
  // is another such graph. The first call for each graph compiles it.
  absl::Status ThousandOps(bool second = false) const;

 private:
  using Function = JitFunction<Chain>;
  HawserCalls(Function sum, Function thousand, Function second_thousand);
  absl::Status Fetched(const Function& function, float expected) const;

  Function sum_;
  Function thousand_, second_thousand_;
  Literal a_;
  Literal b_;
};

// `a + b` through the runtime interface alone, without the SDK.
class RuntimeCalls {
 public:
  static absl::StatusOr<RuntimeCalls> On(
      std::shared_ptr<runtime::Client> client);

  absl::Status Step() const;
  absl::Status Call() const;

 private:
  explicit RuntimeCalls(std::shared_ptr<runtime::Executable> executable);

  std::shared_ptr<runtime::Executable> executable_;
  std::vector<runtime::Argument> arguments_;
};

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_HAWSER_CALLS_H_
