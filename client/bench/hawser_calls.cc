#include "client/bench/hawser_calls.h"

#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace hawser::bench {
namespace {

constexpr int64_t kElements = 16;
constexpr float kA = 1.0f;
constexpr float kB = 0.5f;

Literal Filled(float value) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kF32, {kElements}));
  for (float& x : out.mutable_data<float>()) x = value;
  return out;
}

absl::Status Check(const absl::StatusOr<Literal>& value, float expected) {
  HAWSER_RETURN_IF_ERROR(value.status());
  const float got = value->data<float>()[kElements - 1];
  if (std::abs(got - expected) < 1e-3f) return absl::OkStatus();
  return Internal("the result is ", got, ", must be ", expected);
}

}  // namespace

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
