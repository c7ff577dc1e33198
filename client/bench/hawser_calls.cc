#include "client/bench/hawser_calls.h"

#include <utility>

#include "client/bench/sums.h"
#include "core/base/status.h"

namespace hawser::bench {

HawserCalls::HawserCalls(JitFunction<Sum> sum)
    : sum_(std::move(sum)), a_(Filled(kA)), b_(Filled(kB)) {}

absl::StatusOr<HawserCalls> HawserCalls::On(const Client& client) {
  HawserCalls calls(Jit(Sum{}).With({.client = client}));
  HAWSER_RETURN_IF_ERROR(calls.sum_.Warm(calls.a_, calls.b_));
  return calls;
}

absl::Status HawserCalls::Step() const {
  HAWSER_ASSIGN_OR_RETURN(const Tensor sum, sum_(a_, b_));
  return Check(sum.Fetch(), kA + kB);
}

absl::Status HawserCalls::Call() const {
  HAWSER_ASSIGN_OR_RETURN(const Tensor sum, sum_.Call(a_, b_));
  return Check(sum.Fetch(), kA + kB);
}

absl::Status HawserCalls::DependentSteps(int steps) const {
  HAWSER_ASSIGN_OR_RETURN(Tensor x, sum_(a_, b_));
  for (int i = 1; i < steps; ++i) {
    HAWSER_ASSIGN_OR_RETURN(x, sum_(x, b_));
  }
  return Check(x.Fetch(), kA + steps * kB);
}

}  // namespace hawser::bench
