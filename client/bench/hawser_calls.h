// HawserCalls: the operations of a user of hawser, one for each call.
#ifndef HAWSER_CLIENT_BENCH_HAWSER_CALLS_H_
#define HAWSER_CLIENT_BENCH_HAWSER_CALLS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/hawser.h"
#include "core/base/values/literal.h"

namespace hawser::bench {

// a + b for two f32[16], compiled once on one client. Every call sends its two
// arguments from this process and checks the result. One thread at a time.
class HawserCalls {
 public:
  static absl::StatusOr<HawserCalls> On(const Client& client);

  // One execution and the fetch of its result.
  absl::Status Step() const;
  // The same by the client's stateless call.
  absl::Status Call() const;
  // `steps` executions, each on the result of the one before; only the last
  // result is fetched.
  absl::Status DependentSteps(int steps) const;

 private:
  struct Sum {
    Tensor operator()(const Tensor& a, const Tensor& b) const { return a + b; }
  };

  explicit HawserCalls(JitFunction<Sum> sum);

  JitFunction<Sum> sum_;
  Literal a_;
  Literal b_;
};

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_HAWSER_CALLS_H_
