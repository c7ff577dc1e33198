#include "client/bench/hawser_calls.h"

#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise.h"

namespace hawser::bench {
namespace {

constexpr int64_t kElements = 16;
constexpr float kA = 1.0f;
constexpr float kB = 0.5f;
// The fixed point of x = (x + kB) * kB.
constexpr float kThousand = 0.5f;

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

absl::StatusOr<std::shared_ptr<const Module>> SumModule() {
  auto module = std::make_shared<Module>("sum");
  ComputationBuilder builder(module.get(), "main");
  const Shape shape = Shape::Of(DType::kF32, {kElements});
  const ValueId a = builder.Parameter(shape), b = builder.Parameter(shape);
  const ValueId sum = builder.Add(kAdd, {a, b});
  HAWSER_RETURN_IF_ERROR(builder.Finish({sum}).status());
  return module;
}

std::vector<Literal> SumArguments() { return {Filled(kA), Filled(kB)}; }

Tensor Chain::operator()(const Tensor& a, const Tensor& b) const {
  Tensor x = a + b;
  for (int i = 1; i < ops; ++i) x = i % 2 == 1 ? x * b : x + b;
  return x;
}

HawserCalls::HawserCalls(Function sum, Function thousand,
                         Function second_thousand)
    : sum_(std::move(sum)),
      thousand_(std::move(thousand)),
      second_thousand_(std::move(second_thousand)),
      a_(Filled(kA)),
      b_(Filled(kB)) {}

absl::StatusOr<HawserCalls> HawserCalls::On(const Client& client) {
  const RunOptions options{.client = client};
  HawserCalls calls(Jit(Chain{1}).With(options),
                    Jit(Chain{1000}).With(options),
                    Jit(Chain{1002}).With(options));
  HAWSER_RETURN_IF_ERROR(calls.sum_.Warm(calls.a_, calls.b_));
  return calls;
}

absl::Status HawserCalls::Fetched(const Function& function,
                                  float expected) const {
  HAWSER_ASSIGN_OR_RETURN(const Tensor result, function(a_, b_));
  return Check(result.Fetch(), expected);
}

absl::Status HawserCalls::Step() const { return Fetched(sum_, kA + kB); }

absl::Status HawserCalls::ThousandOps(bool second) const {
  return Fetched(second ? second_thousand_ : thousand_, kThousand);
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

RuntimeCalls::RuntimeCalls(std::shared_ptr<runtime::Executable> executable)
    : executable_(std::move(executable)) {
  for (Literal& argument : SumArguments()) {
    arguments_.push_back(std::move(argument));
  }
}

absl::StatusOr<RuntimeCalls> RuntimeCalls::On(
    std::shared_ptr<runtime::Client> client) {
  HAWSER_ASSIGN_OR_RETURN(auto module, SumModule());
  HAWSER_ASSIGN_OR_RETURN(auto executable, client->Compile(module, {}, {}));
  return RuntimeCalls(std::move(executable));
}

absl::Status RuntimeCalls::Step() const {
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          executable_->Execute(arguments_, {}));
  return Check(results[0]->Fetch({}).Await(), kA + kB);
}

absl::Status RuntimeCalls::Call() const {
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          executable_->Call(arguments_, {}).Await());
  return Check(results[0], kA + kB);
}

}  // namespace hawser::bench
