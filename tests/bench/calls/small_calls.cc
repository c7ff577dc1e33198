#include "tests/bench/calls/small_calls.h"

#include <utility>

#include "client/bench/sums.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::bench {
namespace {

// The fixed point of x = (x + kB) * kB.
constexpr float kThousand = 0.5f;

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
  HAWSER_ASSIGN_OR_RETURN(const auto called,
                          executable_->Call(arguments_, {}).Await());
  return Check(called.values[0], kA + kB);
}

Tensor ThousandOps::Chain::operator()(const Tensor& a, const Tensor& b) const {
  Tensor x = a + b;
  for (int i = 1; i < ops; ++i) x = i % 2 == 1 ? x * b : x + b;
  return x;
}

ThousandOps::ThousandOps(const Client& client)
    : first_(Jit(Chain{1000}).With({.client = client})),
      second_(Jit(Chain{1002}).With({.client = client})),
      arguments_(SumArguments()) {}

absl::Status ThousandOps::Run(bool second) const {
  HAWSER_ASSIGN_OR_RETURN(
      const Tensor result,
      (second ? second_ : first_)(arguments_[0], arguments_[1]));
  return Check(result.Fetch(), kThousand);
}

}  // namespace hawser::bench
